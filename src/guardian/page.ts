/** One page of a list, newest first, and the position of the next. */
import { defined } from "../core/defined.ts";

/** Most entries of a list shown at once. */
export const MAX_LISTED = 1_000;

export interface Page<Entry> {
  /** Newest first. */
  readonly entries: readonly Entry[];
  /** How many there are on all pages, if they are counted. */
  readonly total?: number;
  /** Pass it as `before` for the next page; absent on the last page. */
  readonly next?: number;
  /** The specialists of a fleet whose entries are on no page, because no process has them now. */
  readonly unseen?: string;
}

/** Entries on one page. */
export function listed(limit: number): number {
  return Math.min(Math.max(1, limit), MAX_LISTED);
}

/** A position of a list in the order of time is one number: a time, and how many of that millisecond are on earlier pages. */
const PER_MS = 1_000;

/** A page begins at a time, after the first `skip` entries from there. */
export interface Place {
  /** Undefined on the first page. */
  readonly until: number | undefined;
  readonly skip: number;
}

export function placeOf(before: number | undefined): Place {
  return before === undefined ? { until: undefined, skip: 0 } : { until: timeAt(before), skip: before % PER_MS };
}

/** The time of a position. */
export function timeAt(position: number): number {
  return Math.floor(position / PER_MS);
}

/** The position before every entry of a time. */
export function positionAt(time: number): number {
  return time * PER_MS;
}

/** The entries that are left below those that a page is cut from: none; some; or only some that are not later than a time. */
export type Below = "nothing" | "some" | { readonly downTo: number };

/** Cuts a page from all entries from its beginning on, newest first. */
export function cutPage<Entry>(
  sorted: readonly Entry[],
  {
    skip,
    limit,
    below,
    timeOf,
  }: Pick<Place, "skip"> & { readonly limit: number; readonly below: Below; readonly timeOf: (entry: Entry) => number },
): Pick<Page<Entry>, "entries" | "next"> {
  const entries = sorted.slice(skip, skip + limit);
  const last = entries.at(-1);
  if (sorted.length <= skip + limit) {
    if (below === "nothing") return { entries };
    if (below !== "some") return { entries, next: positionAt(below.downTo) };
  }
  if (last === undefined) return { entries };
  const at = timeOf(last);
  const told = sorted.slice(0, skip + entries.length).filter((entry) => timeOf(entry) === at).length;
  return { entries, next: positionAt(at) + Math.min(told, PER_MS - 1) };
}

/** Reads a page of a list in the order of time. `list` takes the latest time, and a number of entries. */
export async function pageByTime<Entry>(
  { before, limit }: { readonly before?: number; readonly limit: number },
  timeOf: (entry: Entry) => number,
  list: (place: {
    readonly until?: number;
    readonly limit: number;
  }) => Promise<{ readonly rows: readonly Entry[]; readonly total?: number }>,
): Promise<Page<Entry>> {
  const { until, skip } = placeOf(before);
  const bounded = listed(limit);
  const wanted = bounded + skip;
  const { rows, total } = await list(defined({ until, limit: wanted }));
  return defined({ ...cutPage(rows, { skip, limit: bounded, below: rows.length < wanted ? "nothing" : "some", timeOf }), total });
}
