/** Corrects the quota by the server's remaining count: only downwards. */
import type { LimitHints } from "../contract/call.ts";
import { HOUR, MINUTE } from "../core/units.ts";
import { addToCell, cellAt, slotIndex, EXTERNAL, type WindowName } from "./window-cells.ts";
import { observe, type QuotaState } from "./quota.ts";

/** A `remaining` whose window resets within this time is a burst limit, not that of the hour or day. */
const BURST_RESET_MS = 2 * MINUTE;

/** The reset of a just opened hour may be stated as slightly more than an hour, by rounding and clock skew. */
const ROUNDING_MS = MINUTE;

/**
 * If the server states fewer remaining requests than we count, the difference was used by someone else and is charged as external. If it
 * states more, nothing changes.
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
