/** Limits as people write them: checked for mistakes before anything runs, and turned into what the rules work with. */
import { LANES, type Lane } from "../contract/operations.ts";
import { messageOf } from "../core/errors.ts";
import { isObject } from "../core/json.ts";
import { CREDITS, durationMs, showMoney, type Money } from "../core/units.ts";
import { DEFAULT_FLOORS, type LaneFloors } from "./lanes.ts";
import type { Cap, Price, Scope } from "./spending.ts";
import { isZone } from "./zone.ts";

/** Money the ledger knows: the network's own, and what model providers charge. */
export const CURRENCIES: readonly string[] = [CREDITS, "usd"];

/** Caps as a definition or the Guardian's configuration states them; several currencies as a list. */
export interface SpendLimits {
  readonly perAction?: Money | readonly Money[] | undefined;
  readonly perHour?: Money | readonly Money[] | undefined;
  readonly perDay?: Money | readonly Money[] | undefined;
  readonly perMonth?: Money | readonly Money[] | undefined;
  readonly total?: Money | readonly Money[] | undefined;
  readonly rollingHour?: Money | readonly Money[] | undefined;
  readonly rollingDay?: Money | readonly Money[] | undefined;
  readonly rollingMonth?: Money | readonly Money[] | undefined;
}

const SPEND_KEYS: { readonly [key in keyof SpendLimits]-?: Cap["window"] } = {
  perAction: "action",
  perHour: "hour",
  perDay: "day",
  perMonth: "month",
  total: "total",
  rollingHour: "rolling-hour",
  rollingDay: "rolling-day",
  rollingMonth: "rolling-month",
};

/** Each may not be above those after it: such a cap could never be reached. */
const NESTED: readonly (readonly (keyof SpendLimits)[])[] = [
  ["perAction", "perHour", "perDay", "perMonth", "total"],
  ["perAction", "rollingHour", "rollingDay", "rollingMonth", "total"],
];

/** What is wrong, where (a path such as `spend.perDay`), and whether it only deserves a warning. */
export interface LimitProblem {
  readonly path: string;
  readonly message: string;
  readonly expected?: string;
  readonly severity: "error" | "warning";
}

/** What may be checked; every part as it came, so that data files and code are checked alike. */
export interface LimitsToCheck {
  readonly spend?: unknown;
  readonly lanes?: unknown;
  readonly brakes?: unknown;
  readonly zone?: unknown;
  /** Prices by operation: `"free"`, `"unknown"`, or an amount. */
  readonly prices?: unknown;
  readonly may?: readonly string[];
}

/** Every mistake at once, in reading order; empty when all is well. */
export function checkLimits(limits: LimitsToCheck): LimitProblem[] {
  return [
    ...(limits.spend === undefined ? [] : checkSpend(limits.spend)),
    ...(limits.lanes === undefined ? [] : checkFloors(limits.lanes)),
    ...(limits.brakes === undefined ? [] : checkBrakes(limits.brakes)),
    ...(limits.zone === undefined || (typeof limits.zone === "string" && isZone(limits.zone))
      ? []
      : [error("zone", `there is no time zone ${JSON.stringify(limits.zone)}`, 'an IANA time zone such as "Europe/London"')]),
    ...(limits.prices === undefined ? [] : checkPrices(limits.prices, limits.may ?? [])),
  ];
}

/**
 * Caps of one scope. Call after `checkLimits` found nothing. A cap of an hour or a day also holds over any span of
 * that length, unless the rolling one is stated: calendar windows alone would let twice as much go around midnight.
 */
export function capsOf(scope: Scope, spend: SpendLimits): Cap[] {
  const { rollingHour = spend.perHour, rollingDay = spend.perDay } = spend;
  const whole: SpendLimits = { ...spend, rollingHour, rollingDay };
  return spendKeys().flatMap((key) => moneyList(whole[key]).map((money): Cap => ({ scope, window: SPEND_KEYS[key], money })));
}

/** Floors with what is left out filled in: lanes not named share what the named ones leave, in their usual proportion. */
export function floorsOf(given: { readonly [lane in Lane]?: number | undefined } = {}): LaneFloors {
  if (LANES.every((lane) => given[lane] === undefined)) return DEFAULT_FLOORS;
  const named = LANES.reduce((sum, lane) => sum + (given[lane] ?? 0), 0);
  const usual = LANES.reduce((sum, lane) => sum + (given[lane] === undefined ? DEFAULT_FLOORS[lane] : 0), 0);
  const share = usual === 0 ? 0 : Math.max(0, Math.min(1, (100 - named) / usual));
  const floor = (lane: Lane): number => given[lane] ?? DEFAULT_FLOORS[lane] * share;
  return {
    obligation: floor("obligation"),
    reply: floor("reply"),
    act: floor("act"),
    watch: floor("watch"),
    poll: floor("poll"),
    explore: floor("explore"),
  };
}

/** A price as a profile or configuration states it. Anything that is no clear price is `unknown`, which refuses. */
export function priceOf(stated: unknown): Price {
  if (stated === "free") return { kind: "free" };
  return isMoney(stated) ? { kind: "priced", worst: stated } : { kind: "unknown" };
}

function checkSpend(spend: unknown): LimitProblem[] {
  if (!isObject(spend)) return [error("spend", "is not an object", "caps such as { perDay: credits(40) }")];
  const problems: LimitProblem[] = Object.keys(spend)
    .filter((key) => !Object.hasOwn(SPEND_KEYS, key))
    .map((key) => error(`spend.${key}`, "is not a cap", spendKeys().join(", ")));
  const found = new Map<keyof SpendLimits, Money[]>();
  for (const key of spendKeys()) {
    const value: unknown = spend[key];
    if (value === undefined) continue;
    const list: unknown[] = Array.isArray(value) ? value : [value];
    const good = list.filter(isMoney);
    for (const item of list) if (!isMoney(item)) problems.push(error(`spend.${key}`, whyNoMoney(item), "an amount such as credits(40)"));
    if (new Set(good.map(({ currency }) => currency)).size < good.length) problems.push(error(`spend.${key}`, "states one currency twice"));
    found.set(key, good);
  }
  return [...problems, ...contradictions(found)];
}

function contradictions(found: ReadonlyMap<keyof SpendLimits, readonly Money[]>): LimitProblem[] {
  const problems = new Map<string, LimitProblem>();
  for (const chain of NESTED)
    for (const [i, narrow] of chain.entries())
      for (const wide of chain.slice(i + 1))
        for (const small of found.get(narrow) ?? []) {
          const large = (found.get(wide) ?? []).find(({ currency }) => currency === small.currency);
          if (large === undefined || small.micros <= large.micros) continue;
          const message = `${showMoney(small)} is above spend.${wide} (${showMoney(large)}), so it could never be reached`;
          problems.set(`${narrow} ${wide} ${small.currency}`, error(`spend.${narrow}`, message));
        }
  return [...problems.values()];
}

function checkFloors(lanes: unknown): LimitProblem[] {
  if (!isObject(lanes)) return [error("lanes", "is not an object", "per cent by lane, such as { reply: 40 }")];
  const problems: LimitProblem[] = [];
  let sum = 0;
  for (const [lane, floor] of Object.entries(lanes)) {
    if (!LANES.some((name) => name === lane)) problems.push(error(`lanes.${lane}`, "is not a lane", LANES.join(", ")));
    else if (typeof floor !== "number" || !(floor >= 0 && floor <= 100))
      problems.push(error(`lanes.${lane}`, `is ${shown(floor)}`, "per cent, from 0 to 100"));
    else sum += floor;
  }
  if (sum > 100) problems.push(error("lanes", `the floors add up to ${sum} %`, "at most 100 % together"));
  return problems;
}

const COUNTS = ["repliesPerThread", "repliesPerAuthorPerHour", "repliesPerHour", "hops"] as const;

function checkBrakes(brakes: unknown): LimitProblem[] {
  if (!isObject(brakes)) return [error("brakes", "is not an object", "brakes such as { repliesPerThread: 2 }")];
  const problems: LimitProblem[] = [];
  for (const [name, value] of Object.entries(brakes)) {
    if (COUNTS.some((count) => count === name)) {
      if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0)
        problems.push(error(`brakes.${name}`, `is ${shown(value)}`, "a whole number, 0 or more"));
    } else if (name === "sameTextWithin") {
      const why = whyNoDuration(value);
      if (why !== undefined) problems.push(error("brakes.sameTextWithin", why));
    } else problems.push(error(`brakes.${name}`, "is not a brake", [...COUNTS, "sameTextWithin"].join(", ")));
  }
  return problems;
}

function whyNoDuration(value: unknown): string | undefined {
  if (typeof value !== "number" && typeof value !== "string") return "is not a duration";
  try {
    durationMs(value);
    return undefined;
  } catch (problem) {
    return messageOf(problem);
  }
}

function checkPrices(prices: unknown, may: readonly string[]): LimitProblem[] {
  if (!isObject(prices)) return [error("prices", "is not an object", 'prices by operation, such as { "posts.create": "free" }')];
  const problems: LimitProblem[] = [];
  for (const [operation, stated] of Object.entries(prices))
    if (stated !== "free" && stated !== "unknown" && !isMoney(stated))
      problems.push(error(`prices.${operation}`, whyNoMoney(stated), '"free", "unknown", or an amount such as credits(2)'));
  for (const operation of may)
    if (!Object.hasOwn(prices, operation) || prices[operation] === "unknown")
      problems.push({
        path: `prices.${operation}`,
        message: "the price is not known, so it will be refused",
        expected: '"free" or an amount',
        severity: "warning",
      });
  return problems;
}

function isMoney(value: unknown): value is Money {
  return whyNoMoney(value) === "";
}

/** Empty where it is an amount. */
function whyNoMoney(value: unknown): string {
  if (value === null || value === undefined) return "states no amount";
  if (typeof value === "number") return `${value} has no currency`;
  if (typeof value !== "object" || !("currency" in value) || !("micros" in value)) return "is not an amount";
  const { currency, micros } = value;
  if (typeof currency !== "string" || !CURRENCIES.includes(currency))
    return `there is no currency ${JSON.stringify(currency)} (${CURRENCIES.join(", ")})`;
  if (typeof micros !== "number" || Number.isNaN(micros)) return "the amount is not a number";
  if (micros < 0) return "the amount is negative";
  return Number.isSafeInteger(micros) ? "" : "the amount is not a whole number of millionths";
}

function moneyList(value: Money | readonly Money[] | undefined): readonly Money[] {
  if (value === undefined) return [];
  return "currency" in value ? [value] : value;
}

function spendKeys(): (keyof SpendLimits)[] {
  return ["perAction", "perHour", "perDay", "perMonth", "total", "rollingHour", "rollingDay", "rollingMonth"];
}

function shown(value: unknown): string {
  if (typeof value === "number") return `${value}`;
  return typeof value === "string" ? JSON.stringify(value) : `a ${typeof value}`;
}

function error(path: string, message: string, expected?: string): LimitProblem {
  return { path, message, severity: "error", ...(expected === undefined ? {} : { expected }) };
}
