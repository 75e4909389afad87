/** Corrects the quota by the server's remaining count: only downwards. */
import type { LimitHints } from "../contract/call.ts";
import { DAY, HOUR, MINUTE, SECOND } from "../core/units.ts";
import { MAX_COOLDOWN_MS } from "./cooldown.ts";
import { addToCell, cellAt, slotIndex, EXTERNAL, type WindowName } from "./window-counts.ts";
import { observe, type QuotaState } from "./quota.ts";

/** A window that resets within this time is shorter than the hour, unless its limit is that of the hour. */
const SHORT_RESET_MS = 15 * MINUTE;
/** So is every window that resets within this time. */
const BURST_RESET_MS = 2 * MINUTE;
/** The reset of a just opened hour may be stated as slightly more than an hour, by rounding and clock skew. */
const ROUNDING_MS = MINUTE;
/** Resets are stated in whole seconds. */
const RESET_MARGIN_MS = SECOND;

/**
 * If the server states fewer remaining requests than we count, the difference was used by someone else and is charged as external. If it
 * states more, nothing changes.
 */
export function believeDownwards(state: QuotaState, now: number, hints: LimitHints): readonly PhantomDelta[] {
  const at = observe(state, now);
  const resetMs = finite(hints.resetMs);
  const unnamed = finite(hints.remaining);
  const window = windowOf(state, hints);
  const hour = lowest(hints.remainingHour, window === "hour" ? unnamed : undefined);
  const day = lowest(hints.remainingDay, window === "day" ? unnamed : undefined);
  return [phantom(state, "hour", at, hour, resetMs), phantom(state, "day", at, day, resetMs)].filter((delta) => delta !== undefined);
}

/** The time for which a window of another length than hour and day leaves no request; undefined if it leaves some, or does not state its end. */
export function ownWindowPauseMs(state: QuotaState, hints: LimitHints): number | undefined {
  if (hints.remaining !== 0 || windowOf(state, hints) !== "other") return undefined;
  const pauseMs = finite(hints.resetMs) ?? finite(hints.windowMs);
  return pauseMs === undefined || pauseMs <= 0 ? undefined : Math.min(MAX_COOLDOWN_MS, pauseMs + RESET_MARGIN_MS);
}

/** The window that an unnamed `remaining` belongs to: by its stated length, by its limit, else by its reset. */
function windowOf({ shares }: QuotaState, { windowMs, limit, ...hints }: LimitHints): WindowName | "other" {
  const resetMs = finite(hints.resetMs);
  if (windowMs !== undefined) return windowMs === HOUR ? "hour" : windowMs === DAY ? "day" : "other";
  if (resetMs !== undefined && resetMs <= BURST_RESET_MS) return "other";
  if (resetMs !== undefined && resetMs > HOUR + ROUNDING_MS) return "day";
  if (limit !== undefined) return limit === shares.hour.limit ? "hour" : limit === shares.day.limit ? "day" : "other";
  return resetMs !== undefined && resetMs <= SHORT_RESET_MS ? "other" : "hour";
}

export interface PhantomDelta {
  readonly window: WindowName;
  readonly cell: number;
  readonly slot: number;
  readonly count: number;
}

function phantom(
  state: QuotaState,
  name: WindowName,
  at: number,
  remaining: number | undefined,
  resetMs: number | undefined,
): PhantomDelta | undefined {
  if (remaining === undefined) return undefined;
  const cells = state[name];
  const left = state.shares[name].limit - cells.total - state.inFlightTotal;
  const missing = left - Math.max(0, Math.floor(remaining));
  if (missing <= 0) return undefined;
  // External calls expire when the server's window is refilled; after a whole window if the server does not state it.
  const { lengthMs } = cells.shape;
  const from = resetMs !== undefined && resetMs > 0 && resetMs < lengthMs ? at + resetMs - lengthMs : at;
  const delta: PhantomDelta = { window: name, cell: cellAt(cells.shape, from), slot: slotIndex(EXTERNAL), count: missing };
  addToCell(cells, delta.cell, delta.slot, delta.count);
  return delta;
}

function finite(value: number | undefined): number | undefined {
  return value !== undefined && Number.isFinite(value) ? value : undefined;
}

function lowest(a: number | undefined, b: number | undefined): number | undefined {
  const [x, y] = [finite(a), finite(b)];
  return x === undefined ? y : y === undefined ? x : Math.min(x, y);
}
