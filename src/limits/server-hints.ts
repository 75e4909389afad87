/** What the server says is left: believed where it is less than we think, ignored where it is more. */
import type { LimitHints } from "../contract/call.ts";
import { HOUR, MINUTE } from "../core/units.ts";
import { addToCell, cellAt, slotIndex, EXTERNAL, type WindowName } from "./window-cells.ts";
import { observe, type QuotaState } from "./quota.ts";

/** A `remaining` whose window resets this soon is a burst limit, not the hour's or the day's. */
const BURST_RESET_MS = 2 * MINUTE;

/** An hour's window that was just opened may say that it resets in a little over an hour, by rounding and clocks apart. */
const ROUNDING_MS = MINUTE;

/**
 * Believes the server downwards: where it says fewer requests are left than we think, the difference was made by
 * someone else and is charged as foreign. Where it says more, nothing changes.
 */
export function believeDownwards(state: QuotaState, now: number, hints: LimitHints): readonly PhantomDelta[] {
  const at = observe(state, now);
  const resetMs = finite(hints.resetMs);
  const unnamed = resetMs !== undefined && resetMs <= BURST_RESET_MS ? undefined : finite(hints.remaining);
  const byHour = resetMs === undefined || resetMs <= HOUR + ROUNDING_MS;
  const hour = lowest(hints.remainingHour, byHour ? unnamed : undefined);
  const day = lowest(hints.remainingDay, byHour ? undefined : unnamed);
  return [phantom(state, "hour", at, hour, resetMs), phantom(state, "day", at, day, resetMs)].filter((delta) => delta !== undefined);
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
  // Foreign calls leave when the server says its window is refilled; a whole window from now if it does not say.
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
