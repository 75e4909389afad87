/** Detects the order of a list: polls begin at its first page, so new items must be there. */
import type { NetworkRecord } from "../contract/records.ts";

/** Fewer items may be in any order by chance. */
const LEAST_ITEMS = 5;

/** True for a page that shows its oldest items first: all dated, none older than the one before it, and not all of one time. */
export function isOldestFirst(items: readonly NetworkRecord[]): boolean {
  if (items.length < LEAST_ITEMS) return false;
  const times = items.map((item) => ("createdAtMs" in item ? item.createdAtMs : undefined));
  const rises = times.every((at, i) => at !== undefined && at >= (times[i - 1] ?? -Infinity));
  return rises && (times[0] ?? 0) < (times.at(-1) ?? 0);
}
