/** One page of a list, newest first, and the position of the next. */

/** Most entries of a list shown at once. */
export const MAX_LISTED = 1_000;

export interface Page<Entry> {
  /** Newest first. */
  readonly entries: readonly Entry[];
  /** How many there are on all pages, if they are counted. */
  readonly total?: number;
  /** Pass it as `before` for the next page; absent on the last page. */
  readonly next?: number;
}

/** Reads a page from `list`, with the bound on shown entries. */
export async function pageOf<Entry extends { readonly seq: number }>(
  limit: number,
  list: (limit: number) => Promise<readonly Entry[]>,
): Promise<Page<Entry>> {
  const bounded = Math.min(Math.max(1, limit), MAX_LISTED);
  const entries = await list(bounded);
  const last = entries.at(-1);
  return { entries, ...(last === undefined || entries.length < bounded ? {} : { next: last.seq }) };
}
