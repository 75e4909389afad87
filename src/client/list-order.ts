/** The order of a list: looks begin at its first page, so what is new must be there. */
import type { NetworkRecord } from "../contract/records.ts";

/** Fewer may stand in any order by chance. */
const LEAST_ITEMS = 5;

/** Whether a page shows its oldest items first: all dated, none older than the one before it, and not all of one time. */
export function isOldestFirst(items: readonly NetworkRecord[]): boolean {
  if (items.length < LEAST_ITEMS) return false;
  const times = items.map((item) => ("createdAtMs" in item ? item.createdAtMs : undefined));
  const rises = times.every((at, i) => at !== undefined && at >= (times[i - 1] ?? -Infinity));
  return rises && (times[0] ?? 0) < (times.at(-1) ?? 0);
}
