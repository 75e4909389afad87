/** Pages of several stores as one: every entry is on one page, and the pages go back in time. */
import { defined } from "../core/defined.ts";
import { ONE_ORDER_MS, orderRank, type OrderRow } from "../store/orders.ts";
import type { KeptDelivery } from "../store/history.ts";
import type { Guardian } from "./guardian.ts";
import type { GuardianPart } from "./guardian-part.ts";
import { byTime, type LogEntry, type LogQuery } from "./log-entries.ts";
import { cutPage, listed, MAX_LISTED, placeOf, positionAt, timeAt, type Below, type Page } from "./page.ts";
import type { OrdersQuery } from "./record-orders.ts";
import type { DeliveryQuery } from "./shown-deliveries.ts";
import type { EventsQuery, TimelineEvent } from "./timeline-events.ts";

type Parts = readonly GuardianPart[];

export function joinLog(parts: Parts, query: LogQuery): Promise<Page<LogEntry>> {
  return joinByTime(parts, query, { ask: (guardian, asked) => guardian.log(asked), timeOf: ({ at }) => at, compare: byTime });
}

export function joinDeliveries(parts: Parts, query: DeliveryQuery): Promise<Page<KeptDelivery>> {
  const timeOf = ({ receivedAt }: KeptDelivery): number => receivedAt;
  return joinByTime(parts, query, {
    ask: (guardian, asked) => guardian.deliveries(asked),
    timeOf,
    compare: (a, b) => timeOf(b) - timeOf(a) || b.seq - a.seq,
  });
}

/** Pages by number. Those of one specialist are in the order of time, because each later store takes higher ones. */
export async function joinEvents(parts: Parts, query: EventsQuery): Promise<Page<TimelineEvent>> {
  const limit = listed(query.limit);
  const pages = await Promise.all(parts.map(({ guardian }) => guardian.events(query)));
  const all = pages.flatMap(({ entries }) => entries).toSorted((a, b) => b.seq - a.seq);
  const entries = all.slice(0, limit);
  const hasMore = all.length > entries.length || pages.some(({ next }) => next !== undefined);
  return defined({ entries, total: sumOf(pages), next: hasMore ? entries.at(-1)?.seq : undefined });
}

interface Listing<Query, Entry> {
  readonly ask: (guardian: Guardian, query: Query) => Promise<Page<Entry>>;
  readonly timeOf: (entry: Entry) => number;
  /** Newest first, and the same in each store. */
  readonly compare: (a: Entry, b: Entry) => number;
}

interface TimeQuery {
  readonly before?: number;
  readonly limit: number;
}

async function joinByTime<Query extends TimeQuery, Entry>(
  parts: Parts,
  query: Query,
  listing: Listing<Query, Entry>,
): Promise<Page<Entry>> {
  const { until, skip } = placeOf(query.before);
  const limit = listed(query.limit);
  const pages = await askAll(parts, query, listing, { until, limit: limit + skip });
  const { entries, below } = whole(pages, listing);
  return defined({ ...cutPage(entries, { skip, limit, below, timeOf: listing.timeOf }), total: sumOf(pages) });
}

interface Asked<Entry> extends Page<Entry> {
  /** It has as many entries as were asked for. */
  readonly isFull: boolean;
}

function askAll<Query extends TimeQuery, Entry>(
  parts: Parts,
  query: Query,
  { ask }: Listing<Query, Entry>,
  { until, limit }: { readonly until: number | undefined; readonly limit: number },
): Promise<readonly Asked<Entry>[]> {
  const wanted = Math.min(limit, MAX_LISTED);
  const asked: Query = { ...query, ...defined({ before: until === undefined ? undefined : positionAt(until) }), limit: wanted };
  return Promise.all(
    parts.map(async ({ guardian }) => {
      const page = await ask(guardian, asked);
      return { ...page, isFull: page.entries.length >= wanted };
    }),
  );
}

/** The entries of all pages, newest first, down to where one of the pages ends: below, entries of its store are missing. */
function whole<Query, Entry>(
  pages: readonly Asked<Entry>[],
  { timeOf, compare }: Listing<Query, Entry>,
): { readonly entries: readonly Entry[]; readonly below: Below } {
  const open = pages.filter(({ next }) => next !== undefined);
  const lasts = open.flatMap(({ isFull, entries }) => (isFull ? entries.slice(-1) : []));
  // A search that ended early has shown everything after a time.
  const downTo = Math.max(-Infinity, ...open.flatMap(({ isFull, next }) => (isFull || next === undefined ? [] : [timeAt(next)])));
  const entries = pages
    .flatMap((page) => page.entries)
    .filter((entry) => timeOf(entry) > downTo && lasts.every((last) => compare(entry, last) <= 0))
    .toSorted(compare);
  if (open.length === 0) return { entries, below: "nothing" };
  return { entries, below: lasts.some((last) => timeOf(last) > downTo) ? "some" : { downTo } };
}

/** Rows of other stores just above a page, which the page's own may be the same orders as. */
const MAX_ABOVE = 100;

/** An order that several stores were given, or were asked for, is one: the row that says most of it. */
export async function joinOrders(parts: Parts, query: OrdersQuery): Promise<Page<OrderRow>> {
  const listing: Listing<OrdersQuery, OrderRow> = {
    ask: (guardian, asked) => guardian.orders(asked),
    timeOf: ({ at }) => at,
    compare: (a, b) => b.at - a.at || b.seq - a.seq,
  };
  const { until, skip } = placeOf(query.before);
  const limit = listed(query.limit);
  const from = until === undefined ? undefined : until + ONE_ORDER_MS;
  const pages = await askAll(parts, query, listing, { until: from, limit: limit + skip + (until === undefined ? 0 : MAX_ABOVE) });
  const { entries, below } = whole(pages, listing);
  const storeOf = new Map(pages.flatMap((page, store) => page.entries.map((row) => [row, store] as const)));
  const orders = eachOnce(entries, storeOf);
  const total = until === undefined && below === "nothing" ? orders.length : undefined;
  const here = orders.filter(({ at }) => until === undefined || at <= until);
  return defined({ ...cutPage(here, { skip, limit, below, timeOf: listing.timeOf }), total });
}

/** Each order at the place of its newest row. A store has one row of an order: its next one is another order. */
function eachOnce(rows: readonly OrderRow[], storeOf: ReadonlyMap<OrderRow, number>): readonly OrderRow[] {
  const orders: { shown: OrderRow; last: OrderRow; readonly stores: Set<number | undefined> }[] = [];
  const latest = new Map<string, (typeof orders)[number]>();
  for (const row of rows) {
    const name = JSON.stringify([row.who, row.what, row.subject, row.why]);
    const order = latest.get(name);
    if (order === undefined || order.last.at - row.at > ONE_ORDER_MS || order.stores.has(storeOf.get(row))) {
      const next = { shown: row, last: row, stores: new Set([storeOf.get(row)]) };
      latest.set(name, next);
      orders.push(next);
    } else {
      const { at, seq } = order.shown;
      if (orderRank(row) < orderRank(order.shown)) order.shown = { ...row, at, seq };
      order.last = row;
      order.stores.add(storeOf.get(row));
    }
  }
  return orders.map(({ shown }) => shown);
}

function sumOf(pages: readonly { readonly total?: number }[]): number | undefined {
  const totals = pages.map(({ total }) => total);
  return totals.includes(undefined) ? undefined : totals.reduce<number>((sum, total) => sum + (total ?? 0), 0);
}
