/** Orders of the Guardian that the console takes, and the fields of each: checked, then given in the name of the person. */
import { Misconfigured, Refused } from "../core/errors.ts";
import { isObject, type JsonObject } from "../core/json.ts";
import type { Guardian } from "../guardian/guardian.ts";
import type { OrderName } from "../guardian/record-orders.ts";

type Need = "required" | "optional";
type Field = "id" | "hash" | "handle" | "reason" | "verdict" | "created";
type Fields = { readonly [field in Field]?: Need };

/** `call` and `backup` reach further than a page needs: a shell gives them. */
const ORDERS: { readonly [name in Exclude<OrderName, "call" | "backup">]: Fields } = {
  approve: { id: "required", hash: "required", reason: "optional" },
  reject: { id: "required", reason: "optional" },
  pause: { handle: "optional", reason: "optional" },
  resume: { handle: "optional", reason: "optional" },
  halt: { handle: "optional", reason: "optional" },
  lift: { handle: "optional", reason: "optional" },
  unfreeze: { handle: "optional", reason: "required" },
  retry: { id: "required", handle: "optional", reason: "optional" },
  settle: { id: "required", verdict: "required", created: "optional", reason: "optional" },
};
type ConsoleOrder = keyof typeof ORDERS;

const VERDICTS: readonly string[] = ["happened", "did-not", "give-up"];
/** Longest text of each field. */
const LONGEST: { readonly [field in Field]: number } = { id: 500, hash: 100, handle: 100, reason: 4_000, verdict: 20, created: 500 };

/** Gives an order. Throws `Refused` (`order_unknown`), `Misconfigured` (`query_invalid`), and whatever the order throws. */
export async function giveOrder(guardian: Guardian, who: string, name: string, body: unknown): Promise<unknown> {
  if (!isConsoleOrder(name))
    throw new Refused("order_unknown", `the console takes no order "${name.slice(0, LONGEST.id)}"`, {
      hint: `it takes ${Object.keys(ORDERS).join(", ")}; the others are commands`,
    });
  const query = checked(name, body === undefined ? {} : body);
  // The table above holds the fields of each order, and the Guardian's own types those of its method.
  const give = guardian[name] as (query: JsonObject) => Promise<unknown>;
  return give(name === "unfreeze" ? { ...query, by: who } : query);
}

function isConsoleOrder(name: string): name is ConsoleOrder {
  return Object.hasOwn(ORDERS, name);
}

function checked(name: ConsoleOrder, body: unknown): JsonObject {
  if (!isObject(body)) throw invalid(name, "the body", "a JSON object");
  const fields = ORDERS[name];
  const known = Object.keys(fields) as Field[];
  for (const field of Object.keys(body))
    if (!known.some((one) => one === field)) throw invalid(name, `"${field.slice(0, 50)}"`, `only ${known.join(", ")}`);
  for (const field of known) {
    const value = body[field];
    const isGiven = typeof value === "string" && value.trim() !== "";
    if (value === undefined ? fields[field] === "required" : !isGiven) throw invalid(name, field, "a text that is not empty");
    if (isGiven && value.length > LONGEST[field]) throw invalid(name, field, `at most ${LONGEST[field]} characters`);
    if (field === "verdict" && isGiven && !VERDICTS.includes(value)) throw invalid(name, field, VERDICTS.join(", "));
  }
  return body;
}

function invalid(name: string, field: string, expected: string): Misconfigured {
  return new Misconfigured("query_invalid", `${name}: ${field} is not usable`, { expected });
}
