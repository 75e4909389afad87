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
  slotIndex,
  whenLeft,
  SLOTS,
  WINDOWS,
  WINDOW_SHAPES,
  type Cells,
  type WindowName,
} from "./window-counts.ts";
import {
  applyingReserve,
  laneRoom,
  laneShares,
  maxObligations,
  obligationReserve,
  DEFAULT_FLOORS,
  type LaneFloors,
  type LaneShares,
} from "./lanes.ts";

/** Time after its deadline in which the network may still count a request without a complete answer. */
export const LATE_LANDING_MS = 2 * MINUTE;

/** Quota state of one key. The functions below change it in place. */
export interface QuotaState {
  /** Shares that follow from the key's limits and floors. */
  shares: Shares;
  readonly hour: Cells;
  readonly day: Cells;
  /** Requests sent and not yet answered, by slot. They never age. */
  inFlight: readonly number[];
  inFlightTotal: number;
  /** The highest time observed: a clock set back frees nothing. */
  seenMs: number;
  parkedAt: number;
  parkedUntil: number;
  parkReason: string;
  /** Time until which a refused lane counts as waiting, by window and lane. In memory only; losing it in a restart is harmless. */
  waitingUntil: { readonly [name in WindowName]: readonly number[] };
  /** Consecutive 429s without a stated wait, one per burst. */
  consecutive429s: number;
}

type Shares = { readonly [name in WindowName]: LaneShares };

/** Shared state of nearly all keys: nothing in flight, and never refused. Own arrays would be a tenth of a key's memory. */
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

/** The last pair: thousands of keys have few different shares, and similar keys are mostly loaded together. */
let latest: Shares | undefined;

function sharesOf(limits: TierLimits, floors: LaneFloors): Shares {
  const hour = laneShares(limits.perHour, floors);
  const day = laneShares(limits.perDay, floors);
  if (latest?.hour !== hour || latest.day !== day) latest = { hour, day };
  return latest;
}

/** Changes tier or floors. Counted requests stay counted, so nothing is gained or lost. */
export function changeLimits(state: QuotaState, limits: TierLimits, floors: LaneFloors): void {
  state.shares = sharesOf(limits, floors);
}

/** One admission's demand on the quota. */
export interface Take {
  readonly lane: Lane;
  /** Number of requests: nearly always 1. */
  readonly cost: number;
  /** Open obligations: jobs applied for or assigned. Requests are reserved for them. */
  readonly obligations: number;
  /** Obligations among them that are expected to need their requests within this hour. Default 0. */
  readonly soon?: number;
  /** Obligations this request would add (1 for applying): their requests must fit too. */
  readonly promises?: number;
  /** Checks of one obligation until it is seen to be needed. Default {@link NOTICE_CALLS}. */
  readonly noticeCalls?: number;
}

export type Takeable =
  | { readonly ok: true }
  | {
      readonly ok: false;
      /** Time of the next try, if nothing else is taken until then. */
      readonly until: number;
      readonly rule: "key_parked" | "quota_window" | "quota_lane" | "obligations_full";
      readonly window: WindowName | "park";
    };

type Refusal = Extract<Takeable, { readonly ok: false }>;

const TAKEABLE: Takeable = { ok: true };
/** Next try if only coming answers (or completed obligations) can make room. */
const RECHECK_MS = MINUTE;

/**
 * Decides if a lane may make a request now; if not, by which rule and until when. Charges nothing, but records the refused lane as waiting.
 */
export function takeable(state: QuotaState, now: number, take: Take): Takeable {
  const at = observe(state, now);
  if (at < state.parkedUntil) return { ok: false, until: state.parkedUntil, rule: "key_parked", window: "park" };
  const promised = take.obligations + (take.promises ?? 0);
  if (promised > take.obligations && promised > maxObligations(state.shares.day))
    return { ok: false, until: at + RECHECK_MS, rule: "obligations_full", window: "day" };
  const lane = slotIndex(take.lane);
  let worst: Takeable = TAKEABLE;
  for (const name of WINDOWS) {
    const refused = refusedBy(state, name, lane, at, take.cost, promised);
    if (refused === undefined) continue;
    state.waitingUntil = { ...state.waitingUntil, [name]: state.waitingUntil[name].with(lane, refused.until + WAITING_MS) };
    if (worst.ok || refused.until > worst.until) worst = refused;
  }
  return worst.ok && promised > take.obligations ? (unpromised(state, at, take) ?? worst) : worst;
}

/** Refuses an application if the hour has no room for the requests of all jobs that may be assigned in it. */
function unpromised(
  { hour, inFlightTotal, shares }: QuotaState,
  at: number,
  { cost, soon = 0, promises = 0, noticeCalls }: Take,
): Refusal | undefined {
  const left = shares.hour.limit - hour.total - inFlightTotal - cost;
  if (left >= applyingReserve(shares.hour, soon + promises, noticeCalls)) return undefined;
  return { ok: false, until: at + RECHECK_MS, rule: "obligations_full", window: "hour" };
}

/** A refused lane that does not return within this time after its wait no longer counts as waiting. */
const WAITING_MS = MINUTE;
const NOBODY: readonly boolean[] = SLOTS.map(() => false);

function refusedBy(state: QuotaState, name: WindowName, lane: number, at: number, cost: number, promised: number): Refusal | undefined {
  const cells = state[name];
  const shares = state.shares[name];
  const reserve = obligationReserve(shares, promised);
  const waiting = waitingAt(state.waitingUntil[name], at);
  const { inFlightTotal } = state;
  const used = inFlightTotal === 0 ? cells.used : plus(cells.used, state.inFlight);
  if (laneRoom(shares, lane, { used, total: cells.total + inFlightTotal, reserve, waiting }) >= cost) return undefined;
  return refusal(state, { name, lane, at, cost, reserve, waiting });
}

interface Refused {
  readonly name: WindowName;
  readonly lane: number;
  readonly at: number;
  readonly cost: number;
  readonly reserve: number;
  readonly waiting: readonly boolean[];
}

/** Apart from the question, which nearly always has room for an answer, and would allocate for these functions. */
function refusal(state: QuotaState, { name, lane, at, cost, reserve, waiting }: Refused): Refusal {
  const cells = state[name];
  const shares = state.shares[name];
  const fits = (used: readonly number[], total: number, waiting: readonly boolean[]): boolean =>
    laneRoom(shares, lane, {
      used: state.inFlightTotal === 0 ? used : plus(used, state.inFlight),
      total: total + state.inFlightTotal,
      reserve,
      waiting,
    }) >= cost;
  const full = cells.total + state.inFlightTotal + cost > shares.limit;
  const rule = full ? "quota_window" : "quota_lane";
  // Waiting lanes are considered only as long as they count as waiting.
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
  for (const end of until) if (end > at) return until.map((one) => one > at);
  return NOBODY;
}

const scratch: number[] = SLOTS.map(() => 0);

/** Valid until the next call: the sums are read at once, and this runs for every admission. */
function plus(a: readonly number[], b: readonly number[]): readonly number[] {
  for (let i = 0; i < scratch.length; i++) scratch[i] = (a[i] ?? 0) + (b[i] ?? 0);
  return scratch;
}

/** Advances the ledger's time and drops expired requests. Returns the effective time. */
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

/** Refunds a request that provably never left the machine. Nothing else is ever refunded. */
export function refund(state: QuotaState, lane: Lane, cost: number): void {
  land(state, slotIndex(lane), cost);
}

/** One change of cells, for storage. */
export interface CellDelta {
  readonly slot: number;
  readonly count: number;
  readonly hourCell: number;
  readonly dayCell: number;
  /** The time in both cells. */
  readonly at: number;
}

/** The end of an attempt: a complete answer, or none by its deadline. */
export type Ending = { readonly answered: true } | { readonly answered: false; readonly deadlineAt: number };

/**
 * Moves a request from in flight to ageing. After a complete answer it ages from now; without one the server may count it as late as its
 * deadline plus the late-landing bound, so it ages from there.
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

/** The cells of a request that ages from this time on. */
export function deltaAt(at: number, slot: number, count: number): CellDelta {
  return { slot, count, hourCell: cellAt(WINDOW_SHAPES.hour, at), dayCell: cellAt(WINDOW_SHAPES.day, at), at };
}

/** An attempt found open at the start: nobody knows when the network counted it. */
export interface OpenAttempt {
  readonly lane: Lane;
  readonly cost: number;
  readonly deadlineAt: number;
}

/** Counts attempts left open by a crash from the recovery (or their deadline, if later) plus the late-landing bound. */
export function recover(state: QuotaState, now: number, open: readonly OpenAttempt[], lateLandingMs = LATE_LANDING_MS): CellDelta[] {
  const at = observe(state, now);
  return open.map(({ lane, cost, deadlineAt }) => {
    // A deadline read after the clock was set back may lie far ahead; no request's deadline is an hour away.
    const from = Math.min(Math.max(at, deadlineAt), at + HOUR);
    return count(state, from + lateLandingMs, slotIndex(lane), cost);
  });
}

/** A regenerated key inherits its predecessor's cooldown. */
export function inheritCooldown(from: QuotaState, to: QuotaState): void {
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
  /** By lane, and `foreign` for external calls. In flight included. */
  readonly by: { readonly [slot: string]: number };
}

/** Present usage, for status pages and the planner. */
export function quotaUse(state: QuotaState, now: number): { readonly [name in WindowName]: QuotaUse } {
  observe(state, now);
  const use = (name: WindowName): QuotaUse => ({
    used: state[name].total + state.inFlightTotal,
    limit: state.shares[name].limit,
    by: Object.fromEntries(SLOTS.map((slot, i) => [slot, (state[name].used[i] ?? 0) + (state.inFlight[i] ?? 0)])),
  });
  return { hour: use("hour"), day: use("day") };
}
