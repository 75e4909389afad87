/** Poll intervals, derived from the remaining quota and never configured. */
import type { Lane } from "../contract/operations.ts";
import type { Random } from "../core/random.ts";
import { DAY, MINUTE, SECOND } from "../core/units.ts";
import { slotIndex } from "./window-counts.ts";
import { obligationReserve, type LaneShares } from "./lanes.ts";
import { observe, type QuotaState } from "./quota.ts";

/** Shortest interval, however much quota there is. */
export const MIN_INTERVAL_MS = 5 * SECOND;
/** Shortest time between polls of one list by all keys that share it, in one process. */
export const MIN_SHARED_MS = SECOND;
/** Longest interval, jitter included: a list that is not read for a day loses events. */
export const MAX_INTERVAL_MS = 12 * 60 * MINUTE;
/** Poll interval while webhooks work: polls then only check for missed events. */
export const RECONCILE_MS = 30 * MINUTE;
/** Factors on a source's even share: an empty poll slows it down, new items speed it up. */
const SLOWER = 1.5;
const FASTER = 2;
export const SLOWEST_PACE = 4;
export const FASTEST_PACE = 0.5;
const JITTER_SHARE = 0.1;

/** A polled source: a feed, a job list, a thread. */
export interface Source {
  /** Position between {@link FASTEST_PACE} and {@link SLOWEST_PACE}; 1 at first. */
  readonly pace: number;
  /** New items per poll, smoothed; 0 at first. */
  readonly yield: number;
  /** Actions that its news led to, of which half count after a day. Default 0. */
  readonly acts?: number;
}

/** Value of an older action. */
export function agedActs(acts: number, ageMs: number): number {
  return acts * 0.5 ** (ageMs / DAY);
}

/** Value of a list that led to no action. */
const FEWEST_ACTS = 0.02;
/** Least share of a list's polls in those of all, so that actions of a quiet one are discovered. */
const LEAST_SHARE = 1 / 20;
/** A list that brings more news at each poll may bring more than is read back: each further item counts as a part of an action. */
const MUCH_NEWS = 5;
const ACTS_OF_NEWS = 0.2;

/**
 * Once news has led to actions, polls are weighted by the square root of their number, which minimises the mean delay of all actions.
 * Before that, by yield.
 */
function weightsOf(sources: readonly Source[], isKnown: boolean): readonly number[] {
  if (!isKnown) return sources.map(({ yield: news }) => 0.25 + Math.min(1, news));
  const weights = sources.map(({ acts = 0, yield: news }) => Math.sqrt(FEWEST_ACTS + acts + ACTS_OF_NEWS * Math.max(0, news - MUCH_NEWS)));
  const least = LEAST_SHARE * weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => Math.max(weight, least));
}

export const NEW_SOURCE: Source = { pace: 1, yield: 0 };

/** The source after a poll that brought `news` new items. */
export function polled(source: Source, news: number): Source {
  const pace = news > 0 ? Math.max(FASTEST_PACE, source.pace / FASTER) : Math.min(SLOWEST_PACE, source.pace * SLOWER);
  return { pace, yield: source.yield * 0.9 + Math.min(news, 10) * 0.1 };
}

/** Planned calls a day of a lane: the day less the recent use, kept parts and reserves of others; never below its own floor. */
export function laneBudget(shares: LaneShares, lane: Lane, usedLately: readonly number[], obligations: number): number {
  const mine = slotIndex(lane);
  let budget = shares.limit - (usedLately[slotIndex("foreign")] ?? 0);
  for (const [other, kept] of shares.kept.entries()) if (other !== mine) budget -= Math.max(kept, usedLately[other] ?? 0);
  const owed = obligationReserve(shares, obligations) - (shares.kept[slotIndex("obligation")] ?? 0);
  if (lane !== "obligation") budget -= Math.max(0, owed);
  return Math.max(budget, shares.floors[mine] ?? 0, 1);
}

/**
 * The same from a key's live state: by the day, and no faster than its hours permit. A lane that began to act within the last hour is
 * expected to continue up to its floor, so that polls make room before the day is full.
 */
export function liveBudget(state: QuotaState, lane: Lane, now: number, obligations: number): number {
  observe(state, now);
  const { floors } = state.shares.day;
  const lately = state.day.used.map((calls, i) => Math.max(calls, Math.min(floors[i] ?? 0, 24 * (state.hour.used[i] ?? 0))));
  const byDay = laneBudget(state.shares.day, lane, lately, obligations);
  return Math.min(byDay, 24 * laneBudget(state.shares.hour, lane, state.hour.used, obligations));
}

/** One of several lists that share a budget. */
export interface PollPlan extends Source {
  /** True if webhooks report its events: it is then polled only to check for missed ones. */
  readonly covered?: boolean;
}

/**
 * Milliseconds until each source is due, in the order given. The budget is split by actions, or by yield: a productive source gets up to
 * five times the share of an empty one. The unused share of covered sources goes to the rest.
 */
export function intervals(budgetPerDay: number, sources: readonly PollPlan[], options: { readonly random?: Random } = {}): number[] {
  const isKnown = sources.some(({ acts = 0 }) => acts >= 1);
  const weights = weightsOf(sources, isKnown);
  const sum = weights.reduce((total, weight) => total + weight, 0);
  const share = (i: number): number => (Math.max(1, budgetPerDay) * (weights[i] ?? 1)) / sum;
  const left = sources.reduce((calls, { covered }, i) => calls + (covered === true ? Math.max(0, share(i) - DAY / RECONCILE_MS) : 0), 0);
  const open = weights.reduce((total, weight, i) => total + (sources[i]?.covered === true ? 0 : weight), 0);
  return sources.map(({ pace, covered = false }, i) => {
    const calls = share(i) + (covered ? 0 : (left * (weights[i] ?? 1)) / open);
    // If it is known which lists lead to actions, an empty poll says little: such news comes irregularly.
    const paced = (DAY / calls) * (isKnown ? 1 : Math.min(SLOWEST_PACE, Math.max(FASTEST_PACE, pace)));
    const wanted = covered ? Math.max(paced, RECONCILE_MS) : paced;
    const jittered = Math.max(MIN_INTERVAL_MS, wanted) * (1 + JITTER_SHARE * (options.random?.next() ?? 0));
    return Math.round(Math.min(MAX_INTERVAL_MS, jittered));
  });
}

const LONGEST_SPREAD = 1.5;

/**
 * Spreads the first interval of sources that start together, from half of it to half as long again, within the ceiling: otherwise they
 * would be polled together for ever.
 */
export function spreadPause(pauseMs: number, random: Random): number {
  return Math.min(pauseMs, MAX_INTERVAL_MS / LONGEST_SPREAD) * (LONGEST_SPREAD - 1 + random.next());
}
