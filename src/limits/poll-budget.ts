/** How often to look: derived from what is left of the quota, never configured. */
import type { Lane } from "../contract/operations.ts";
import type { Random } from "../core/random.ts";
import { DAY, MINUTE, SECOND } from "../core/units.ts";
import { slotIndex } from "./window-cells.ts";
import { obligationReserve, type LaneShares } from "./lanes.ts";
import { observe, type QuotaState } from "./quota.ts";

/** Never looks more often than this, however much quota there is. */
export const MIN_INTERVAL_MS = 5 * SECOND;
/** Never less often, jitter included: what is missed for longer than a day is missed. */
export const MAX_INTERVAL_MS = 12 * 60 * MINUTE;
/** While webhooks prove healthy, polls only check that nothing was missed. */
export const RECONCILE_MS = 30 * MINUTE;
/** An empty look slows a source down, news speeds it up, within these bounds of its even share. */
const SLOWER = 1.5;
const FASTER = 2;
export const SLOWEST_PACE = 4;
export const FASTEST_PACE = 0.5;
const JITTER_SHARE = 0.1;

/** What is looked at: a feed, a job list, a thread. */
export interface Source {
  /** Where between {@link FASTEST_PACE} and {@link SLOWEST_PACE} it stands; 1 to begin with. */
  readonly pace: number;
  /** News per look, smoothed; 0 to begin with. */
  readonly yield: number;
}

export const NEW_SOURCE: Source = { pace: 1, yield: 0 };

/** The source after a look that brought `news` new things. */
export function polled(source: Source, news: number): Source {
  const pace = news > 0 ? Math.max(FASTEST_PACE, source.pace / FASTER) : Math.min(SLOWEST_PACE, source.pace * SLOWER);
  return { pace, yield: source.yield * 0.9 + Math.min(news, 10) * 0.1 };
}

/** Calls a day a lane may plan with: the day less what others used lately, keep, or have set aside; never below its own floor. */
export function laneBudget(shares: LaneShares, lane: Lane, usedLately: readonly number[], obligations: number): number {
  const mine = slotIndex(lane);
  let budget = shares.limit - (usedLately[slotIndex("foreign")] ?? 0);
  for (const [other, kept] of shares.kept.entries()) if (other !== mine) budget -= Math.max(kept, usedLately[other] ?? 0);
  const owed = obligationReserve(shares, obligations) - (shares.kept[slotIndex("obligation")] ?? 0);
  if (lane !== "obligation") budget -= Math.max(0, owed);
  return Math.max(budget, shares.floors[mine] ?? 0, 1);
}

/**
 * The same from a key's live state: by the day, and no faster than a day of its hours. A lane that began to act within
 * the last hour is expected to go on like that, up to its floor, so that polls make room before the day is full.
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
  /** Whether deliveries tell of what it is looked at for: it is then looked at only to see that nothing was missed. */
  readonly covered?: boolean;
}

/**
 * Milliseconds until each source is due again, in the order given. The budget is split by yield: a source that brings
 * much gets up to five times the share of one that brings nothing. What covered sources leave of theirs goes to the rest.
 */
export function intervals(budgetPerDay: number, sources: readonly PollPlan[], options: { readonly random?: Random } = {}): number[] {
  const weights = sources.map((source) => 0.25 + Math.min(1, source.yield));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  const share = (i: number): number => (Math.max(1, budgetPerDay) * (weights[i] ?? 1)) / sum;
  const left = sources.reduce((calls, { covered }, i) => calls + (covered === true ? Math.max(0, share(i) - DAY / RECONCILE_MS) : 0), 0);
  const open = weights.reduce((total, weight, i) => total + (sources[i]?.covered === true ? 0 : weight), 0);
  return sources.map(({ pace, covered = false }, i) => {
    const calls = share(i) + (covered ? 0 : (left * (weights[i] ?? 1)) / open);
    const paced = (DAY / calls) * Math.min(SLOWEST_PACE, Math.max(FASTEST_PACE, pace));
    const wanted = covered ? Math.max(paced, RECONCILE_MS) : paced;
    const jittered = Math.max(MIN_INTERVAL_MS, wanted) * (1 + JITTER_SHARE * (options.random?.next() ?? 0));
    return Math.round(Math.min(MAX_INTERVAL_MS, jittered));
  });
}

const LONGEST_SPREAD = 1.5;

/** A pause for those who begin together, so that they do not look together for ever: half of it to half as long again, within the ceiling. */
export function spreadPause(pauseMs: number, random: Random): number {
  return Math.min(pauseMs, MAX_INTERVAL_MS / LONGEST_SPREAD) * (LONGEST_SPREAD - 1 + random.next());
}
