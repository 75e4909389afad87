/** The share of each process in the shards, and the choice of those that it takes or gives back. Pure. */

export interface Sharer {
  readonly number: number;
  /** It takes part no longer. */
  readonly draining: boolean;
}

/** Number of shards that a process should have: all have the same, the oldest ones one more where it does not divide. */
export function fairShare(sharers: readonly Sharer[], number: number, shards: number): number {
  const working = sharers.filter(({ draining }) => !draining);
  const rank = working.findIndex((one) => one.number === number);
  if (rank < 0) return 0;
  return Math.floor(shards / working.length) + (rank < shards % working.length ? 1 : 0);
}

/** Some of the free shards. Processes that choose at the same time begin at different ones, by their rank. */
export function chooseShards(
  free: readonly number[],
  count: number,
  { rank, of }: { readonly rank: number; readonly of: number },
): readonly number[] {
  const from = Math.floor((free.length * rank) / Math.max(1, of));
  return [...free.slice(from), ...free.slice(0, from)].slice(0, count);
}

/** The smallest holdings that together have at least that many shards too many; the rest of them is taken again. */
export function chooseToGive<Held extends { readonly shards: readonly number[] }>(held: readonly Held[], excess: number): readonly Held[] {
  const given: Held[] = [];
  let left = excess;
  for (const one of held.toSorted((a, b) => a.shards.length - b.shards.length)) {
    if (left <= 0) break;
    given.push(one);
    left -= one.shards.length;
  }
  return given;
}
