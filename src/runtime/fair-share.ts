/** The share of each process in the shards, and the choice of those that it takes or gives back. Pure. */

export interface Sharer {
  readonly number: number;
  /** It takes part no longer. */
  readonly draining: boolean;
}

export interface Holder extends Sharer {
  readonly shards: readonly number[];
}

/** Number of shards that a process should have: all have the same, the oldest ones one more where it does not divide. */
export function fairShare(sharers: readonly Sharer[], number: number, shards: number): number {
  const working = sharers.filter(({ draining }) => !draining);
  const rank = working.findIndex((one) => one.number === number);
  if (rank < 0) return 0;
  return Math.floor(shards / working.length) + (rank < shards % working.length ? 1 : 0);
}

/**
 * Some of the free shards: those behind what the processes before it need, so that all who choose at the same time choose others. The first
 * ones if nothing is left there, because a process before it takes less.
 */
export function chooseShards(free: readonly number[], count: number, before: number): readonly number[] {
  const own = free.slice(before, before + count);
  return own.length > 0 ? own : free.slice(0, count);
}

/** Shards that the processes before this one do not have and should. */
export function neededBefore(sharers: readonly Holder[], number: number, shards: number): number {
  const rank = sharers.findIndex((one) => one.number === number);
  const missing = sharers.slice(0, Math.max(0, rank)).map((one) => fairShare(sharers, one.number, shards) - one.shards.length);
  return missing.reduce((sum, one) => sum + Math.max(0, one), 0);
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

/** The two smallest holdings, to be opened again as one; none if there are at most `most`. */
export function chooseToJoin<Held extends { readonly shards: readonly number[] }>(held: readonly Held[], most: number): readonly Held[] {
  return held.length <= most ? [] : held.toSorted((a, b) => a.shards.length - b.shards.length).slice(0, 2);
}
