/** What of a new page of a list is fresh, and what lies between it and the pages before. */
import type { Gap, ListCursor } from "./list-state.ts";

/** Ids remembered per list: several pages, so that reordering does not look like news. */
const MAX_SEEN = 400;

export interface Freshness {
  /** Items from before this are skipped; Infinity means "whatever was there at the first look". */
  readonly fromMs: number;
  /** Older items are never acted on, also after a long outage. */
  readonly maxAgeMs: number;
}

interface Item {
  readonly id: string;
  readonly createdAtMs?: number | undefined;
}

/** Splits a page into fresh items (oldest first, as they happened) and skipped ones, and moves the cursor. */
export function moveOn<T extends Item>(page: readonly T[], cursor: ListCursor, { fromMs, maxAgeMs }: Freshness, now: number) {
  const known = new Set(cursor.seen);
  const first = cursor.seen === undefined;
  const unseen = page.filter((item) => !known.has(item.id));
  const begin = fromMs === Infinity ? cursor.startedAt : fromMs;
  const wanted = unseen.filter((item) => {
    if (item.createdAtMs === undefined) return !first || fromMs !== Infinity; // undated: at the first look, "from now" cannot include it
    return item.createdAtMs >= begin && item.createdAtMs > now - maxAgeMs;
  });
  const dated = wanted.every((item) => item.createdAtMs !== undefined);
  const fresh = dated ? wanted.toSorted((a, b) => (a.createdAtMs ?? 0) - (b.createdAtMs ?? 0)) : wanted.toReversed();
  const seen = [...new Set([...page.map((item) => item.id), ...(cursor.seen ?? [])])].slice(0, MAX_SEEN);
  return {
    fresh,
    skipped: unseen.length - wanted.length,
    // At the first look, what lies before a page that is wanted whole is wanted too: the look may come long after it was
    // first tried. Later, what lies between two looks, also where the list was empty at the earlier one.
    gap: (first ? wanted : unseen).length === page.length ? gapBefore(page, cursor, Math.max(begin, now - maxAgeMs), now) : undefined,
    cursor: { seen, startedAt: cursor.startedAt, lookedAt: now } satisfies ListCursor,
  };
}

/** `wantedSince` is what is old enough to be passed over anyway. */
function gapBefore(page: readonly Item[], { seen = [], lookedAt = 0 }: ListCursor, wantedSince: number, now: number): Gap | undefined {
  const oldest = page.at(-1);
  if (oldest === undefined) return undefined;
  return { after: seen[0], before: oldest.id, since: Math.max(lookedAt, wantedSince), until: oldest.createdAtMs ?? now };
}
