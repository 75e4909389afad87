/**
 * The quota ledger of one key: pure rules over a small value.
 *
 * Why no server window is ever exceeded. The server counts a request at some moment between its admission and its
 * answer. We count it from admission until window length after the answer. Take any span of that length, and of the
 * requests counted in it the one admitted last: at its admission every other one still counted here, so their number
 * was within the limit. The span was arbitrary, so sliding, fixed (at any alignment) and anchored windows all hold.
 */
import type { Lane } from "../contract/operations.ts";
import type { TierLimits } from "../contract/tiers.ts";
import { HOUR, MINUTE } from "../core/units.ts";
import {
  addToCell,
  cellAt,
  expireCells,
  emptyCells,
  listCells,
  slotIndex,
  whenLeft,
  SLOTS,
  WINDOWS,
  WINDOW_SHAPES,
  type Cells,
  type WindowName,
} from "./window-cells.ts";
import { laneRoom, laneShares, maxObligations, obligationReserve, DEFAULT_FLOORS, type LaneFloors, type LaneShares } from "./lanes.ts";

/** How late a request may still be counted after its deadline, when no complete answer came back. */
export const LATE_LANDING_MS = 2 * MINUTE;

/** Everything that decides whether a key may be used. Changed in place by the functions below. */
export interface QuotaState {
  /** What the key's limits and floors come to. */
  shares: Shares;
  readonly hour: Cells;
  readonly day: Cells;
  /** Requests sent and not yet answered, by slot. They never age. */
  inFlight: readonly number[];
  inFlightTotal: number;
  /** The highest time seen: a clock set back frees nothing. */
  seenMs: number;
  parkedAt: number;
  parkedUntil: number;
  parkReason: string;
  /** By window and lane: until when it counts as waiting, having been refused. Only in memory; a restart forgets it, harmlessly. */
  waitingUntil: { readonly [name in WindowName]: readonly number[] };
  /** 429s in a row without a stated wait, one per burst. */
  consecutive429s: number;
}

type Shares = { readonly [name in WindowName]: LaneShares };

/** What nearly all of thousands of keys are: with nothing in flight, and never refused. Each its own would be a tenth of what a key takes. */
const NONE: readonly number[] = SLOTS.map(() => 0);
const NONE_WAITING: QuotaState["waitingUntil"] = { hour: NONE, day: NONE };

export function newQuota(limits: TierLimits, floors: LaneFloors = DEFAULT_FLOORS): QuotaState {
  return {
    shares: sharesOf(limits, floors),
    hour: emptyCells("hour"),
    day: emptyCells("day"),
    inFlight: NONE,
    inFlightTotal: 0,
    seenMs: 0,
    parkedAt: 0,
    parkedUntil: 0,
    parkReason: "",
    waitingUntil: NONE_WAITING,
    consecutive429s: 0,
  };
}

/** The pair made last: few differ among thousands of keys, and most are loaded beside one like them. */
let latest: Shares | undefined;

function sharesOf(limits: TierLimits, floors: LaneFloors): Shares {
  const hour = laneShares(limits.perHour, floors);
  const day = laneShares(limits.perDay, floors);
  if (latest?.hour !== hour || latest.day !== day) latest = { hour, day };
  return latest;
}

/** A tier or floor change either way: the same requests count on, so nothing is given and nothing taken. */
export function changeLimits(state: QuotaState, limits: TierLimits, floors: LaneFloors): void {
  state.shares = sharesOf(limits, floors);
}

/** What one admission asks of the quota. */
export interface Take {
  readonly lane: Lane;
  /** Requests it makes: nearly always 1. */
  readonly cost: number;
  /** Things owed now: jobs applied for or assigned. They set calls aside. */
  readonly obligations: number;
  /** Obligations this request would add (1 for applying): their calls must be there too. */
  readonly promises?: number;
}

export type Takeable =
  | { readonly ok: true }
  | {
      readonly ok: false;
      /** When it may be tried again, if nothing else is taken until then. */
      readonly until: number;
      readonly rule: "key_parked" | "quota_window" | "quota_lane" | "obligations_full";
      readonly window: WindowName | "park";
    };

type Refusal = Extract<Takeable, { readonly ok: false }>;

const TAKEABLE: Takeable = { ok: true };
/** Asked again after this long when only answers to come (or settled obligations) can make room. */
const RECHECK_MS = MINUTE;

/** Whether a lane may make a request now, and if not, which rule says so and until when. Charges nothing, but remembers who was refused. */
export function takeable(state: QuotaState, now: number, take: Take): Takeable {
  const at = observe(state, now);
  if (at < state.parkedUntil) return { ok: false, until: state.parkedUntil, rule: "key_parked", window: "park" };
  const promised = take.obligations + (take.promises ?? 0);
  if (promised > take.obligations && promised > maxObligations(state.shares.day))
    return { ok: false, until: at + RECHECK_MS, rule: "obligations_full", window: "day" };
  const lane = slotIndex(take.lane);
  let refusal: Takeable = TAKEABLE;
  for (const name of WINDOWS) {
    const refused = refusedBy(state, name, lane, at, take.cost, promised);
    if (refused === undefined) continue;
    state.waitingUntil = { ...state.waitingUntil, [name]: state.waitingUntil[name].with(lane, refused.until + WAITING_MS) };
    if (refusal.ok || refused.until > refusal.until) refusal = refused;
  }
  return refusal;
}

/** A refused lane that does not come back within this time after its wait is no longer waited for. */
const WAITING_MS = MINUTE;
const NOBODY: readonly boolean[] = SLOTS.map(() => false);

function refusedBy(state: QuotaState, name: WindowName, lane: number, at: number, cost: number, promised: number): Refusal | undefined {
  const cells = state[name];
  const shares = state.shares[name];
  const reserve = obligationReserve(shares, promised);
  const fits = (used: readonly number[], total: number, waiting: readonly boolean[]): boolean =>
    laneRoom(shares, lane, {
      used: state.inFlightTotal === 0 ? used : plus(used, state.inFlight),
      total: total + state.inFlightTotal,
      reserve,
      waiting,
    }) >= cost;
  const waiting = waitingAt(state.waitingUntil[name], at);
  if (fits(cells.used, cells.total, waiting)) return undefined;
  const full = cells.total + state.inFlightTotal + cost > shares.limit;
  const rule = full ? "quota_window" : "quota_lane";
  // Where others are waited for, no longer than they stay waiting.
  const free = (who: readonly boolean[]): number => whenLeft(cells, (used, total) => fits(used, total, who)) ?? at + RECHECK_MS;
  if (waiting === NOBODY) return { ok: false, until: free(NOBODY), rule, window: name };
  const unhindered = fits(cells.used, cells.total, NOBODY) ? at : free(NOBODY);
  return {
    ok: false,
    until: Math.min(free(waiting), Math.max(unhindered, ...state.waitingUntil[name].map((until) => Math.min(until, at + RECHECK_MS)))),
    rule,
    window: name,
  };
}

function waitingAt(until: readonly number[], at: number): readonly boolean[] {
  return until.some((end) => end > at) ? until.map((end) => end > at) : NOBODY;
}

const scratch: number[] = SLOTS.map(() => 0);

/** Valid until the next call: sums are read at once, and this runs for every admission. */
function plus(a: readonly number[], b: readonly number[]): readonly number[] {
  for (let i = 0; i < scratch.length; i++) scratch[i] = (a[i] ?? 0) + (b[i] ?? 0);
  return scratch;
}

/** Moves the ledger's time on and drops what has left. Returns the time that counts. */
export function observe(state: QuotaState, now: number): number {
  if (now > state.seenMs) state.seenMs = now;
  expireCells(state.hour, state.seenMs);
  expireCells(state.day, state.seenMs);
  return state.seenMs;
}

/** Counts a request from its admission. */
export function charge(state: QuotaState, now: number, lane: Lane, cost: number): void {
  observe(state, now);
  const slot = slotIndex(lane);
  state.inFlight = state.inFlight.with(slot, (state.inFlight[slot] ?? 0) + cost);
  state.inFlightTotal += cost;
}

/** Takes a request back that provably never left the machine. Nothing else is ever refunded. */
export function refund(state: QuotaState, lane: Lane, cost: number): void {
  land(state, slotIndex(lane), cost);
}

/** One change of cells, for whoever stores them. */
export interface CellDelta {
  readonly slot: number;
  readonly count: number;
  readonly hourCell: number;
  readonly dayCell: number;
  /** The moment that both cells hold. */
  readonly at: number;
}

/** How an attempt ended: a complete answer, or none by its deadline. */
export type Ending = { readonly answered: true } | { readonly answered: false; readonly deadlineAt: number };

/**
 * From in flight to ageing. A complete answer ages from now; without one the server may count the request as late as
 * its deadline plus the late-landing bound, so it ages from there.
 */
export function completeAttempt(
  state: QuotaState,
  now: number,
  lane: Lane,
  cost: number,
  ending: Ending,
  lateLandingMs = LATE_LANDING_MS,
): CellDelta {
  const at = observe(state, now);
  const slot = slotIndex(lane);
  land(state, slot, cost);
  return count(state, ending.answered ? at : Math.max(at, ending.deadlineAt) + lateLandingMs, slot, cost);
}

function land(state: QuotaState, slot: number, cost: number): void {
  const flying = state.inFlight[slot] ?? 0;
  const landed = Math.min(cost, flying);
  state.inFlightTotal -= landed;
  state.inFlight = state.inFlightTotal === 0 ? NONE : state.inFlight.with(slot, flying - landed);
}

function count(state: QuotaState, at: number, slot: number, cost: number): CellDelta {
  const delta = deltaAt(at, slot, cost);
  addToCell(state.hour, delta.hourCell, slot, cost);
  addToCell(state.day, delta.dayCell, slot, cost);
  return delta;
}

/** What a request comes to in the cells, by the moment from which on it ages. */
export function deltaAt(at: number, slot: number, count: number): CellDelta {
  return { slot, count, hourCell: cellAt(WINDOW_SHAPES.hour, at), dayCell: cellAt(WINDOW_SHAPES.day, at), at };
}

/** An attempt found open when the process starts: nobody knows when it was counted. */
export interface OpenAttempt {
  readonly lane: Lane;
  readonly cost: number;
  readonly deadlineAt: number;
}

/** Counts what a crash left open from recovery on (or from its deadline, where that is later), plus the late-landing bound. */
export function recover(state: QuotaState, now: number, open: readonly OpenAttempt[], lateLandingMs = LATE_LANDING_MS): CellDelta[] {
  const at = observe(state, now);
  return open.map(({ lane, cost, deadlineAt }) => {
    // A deadline read after the clock was set back may lie far ahead; an hour is beyond any request's.
    const from = Math.min(Math.max(at, deadlineAt), at + HOUR);
    return count(state, from + lateLandingMs, slotIndex(lane), cost);
  });
}

/** A regenerated key starts with all its predecessor was charged, parks included. What is in flight there counts as lost. */
export function inherit(from: QuotaState, to: QuotaState, now: number, lateLandingMs = LATE_LANDING_MS): void {
  const at = Math.max(observe(from, now), observe(to, now));
  to.seenMs = at;
  for (const name of WINDOWS) {
    for (const { cell, slot, count: calls } of listCells(from[name])) addToCell(to[name], cell, slot, calls);
    const late = cellAt(to[name].shape, at + lateLandingMs);
    from.inFlight.forEach((calls, slot) => addToCell(to[name], late, slot, calls));
  }
  if (from.parkedUntil > to.parkedUntil) {
    to.parkedUntil = from.parkedUntil;
    to.parkedAt = from.parkedAt;
    to.parkReason = from.parkReason;
  }
  to.consecutive429s = Math.max(to.consecutive429s, from.consecutive429s);
}

export interface QuotaUse {
  readonly used: number;
  readonly limit: number;
  /** By lane, and `foreign` for calls nobody here made. In flight included. */
  readonly by: { readonly [slot: string]: number };
}

/** What counts now, for status pages and the planner. */
export function quotaUse(state: QuotaState, now: number): { readonly [name in WindowName]: QuotaUse } {
  observe(state, now);
  const use = (name: WindowName): QuotaUse => ({
    used: state[name].total + state.inFlightTotal,
    limit: state.shares[name].limit,
    by: Object.fromEntries(SLOTS.map((slot, i) => [slot, (state[name].used[i] ?? 0) + (state.inFlight[i] ?? 0)])),
  });
  return { hour: use("hour"), day: use("day") };
}
