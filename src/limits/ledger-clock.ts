/** The ledger's time: never back, and forward only as fast as time really passes. */
import type { Clock } from "../core/clock.ts";
import { MINUTE, SECOND } from "../core/units.ts";

/** A wall clock may gain this much on the monotonic one (slewing, drift) and still be followed: 100 parts per million. */
const GAIN = 1e-4;
/** A server's `Date` within this of our wall clock confirms the wall clock; `Date` has whole seconds, and answers travel. */
export const AGREED_SKEW_MS = MINUTE;
/** A smaller lag behind the wall clock is drift, not a jump; and so is a smaller one behind the network's. */
export const JUMP_MS = 2 * SECOND;

/** Rows dated by a clock that was behind: by how much, and from which of its times on. */
export interface Misdated {
  readonly ms: number;
  readonly since: number;
}

/** How far the ledger is ahead of the network (negative: behind), between two bounds. */
export interface Ahead {
  readonly leastMs: number;
  readonly mostMs: number;
}

/** What an answer's `Date` told of the clock that rows are dated by. */
export interface ObservedTime {
  /** How far it is behind the network now, where that has changed: kept for a later process, which could not know. */
  readonly behind?: Misdated;
  /** It went forward by what it had been behind: rows dated since then are so much younger than they say. */
  readonly redate?: Misdated;
  /** By how much it went forward in all: an earlier process may have been behind, and have known it. */
  readonly leaptMs?: number;
  /** With the first `Date` that this process hears: what it began with may have been ahead. */
  readonly ahead?: Ahead;
}

/**
 * Windows age by this clock. The wall clock set back does not move it, set forward does not either: the monotonic
 * clock says how much time passed. Asleep, a machine's monotonic clock may stand still, so after a jump forward the
 * ledger lags until a server's `Date` agrees with the wall clock; lagging frees nothing early.
 */
export interface LedgerTime {
  /** Milliseconds since the epoch as far as the ledger is concerned. */
  now(): number;
  /** How far the ledger is behind the wall clock (negative: ahead, after the clock was set back). */
  lagMs(): number;
  /** What the network's clock says by now, as far as it was heard; where it agrees, or was not, this one. */
  networkNow(): number;
  /** Whether a jump forward waits to be confirmed. */
  jumped(): boolean;
  /**
   * Takes in `skewMs` (server's `Date` minus our clock when it had come) of a complete answer to a request that took
   * `tookMs`. It may confirm a jump. Answers what is news.
   */
  heed(skewMs: number, tookMs: number): ObservedTime | undefined;
}

/** Goes on from `seenAt` (the store's) where the wall clock was set back while the process was down. */
export function ledgerTime(clock: Clock, seenAt = 0): LedgerTime {
  let mono = clock.monotonic();
  let at = Math.max(clock.now(), seenAt);
  const now = (): number => {
    const passed = Math.max(0, clock.monotonic() - mono);
    mono += passed;
    const steady = at + passed;
    const wall = clock.now();
    at = wall > steady ? Math.min(wall, steady + passed * GAIN) : steady;
    return Math.floor(at);
  };
  const lagMs = (): number => clock.now() - now();
  const since = Math.floor(at);
  let behindMs = 0;
  let hasHeard = false;
  let networkAheadMs = 0;
  /** How far it goes forward because the server agrees with the wall clock. */
  const leap = (skewMs: number): number => {
    const lag = lagMs();
    if (lag <= JUMP_MS || Math.abs(skewMs) > AGREED_SKEW_MS) return 0;
    const before = at;
    // No further than the server's own time: a wall clock that jumped by less than the tolerance would pass as right.
    at = Math.max(at, clock.now() + Math.min(0, skewMs));
    return at - before;
  };
  return {
    now,
    lagMs,
    networkNow: () => now() + networkAheadMs,
    jumped: () => lagMs() > JUMP_MS,
    heed(skewMs, tookMs) {
      if (!Number.isFinite(skewMs)) return undefined;
      const before = behindMs;
      // Asleep, time passed that was not seen; what the ledger was behind before had passed already.
      const leapt = leap(skewMs);
      const known = Math.min(leapt, behindMs);
      behindMs -= known;
      // A `Date` has whole seconds and was said while the request was under way: what is so lies between these two.
      const least = Math.floor(skewMs + lagMs());
      const most = least + tookMs + SECOND;
      networkAheadMs = Math.abs(least) > AGREED_SKEW_MS ? least : 0;
      if (least >= behindMs + JUMP_MS) behindMs = least;
      else if (most <= behindMs - JUMP_MS) behindMs = Math.ceil(most);
      if (behindMs < JUMP_MS) behindMs = 0;
      const isNews = behindMs !== before;
      const isFirst = !hasHeard;
      hasHeard = true;
      if (!isNews && leapt <= 0 && !isFirst) return undefined;
      return {
        ...(isNews ? { behind: { ms: behindMs, since } } : {}),
        ...(known > 0 ? { redate: { ms: Math.ceil(known), since } } : {}),
        ...(leapt > 0 ? { leaptMs: Math.ceil(leapt) } : {}),
        ...(isFirst ? { ahead: { leastMs: Math.floor(-most), mostMs: -least } } : {}),
      };
    },
  };
}

/**
 * Rows are timed by the ledger's clock: a wall clock that jumps must neither age a window nor put what is due off by a
 * day. Only the client, which compares the network's clock with ours, looks at the wall.
 */
export function steadyClock(wall: Clock, ledger: LedgerTime): Clock {
  return {
    now: () => ledger.now(),
    monotonic: () => wall.monotonic(),
    after: (delayMs, run) => wall.after(delayMs, run),
    soon: (run) => wall.soon(run),
  };
}
