/** Matches posts and jobs to reported gaps. The local network numbers its ids, so they order the items. */
import type { Announcements } from "../core/events.ts";

export type ReportedGap = Pick<Announcements["gap"], "after" | "before">;

export function liesIn(item: string, { after, before }: ReportedGap): boolean {
  const number = numberOf(item);
  return number < numberOf(before) && (after === undefined || number > numberOf(after));
}

/** Throws on ids that are not the local network's own, so that no item is excused by mistake. */
function numberOf(id: string): number {
  const [, number] = /^(?:post|job)_(\d+)$/.exec(id) ?? [];
  if (number === undefined) throw new RangeError(`expected the id of a post or job on the local network, got ${id}`);
  return Number(number);
}
