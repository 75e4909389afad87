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

/** A shard that the processes are not equally able to run. */
export interface Uneven {
  readonly shard: number;
  /** This process is among the best for it. */
  readonly isOurs: boolean;
  /** Number of the best. */
  readonly able: number;
}

export interface Standing {
  readonly share: number;
  /** As of `neededBefore`. */
  readonly before: number;
  readonly owned: readonly number[];
  readonly free: readonly number[];
  /** Number of shards of the one that has the fewest. */
  readonly fewest: number;
  readonly uneven: readonly Uneven[];
}

export interface Aim {
  readonly take: readonly number[];
  /** Number of shards that it has above what it should. */
  readonly excess: number;
  /** Shards of which another can run more. */
  readonly foreign: ReadonlySet<number>;
}

/** The part of a share by which processes may differ: it is not worth opening a store again. */
const TOLERATED = 1 / 8;

/**
 * The shards that a process takes, and has too many. One that another can run more of is left to the best, which share it out among
 * themselves whatever else they have. So a shard goes to a better one, and never back.
 */
export function aimOf({ share, before, owned, free, fewest, uneven }: Standing): Aim {
  const foreign = new Set(uneven.filter(({ isOurs }) => !isOurs).map(({ shard }) => shard));
  const ours = uneven.filter(({ isOurs }) => isOurs);
  const bound = new Set(ours.map(({ shard }) => shard));
  const part = Math.ceil(ours.reduce((sum, { able }) => sum + 1 / able, 0));
  const ownedBound = owned.filter((shard) => bound.has(shard)).length;
  const first = free.filter((shard) => bound.has(shard)).slice(0, Math.max(0, part - ownedBound));
  const missing = share - owned.length - first.length;
  const rest = free.filter((shard) => !foreign.has(shard) && !first.includes(shard));
  const above = Math.max(0, owned.length - Math.max(share, Math.min(ownedBound, part)));
  const tolerated = share * TOLERATED;
  return {
    take: missing > 0 ? [...first, ...chooseShards(rest, missing, before)] : first,
    excess: above <= tolerated && fewest + free.length >= share - tolerated ? 0 : above,
    foreign,
  };
}

/** The holdings that must be given, and the smallest ones that with them have at least that many shards too many; the rest is taken again. */
export function chooseToGive<Held extends { readonly shards: readonly number[] }>(
  held: readonly Held[],
  excess: number,
  must: readonly Held[] = [],
): readonly Held[] {
  const given = [...must];
  let left = must.reduce((sum, { shards }) => sum - shards.length, excess);
  for (const one of held.toSorted((a, b) => a.shards.length - b.shards.length)) {
    if (left <= 0) break;
    if (must.includes(one)) continue;
    given.push(one);
    left -= one.shards.length;
  }
  return given;
}

/** The two smallest holdings, to be opened again as one; none if there are at most `most`. */
export function chooseToJoin<Held extends { readonly shards: readonly number[] }>(held: readonly Held[], most: number): readonly Held[] {
  return held.length <= most ? [] : held.toSorted((a, b) => a.shards.length - b.shards.length).slice(0, 2);
}
