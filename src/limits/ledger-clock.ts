/** The ledger's clock: it never goes back, and goes forward only as fast as time really passes. */
import type { Clock } from "../core/clock.ts";
import { MINUTE, SECOND } from "../core/units.ts";

/** Gain of the wall clock on the monotonic one that the ledger follows (slewing, drift): 100 parts per million. */
const GAIN = 1e-4;
/** A server's `Date` within this of our wall clock confirms it; `Date` has whole seconds, and answers travel. */
export const AGREED_SKEW_MS = MINUTE;
/** A smaller lag behind the wall clock or the network's clock is drift, not a jump. */
export const JUMP_MS = 2 * SECOND;

/** Rows dated by a clock that was behind: by how much, and from which of its times on. */
export interface Misdated {
  readonly ms: number;
  readonly since: number;
}

/** Bounds of the ledger's lead over the network (negative: it is behind). */
export interface Ahead {
  readonly leastMs: number;
  readonly mostMs: number;
}

/** Results of an answer's `Date` for the clock that dates rows. */
export interface ObservedTime {
  /** New lag behind the network, if it changed: stored for a later process, which cannot know it. */
  readonly behind?: Misdated;
  /** The ledger made up this lag: rows dated since then are younger than their dates by as much. */
  readonly redate?: Misdated;
  /** Total jump forward: an earlier process may have been behind, and have known it. */
  readonly leaptMs?: number;
  /** Set with the first `Date` of this process: the initial time may have been ahead. */
  readonly ahead?: Ahead;
}

/**
 * Windows age by this clock. It ignores the wall clock set back or forward: the monotonic clock counts the passing time. A sleeping
 * machine's monotonic clock may stand still, so after a jump forward the ledger lags until a server's `Date` agrees with the wall clock; a
 * lag frees nothing early.
 */
export interface LedgerTime {
  /** Milliseconds since the epoch, by the ledger. */
  now(): number;
  /** Lag of the ledger behind the wall clock (negative: ahead, after the clock was set back). */
  lagMs(): number;
  /** Estimate of the network's clock; the ledger's own time if the two agree or no `Date` came. */
  networkNow(): number;
  /** True while a jump forward waits for confirmation. */
  jumped(): boolean;
  /**
   * Observes `skewMs` (server's `Date` minus our clock on arrival) of a complete answer to a request that took `tookMs`. It may confirm a
   * jump. Returns changes only.
   */
  heed(skewMs: number, tookMs: number): ObservedTime | undefined;
}

/** Continues from the store's `seenAt` if the wall clock was set back while the process was down. */
export function ledgerTime(clock: Clock, seenAt = 0): LedgerTime {
  // Members of an object change in place, where each new value of a variable would be allocated: the time is asked for often.
  const time = { mono: clock.monotonic(), at: Math.max(clock.now(), seenAt) };
  const now = (): number => {
    const passed = Math.max(0, clock.monotonic() - time.mono);
    time.mono += passed;
    const steady = time.at + passed;
    const wall = clock.now();
    time.at = wall > steady ? Math.min(wall, steady + passed * GAIN) : steady;
    return Math.floor(time.at);
  };
  const lagMs = (): number => clock.now() - now();
  const since = Math.floor(time.at);
  let behindMs = 0;
  let hasHeard = false;
  let networkAheadMs = 0;
  /** Jumps forward if the server agrees with the wall clock; returns the distance. */
  const leap = (skewMs: number): number => {
    const lag = lagMs();
    if (lag <= JUMP_MS || Math.abs(skewMs) > AGREED_SKEW_MS) return 0;
    const before = time.at;
    // No further than the server's own time: a wall clock that jumped by less than the tolerance would pass as correct.
    time.at = Math.max(time.at, clock.now() + Math.min(0, skewMs));
    return time.at - before;
  };
  return {
    now,
    lagMs,
    networkNow: () => now() + networkAheadMs,
    jumped: () => lagMs() > JUMP_MS,
    heed(skewMs, tookMs) {
      if (!Number.isFinite(skewMs)) return undefined;
      const before = behindMs;
      // Time that passed during a sleep was not seen; the earlier lag of the ledger is part of it.
      const leapt = leap(skewMs);
      const known = Math.min(leapt, behindMs);
      behindMs -= known;
      // A `Date` has whole seconds and was written while the request was in flight: the true value lies between these two.
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
 * Rows are dated by the ledger's clock: a wall clock that jumps must neither age a window nor delay due work by a day. Only the client,
 * which compares the network's clock with ours, reads the wall clock.
 */
export function steadyClock(wall: Clock, ledger: LedgerTime): Clock {
  return {
    now: () => ledger.now(),
    monotonic: () => wall.monotonic(),
    after: (delayMs, run) => wall.after(delayMs, run),
    soon: (run) => wall.soon(run),
  };
}
