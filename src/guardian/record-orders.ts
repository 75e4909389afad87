/** The record of the Guardian's orders: a row before each is carried out, with its result afterwards. */
import { defined } from "../core/defined.ts";
import { isRetinueError, messageOf } from "../core/errors.ts";
import type { Caller, NewOrder, OrderEnd, OrderRow } from "../store/orders.ts";
import type { Store } from "../store/store.ts";
import { pageByTime, type Page } from "./page.ts";
import { wordsIn } from "./search-words.ts";
import type { GuardianContext } from "./wake-waiting.ts";

/** The orders among the methods of the Guardian; the others only ask. */
const ORDERS = ["approve", "reject", "pause", "resume", "halt", "lift", "unfreeze", "retry", "settle", "call", "backup"] as const;
export type OrderName = (typeof ORDERS)[number];

/** The caller of a program that names none. */
export const PROGRAM: Caller = { who: "the program", from: "code" };

/** Characters of each text of a row. */
const MAX_TEXT = 1_000;

type Orders = { readonly [name in OrderName]: (query: never) => Promise<unknown> };

/** The same Guardian, with a row for each order. */
export function recordOrders<Guardian extends Orders>(guardian: Guardian, context: GuardianContext, caller: Caller): Guardian {
  const recorded: Partial<Record<OrderName, unknown>> = {};
  for (const name of ORDERS) {
    // Each order takes one query and returns a message, whatever else they have.
    const give = guardian[name] as (query: object) => Promise<unknown>;
    recorded[name] = (query: object) => record(context, caller, name, query, () => give(query));
  }
  return { ...guardian, ...(recorded as Orders) };
}

async function record(
  { store, clock, parts }: GuardianContext,
  caller: Caller,
  name: OrderName,
  query: object,
  give: () => Promise<unknown>,
): Promise<unknown> {
  const order = newOrder(caller, name, query, clock.now());
  const noted = store.noteOrder(order).catch(unrecorded);
  const end = async (how: OrderEnd): Promise<void> => {
    const seq = await noted;
    if (seq !== undefined) await store.endOrder(seq, how).catch(unrecorded);
    const { who, what, subject } = order;
    const handle = textIn(query, "handle") ?? "";
    parts?.announcer.emit("order", defined({ at: clock.now(), handle, who, what, subject, code: how.code }));
  };
  /** A halt must work on a disk that takes no rows. */
  function unrecorded(error: unknown): undefined {
    parts?.log.warn("an order has no row", { order: name, message: messageOf(error) });
  }
  try {
    const result = await give();
    await end(carriedOut(textIn(result, "message") ?? DONE));
    return result;
  } catch (error) {
    await end(failedEnd(error));
    throw error;
  }
}

/** The result of an order that has nothing more to say. */
export const DONE = "done";

/** The end of an order that was not carried out. */
export function failedEnd(error: unknown): OrderEnd {
  return { result: cut(messageOf(error)), code: isRetinueError(error) ? error.code : "unexpected" };
}

/** The end of an order that was carried out. */
export function carriedOut(result: string): OrderEnd {
  return { result: cut(result) };
}

/** The row of an order: its name with its variant, its subject and its reason. */
export function newOrder({ who, from }: Caller, name: OrderName, query: object, at: number): NewOrder {
  const variant = textIn(query, "verdict") ?? textIn(query, "operation");
  return defined({
    who: cut(who),
    from,
    at,
    what: cut(variant === undefined ? name : `${name} ${variant}`),
    subject: cut(textIn(query, "id") ?? textIn(query, "handle") ?? textIn(query, "file")),
    why: cut(textIn(query, "reason")),
  });
}

function textIn(value: unknown, name: string): string | undefined {
  const found: unknown = typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
  return typeof found === "string" ? found : undefined;
}

function cut(text: string): string;
function cut(text: string | undefined): string | undefined;
function cut(text: string | undefined): string | undefined {
  return text === undefined || text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT)}…`;
}

export interface OrdersQuery {
  /** The specialist, action or event that an order names. */
  readonly subject?: string;
  /** The name of an order, such as `approve`. */
  readonly what?: string;
  /** Ms since the epoch. */
  readonly since?: number;
  /** Words that all occur in it. */
  readonly search?: string;
  readonly before?: number;
  readonly limit: number;
}

export function readOrders(store: Store, { search, before, limit, ...filter }: OrdersQuery): Promise<Page<OrderRow>> {
  return pageByTime(
    defined({ before, limit }),
    ({ at }) => at,
    (place) => store.reads.orders(defined({ ...filter, search: wordsIn(search), ...place })),
  );
}
