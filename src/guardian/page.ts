/** A page of what the store lists newest first, and where to read on. */

/** Entries shown of a list at most. */
export const MAX_LISTED = 1_000;

export interface Page<Entry> {
  /** Newest first. */
  readonly entries: readonly Entry[];
  /** Give it as `before` to read on; absent on the last page. */
  readonly next?: number;
}

/** What `list` gives, asked for no more than may be shown. */
export async function pageOf<Entry extends { readonly seq: number }>(
  limit: number,
  list: (limit: number) => Promise<readonly Entry[]>,
): Promise<Page<Entry>> {
  const bounded = Math.min(Math.max(1, limit), MAX_LISTED);
  const entries = await list(bounded);
  const last = entries.at(-1);
  return { entries, ...(last === undefined || entries.length < bounded ? {} : { next: last.seq }) };
}
