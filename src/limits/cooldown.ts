/** Cooldown of a key after a 429: one per burst, bounded, stored, and ended by time alone. */
import { backoffMs, type Backoff } from "../core/backoff.ts";
import type { Random } from "../core/random.ts";
import { HOUR, MINUTE, SECOND } from "../core/units.ts";
import { whenLeft, WINDOWS } from "./window-counts.ts";
import { observe, type QuotaState } from "./quota.ts";

/** Shortest cooldown: a server that states "0 seconds" would be asked in a tight loop. */
export const MIN_COOLDOWN_MS = SECOND;
/** Longest cooldown: a day and its margin. A further 429 starts another one. */
export const MAX_COOLDOWN_MS = 26 * HOUR;
/** Cooldowns if the server states none and our own log shows room: longer with each burst. */
const BACKOFF: Backoff = { firstMs: MINUTE, longestMs: HOUR };
/** Added at the end, so that keys that cooled down together do not resume together. */
const JITTER_SHARE = 0.1;
const MAX_JITTER_MS = 30 * SECOND;

export interface Limited {
  /** As stated by the server, in ms; zero, negative, NaN and absent all mean "not stated". */
  readonly retryAfterMs?: number | undefined;
  /** Admission time of the attempt: one sent before the cooldown began belongs to the same burst. */
  readonly admittedAt: number;
}

export interface Cooldown {
  readonly until: number;
  readonly reason: "retry_after" | "window_full" | "backoff";
  /** False if this 429 belongs to a burst whose cooldown lasts at least as long. */
  readonly changed: boolean;
}

/** Starts a cooldown of the key. Never shortens one. */
export function startCooldown(state: QuotaState, now: number, limited: Limited, random: Random): Cooldown {
  const at = observe(state, now);
  const stated = statedWait(limited.retryAfterMs);
  const sameBurst = state.parkedUntil > 0 && limited.admittedAt <= state.parkedAt;
  const ownLog = freeAt(state, at);
  if (sameBurst && (stated === undefined || at + stated <= state.parkedUntil))
    return { until: state.parkedUntil, reason: reasonOf(state.parkReason), changed: false };
  if (!sameBurst) state.consecutive429s = Math.min(state.consecutive429s + 1, 30);
  const { wait, reason } = waitFor(state, at, stated, ownLog);
  const jitter = Math.min(wait * JITTER_SHARE, MAX_JITTER_MS) * random.next();
  const until = Math.ceil(at + Math.min(MAX_COOLDOWN_MS, Math.max(MIN_COOLDOWN_MS, wait) + jitter));
  if (until > state.parkedUntil) state.parkedUntil = until;
  if (!sameBurst) state.parkedAt = at;
  state.parkReason = reason;
  return { until: state.parkedUntil, reason, changed: true };
}

/** Called for a complete answer other than 429 to an attempt admitted after the cooldown began: the burst is over. */
export function clearCooldown(state: QuotaState, admittedAt: number): boolean {
  if (state.consecutive429s === 0 || admittedAt <= state.parkedAt) return false;
  state.consecutive429s = 0;
  return true;
}

/** Starts a cooldown without a 429, because an answer left no request of its window. Never shortens one. Returns true if it changed. */
export function pauseKey(state: QuotaState, now: number, pauseMs: number): boolean {
  const until = Math.ceil(observe(state, now) + pauseMs);
  if (until <= state.parkedUntil) return false;
  state.parkedUntil = until;
  state.parkReason = "window_full";
  return true;
}

function statedWait(retryAfterMs: number | undefined): number | undefined {
  return retryAfterMs !== undefined && Number.isFinite(retryAfterMs) && retryAfterMs > 0 ? retryAfterMs : undefined;
}

function waitFor(
  state: QuotaState,
  at: number,
  stated: number | undefined,
  ownLog: number | undefined,
): { wait: number; reason: Cooldown["reason"] } {
  if (stated !== undefined) return { wait: stated, reason: "retry_after" };
  if (ownLog !== undefined) return { wait: ownLog - at, reason: "window_full" };
  return { wait: backoffMs(BACKOFF, state.consecutive429s), reason: "backoff" };
}

function reasonOf(stored: string): Cooldown["reason"] {
  return stored === "retry_after" || stored === "window_full" ? stored : "backoff";
}

/** Time at which a full window of our own log frees a request, or undefined if no window is full. */
function freeAt(state: QuotaState, at: number): number | undefined {
  let latest: number | undefined;
  for (const name of WINDOWS) {
    const { limit } = state.shares[name];
    if (state[name].total + state.inFlightTotal < limit) continue;
    const free = whenLeft(state[name], (_used, total) => total + state.inFlightTotal < limit) ?? at + BACKOFF.firstMs;
    latest = Math.max(latest ?? 0, free);
  }
  return latest;
}
