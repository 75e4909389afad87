/** The ledger's clock: it never goes back, and goes forward only as fast as time really passes. */
import type { Clock } from "../core/clock.ts";
import { MINUTE, SECOND } from "../core/units.ts";

/** Gain of the wall clock on the monotonic one that the ledger follows (slewing, drift): 100 parts per million. */
const GAIN = 1e-4;
/** A server's `Date` within this of our wall clock confirms it; `Date` has whole seconds, and answers travel. */
export const AGREED_SKEW_MS = MINUTE;
/** A smaller lag behind the wall clock or the network's clock is drift, not a jump. */
export const JUMP_MS = 2 * SECOND;

/** The statement of an answer's `Date` on the clock that dates rows. */
export interface ObservedTime {
  /** Bounds of the network's lead over it (negative: the network is behind). */
  readonly leastMs: number;
  readonly mostMs: number;
  /** Its jump forward with this answer: 0 nearly always. */
  readonly leaptMs: number;
}

/**
 * Rows are dated by this clock. It ignores the wall clock set back or forward: the monotonic clock counts the passing time. A sleeping
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
   * jump.
   */
  heed(skewMs: number, tookMs: number): ObservedTime | undefined;
}

export function ledgerTime(clock: Clock): LedgerTime {
  // Members of an object change in place, where each new value of a variable would be allocated: the time is asked for often.
  const time = { mono: clock.monotonic(), at: clock.now() };
  const now = (): number => {
    const passed = Math.max(0, clock.monotonic() - time.mono);
    time.mono += passed;
    const steady = time.at + passed;
    const wall = clock.now();
    time.at = wall > steady ? Math.min(wall, steady + passed * GAIN) : steady;
    return Math.floor(time.at);
  };
  const lagMs = (): number => clock.now() - now();
  let networkAheadMs = 0;
  /** Jumps forward if the server agrees with the wall clock; returns the distance. */
  const leap = (skewMs: number): number => {
    const lag = lagMs();
    if (lag <= JUMP_MS || Math.abs(skewMs) > AGREED_SKEW_MS) return 0;
    const before = Math.floor(time.at);
    // No further than the server's own time: a wall clock that jumped by less than the tolerance would pass as correct.
    time.at = Math.max(time.at, clock.now() + Math.min(0, skewMs));
    return Math.floor(time.at) - before;
  };
  return {
    now,
    lagMs,
    networkNow: () => now() + networkAheadMs,
    jumped: () => lagMs() > JUMP_MS,
    heed(skewMs, tookMs) {
      if (!Number.isFinite(skewMs)) return undefined;
      const leaptMs = leap(skewMs);
      // A `Date` has whole seconds and was written while the request was in flight: the true value lies between these two.
      const leastMs = Math.floor(skewMs + lagMs());
      networkAheadMs = Math.abs(leastMs) > AGREED_SKEW_MS ? leastMs : 0;
      return { leastMs, mostMs: Math.ceil(leastMs + tookMs + SECOND), leaptMs };
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
