/** Estimates the cost of the specialists' definitions: rows and warnings of `retinue plan`, without a call. */
import { LANES, type Lane } from "../contract/operations.ts";
import type { TierLimits } from "../contract/tiers.ts";
import { DAY, HOUR } from "../core/units.ts";
import { intervals, laneBudget, NEW_SOURCE } from "./poll-budget.ts";
import { slotIndex, SLOTS } from "./window-counts.ts";
import { laneShares, DEFAULT_FLOORS, type LaneFloors, type LaneShares } from "./lanes.ts";

/** Expected work of one specialist. */
export interface PlanInput {
  readonly handle: string;
  /** Any value that distinguishes keys: the key's id, or the variable it comes from. */
  readonly key: string;
  readonly limits: TierLimits;
  readonly floors?: LaneFloors;
  /** Public lists it polls, for example `feed`, `jobs`. Shared with others on the same `network` if `shared`. */
  readonly sources: readonly string[];
  readonly network?: string;
  readonly shared?: boolean;
  readonly webhooksHealthy?: boolean;
  /** Calls a day for other work, by lane: schedules, writes, watched threads. */
  readonly wants?: { readonly [lane in Lane]?: number };
}

export interface PlanLane {
  readonly lane: Lane;
  /** Guaranteed calls a day and an hour. */
  readonly floorPerDay: number;
  readonly floorPerHour: number;
  /** Planned calls a day and an hour. */
  readonly perDay: number;
  readonly perHour: number;
}

export interface PlanSource {
  readonly name: string;
  readonly everyMs: number;
  readonly callsPerDay: number;
  /** Time from an event to its discovery: on average, and at worst while the source is quiet. */
  readonly discoveryMs: { readonly mean: number; readonly worst: number };
  /** Number of keys that poll it for each other. */
  readonly watchers: number;
}

export interface PlanRow {
  readonly handle: string;
  readonly limits: TierLimits;
  readonly lanes: readonly PlanLane[];
  readonly sources: readonly PlanSource[];
  readonly perDay: number;
  /** Time (ms from the start) at which a window is used up with this demand from a full start; undefined if never. */
  readonly runsOutMs: { readonly hour: number | undefined; readonly day: number | undefined };
  readonly warnings: readonly string[];
}

/** One row per specialist, in the order given. */
export function plan(specialists: readonly PlanInput[]): PlanRow[] {
  const byKey = Map.groupBy(specialists, ({ key }) => key);
  const watchers = new Map<string, Set<string>>();
  for (const { network = "", shared = true, sources, key } of specialists)
    for (const source of shared ? sources : []) {
      const name = `${network} ${source}`;
      watchers.set(name, (watchers.get(name) ?? new Set()).add(key));
    }
  return specialists.map((one) => {
    const sharers = byKey.get(one.key) ?? [one];
    return rowOf(one, sharers, (source) => (one.shared === false ? 1 : (watchers.get(`${one.network ?? ""} ${source}`)?.size ?? 1)));
  });
}

function rowOf(one: PlanInput, sharers: readonly PlanInput[], watchersOf: (source: string) => number): PlanRow {
  const floors = one.floors ?? DEFAULT_FLOORS;
  const day = laneShares(one.limits.perDay, floors);
  const hour = laneShares(one.limits.perHour, floors);
  const wanted = wantsOf(sharers);
  // A key's poll budget is the remainder after its specialists' other calls, split evenly among those that poll.
  const pollers = sharers.filter(({ sources }) => sources.length > 0).length;
  const budget =
    one.sources.length === 0
      ? 0
      : Math.min(laneBudget(day, "poll", wanted, 0), 24 * laneBudget(hour, "poll", perHourOf(wanted), 0)) / pollers;
  const fresh = one.sources.map(() => ({ ...NEW_SOURCE, covered: one.webhooksHealthy ?? false }));
  const every = intervals(budget, fresh);
  const slowest = intervals(
    budget,
    fresh.map((source) => ({ ...source, pace: Infinity })),
  );
  const sources = one.sources.map((name, i): PlanSource => {
    const everyMs = every[i] ?? DAY;
    const watchers = watchersOf(name);
    return { name, everyMs, callsPerDay: DAY / everyMs, watchers, discoveryMs: { mean: everyMs / watchers / 2, worst: slowest[i] ?? DAY } };
  });
  const polls = sources.reduce((sum, { callsPerDay }) => sum + callsPerDay, 0);
  const lanes = LANES.map((lane): PlanLane => {
    const perDay = (one.wants?.[lane] ?? 0) + (lane === "poll" ? polls : 0);
    return { lane, floorPerDay: floorOf(day, lane), floorPerHour: floorOf(hour, lane), perDay: round(perDay), perHour: round(perDay / 24) };
  });
  const perDay = lanes.reduce((sum, lane) => sum + lane.perDay, 0);
  const ofKey = wanted.reduce((sum, calls) => sum + calls, 0) + polls * pollers;
  return {
    handle: one.handle,
    limits: one.limits,
    lanes,
    sources,
    perDay: round(perDay),
    runsOutMs: { hour: runsOut(one.limits.perHour, ofKey / 24, HOUR), day: runsOut(one.limits.perDay, ofKey, DAY) },
    warnings: warningsOf(one, sharers, { wanted, day, polls: polls * pollers }),
  };
}

function warningsOf(
  one: PlanInput,
  sharers: readonly PlanInput[],
  { wanted, day, polls }: { readonly wanted: readonly number[]; readonly day: LaneShares; readonly polls: number },
): string[] {
  const { perDay } = one.limits;
  const warnings: string[] = [];
  const others = sharers.filter(({ handle }) => handle !== one.handle).map(({ handle }) => handle);
  if (others.length > 0) warnings.push(`shares its key with ${others.join(", ")}: they share ${perDay} calls a day`);
  const fixed = wanted.reduce((sum, calls) => sum + calls, 0);
  const wants = others.length === 0 ? "wants" : `wants, together with ${others.join(", ")},`;
  if (fixed > perDay) warnings.push(`${wants} ${round(fixed)} calls a day of ${perDay}: the excess will wait`);
  else if (fixed + polls > perDay * 1.001)
    warnings.push(`${wants} ${round(fixed + polls)} calls a day of ${perDay} with its polls at their floor`);
  for (const lane of LANES) {
    const calls = wanted[slotIndex(lane)] ?? 0;
    if (fixed <= perDay && calls > 0 && floorOf(day, lane) === 0)
      warnings.push(`has no guaranteed calls for ${lane}, but wants ${round(calls)} a day`);
  }
  if (one.sources.length > 0 && floorOf(day, "poll") === 0 && fixed > perDay * 0.9)
    warnings.push("will hardly poll its sources: polls have no floor and the rest is used elsewhere");
  return warnings;
}

/** Calls a day by slot, of all specialists of one key, without polls. */
function wantsOf(sharers: readonly PlanInput[]): number[] {
  const sums = SLOTS.map(() => 0);
  for (const { wants } of sharers) for (const lane of LANES) sums[slotIndex(lane)] = (sums[slotIndex(lane)] ?? 0) + (wants?.[lane] ?? 0);
  return sums;
}

function perHourOf(perDay: readonly number[]): number[] {
  return perDay.map((calls) => calls / 24);
}

function runsOut(limit: number, wanted: number, lengthMs: number): number | undefined {
  return wanted > limit * 1.001 ? Math.round((lengthMs * limit) / wanted) : undefined;
}

function floorOf(shares: LaneShares, lane: Lane): number {
  return shares.floors[slotIndex(lane)] ?? 0;
}

/** Whole calls for large numbers, one decimal for small ones. */
function round(calls: number): number {
  return calls >= 10 ? Math.round(calls) : Math.round(calls * 10) / 10;
}
