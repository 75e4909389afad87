/** Pages of several stores as one: every entry is on one page, and pages go back in time. */
import { defined } from "../core/defined.ts";
import type { OrderRow } from "../store/orders.ts";
import type { Guardian } from "./guardian.ts";
import type { GuardianPart } from "./guardian-part.ts";
import { PER_MS, type LogEntry, type LogQuery } from "./log-entries.ts";
import { MAX_LISTED, type Page } from "./page.ts";
import type { OrdersQuery } from "./record-orders.ts";

type Parts = readonly GuardianPart[];

/**
 * Pages by number. Each store takes its numbers from blocks, of which a later process has higher ones: pages follow the numbers, and a page
 * is in order of time.
 */
export async function joinPages<Query extends { readonly before?: number; readonly limit: number }, Entry extends { readonly seq: number }>(
  parts: Parts,
  query: Query,
  ask: (guardian: Guardian, query: Query) => Promise<Page<Entry>>,
  timeOf: (entry: Entry) => number,
): Promise<Page<Entry>> {
  const limit = Math.min(Math.max(1, query.limit), MAX_LISTED);
  const pages = await Promise.all(parts.map(({ guardian }) => ask(guardian, query)));
  const all = pages.flatMap(({ entries }) => entries).toSorted((a, b) => b.seq - a.seq);
  const shown = all.slice(0, limit);
  const last = shown.at(-1);
  const hasMore = all.length > shown.length || pages.some(({ next }) => next !== undefined);
  return defined({
    entries: shown.toSorted((a, b) => timeOf(b) - timeOf(a)),
    total: sumOf(pages.map(({ total }) => total)),
    next: hasMore ? last?.seq : undefined,
  });
}

/** The log is paged by time. Below the time that each store's page reaches down to, entries are left for the next page. */
export async function joinLog(parts: Parts, query: LogQuery): Promise<Page<LogEntry>> {
  const limit = Math.min(Math.max(1, query.limit), MAX_LISTED);
  const { before } = query;
  const until = before === undefined ? undefined : Math.floor(before / PER_MS);
  const skip = before === undefined ? 0 : before % PER_MS;
  const asked = defined({ ...query, before: until === undefined ? undefined : until * PER_MS, limit: limit + skip });
  const pages = await Promise.all(parts.map(({ guardian }) => guardian.log(asked)));
  const placed = pages.flatMap(({ entries }) => entries).toSorted((a, b) => b.at - a.at); // ties stay in the order of the parts
  const downTo = Math.max(-Infinity, ...pages.flatMap(({ next }) => (next === undefined ? [] : [Math.floor(next / PER_MS)])));
  const above = placed.filter(({ at }) => at > downTo);
  const sure = above.length > skip ? above : placed.filter(({ at }) => at >= downTo);
  const entries = sure.slice(skip, skip + limit);
  const total = sumOf(pages.map((page) => page.total));
  const last = entries.at(-1);
  const isCut = sure.length > skip + limit;
  if (!isCut && downTo === -Infinity) return defined({ entries, total });
  if (last === undefined) return defined({ entries, total, next: downTo * PER_MS });
  if (!isCut && sure === above) return defined({ entries, total, next: downTo * PER_MS });
  const told = sure.slice(0, skip + entries.length).filter(({ at }) => at === last.at).length;
  return defined({ entries, total, next: last.at * PER_MS + Math.min(told, PER_MS - 1) });
}

/** An order that several stores were given, or were asked for, is one: the row of one that carried it out. */
export async function joinOrders(parts: Parts, query: OrdersQuery): Promise<Page<OrderRow>> {
  const page = await joinPages(
    parts,
    query,
    (guardian, asked) => guardian.orders(asked),
    ({ at }) => at,
  );
  const kept: OrderRow[] = [];
  for (const row of page.entries) {
    const same = kept.findIndex((one) => isSame(one, row));
    const other = kept[same];
    if (other === undefined) kept.push(row);
    else if (other.code !== undefined && row.code === undefined) kept[same] = row;
  }
  const twice = page.entries.length - kept.length;
  return page.total === undefined ? { ...page, entries: kept } : { ...page, entries: kept, total: page.total - twice };
}

/** Rows of one order are that close. */
const ONE_ORDER_MS = 2_000;

function isSame(a: OrderRow, b: OrderRow): boolean {
  return a.who === b.who && a.what === b.what && a.subject === b.subject && a.why === b.why && Math.abs(a.at - b.at) <= ONE_ORDER_MS;
}

function sumOf(totals: readonly (number | undefined)[]): number | undefined {
  return totals.includes(undefined) ? undefined : totals.reduce<number>((sum, total) => sum + (total ?? 0), 0);
}
