/** Finds the fresh items of a list's new page, and the gap between it and earlier pages. */
import type { Gap, ListCursor } from "./list-state.ts";

/** Ids stored per list: several pages, so that reordered items do not count as new. */
const MAX_SEEN = 400;

export interface Freshness {
  /** Older items are skipped; Infinity skips everything that the first poll shows. */
  readonly fromMs: number;
  /** Older items are ignored, even after a long outage. */
  readonly maxAgeMs: number;
}

interface Item {
  readonly id: string;
  readonly createdAtMs?: number | undefined;
}

/** Splits a page into fresh items (oldest first, as they happened) and skipped ones, and moves the cursor. */
export function moveOn<T extends Item>(page: readonly T[], cursor: ListCursor, { fromMs, maxAgeMs }: Freshness, now: number) {
  const first = cursor.seen === undefined;
  const ids = page.map((item) => item.id);
  const seen = withSeen(cursor.seen ?? [], ids);
  const unseen = seen === cursor.seen ? [] : unseenOf(page, cursor.seen ?? []);
  const begin = fromMs === Infinity ? cursor.startedAt : fromMs;
  const wanted = unseen.filter((item) => {
    if (item.createdAtMs === undefined) return !first || fromMs !== Infinity; // undated: at the first poll, "from now" cannot include it
    return item.createdAtMs >= begin && item.createdAtMs > now - maxAgeMs;
  });
  const dated = wanted.every((item) => item.createdAtMs !== undefined);
  const fresh = dated ? wanted.toSorted((a, b) => (a.createdAtMs ?? 0) - (b.createdAtMs ?? 0)) : wanted.toReversed();
  return {
    fresh,
    skipped: unseen.length - wanted.length,
    // At the first poll, items before a fully wanted page are wanted too: it may come long after the first try. Later, items between two
    // polls are, also if the list was empty at the earlier one.
    gap: (first ? wanted : unseen).length === page.length ? gapBefore(page, cursor, Math.max(begin, now - maxAgeMs), now) : undefined,
    cursor: { seen, startedAt: cursor.startedAt } satisfies ListCursor,
  };
}

/** The ids of a page in front of those seen before: the same list if it begins with them already, as after most polls. */
export function withSeen(before: readonly string[], ids: readonly string[]): readonly string[] {
  return ids.every((id, at) => before[at] === id) ? before : [...new Set([...ids, ...before])].slice(0, MAX_SEEN);
}

function unseenOf<T extends Item>(page: readonly T[], before: readonly string[]): readonly T[] {
  const known = new Set(before);
  return page.filter((item) => !known.has(item.id));
}

/** Items before `wantedSince` are too old and skipped anyway. */
function gapBefore(page: readonly Item[], { seen = [], lookedAt = 0 }: ListCursor, wantedSince: number, now: number): Gap | undefined {
  const oldest = page.at(-1);
  if (oldest === undefined) return undefined;
  return { after: seen[0], before: oldest.id, since: Math.max(lookedAt, wantedSince), until: oldest.createdAtMs ?? now };
}
