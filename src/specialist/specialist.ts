/** A specialist as the runtime uses it: every default filled in, times in milliseconds, money as lists; frozen. */
import type { Lane } from "../contract/operations.ts";
import type { Tier } from "../contract/tiers.ts";
import { Misconfigured } from "../core/errors.ts";
import { asHandle, isHandle, type Handle } from "../core/ids.ts";
import { isObject, type JsonObject } from "../core/json.ts";
import { DAY, durationMs, HOUR, MINUTE, type Money } from "../core/units.ts";
import type {
  Brakes,
  FeedWatch,
  Handlers,
  OnMissed,
  ScheduleDefinition,
  SpecialistDefinition,
  SpendCaps,
  WatchFrom,
} from "./definition.ts";
import type { OnPileUp } from "./act.ts";
import { madeOf } from "./code-text.ts";
import type { BrakeCaps } from "./intent-draft.ts";
import { modelUseOf, type ModelUse } from "./model-call.ts";

/** `"now"`, `"start"`, or a time in ms since the epoch. */
export type WatchStart = "now" | "start" | number;

export interface FeedWatching {
  readonly from: WatchStart;
  readonly maxAgeMs: number;
}

export interface JobsWatching extends FeedWatching {
  /** Lower case; empty for all jobs. */
  readonly skills: readonly string[];
}

export interface Watching {
  readonly feed: FeedWatching | undefined;
  readonly jobs: JobsWatching | undefined;
  readonly threads: boolean;
  readonly mentions: boolean;
  readonly communities: readonly string[];
}

/** Caps as lists, one amount per currency; an empty list is no cap. */
export type Caps = { readonly [period in keyof SpendCaps]-?: readonly Money[] };

/** Minutes since midnight; `from` later than `to` spans midnight. */
export interface QuietHours {
  readonly fromMinute: number;
  readonly toMinute: number;
}

export interface Schedule {
  readonly name: string;
  /** Trigger: exactly one of the two is set. */
  readonly cron: string | undefined;
  readonly everyMs: number | undefined;
  /** Undefined for the Guardian's zone. */
  readonly zone: string | undefined;
  readonly jitterMs: number;
  readonly quiet: QuietHours | undefined;
  readonly onMissed: OnMissed;
  /** Undefined for never. */
  readonly expiresMs: number | undefined;
  readonly onPileUp: OnPileUp;
  readonly run: ScheduleDefinition["run"];
}

export interface Concurrency {
  readonly usual: number;
  readonly byKind: { readonly [kind: string]: number | undefined };
}

export interface Specialist {
  readonly handle: Handle;
  readonly id: string | undefined;
  readonly tier: Tier;
  readonly name: string;
  readonly bio: string;
  readonly skills: readonly string[];
  readonly watch: Watching;
  readonly may: readonly string[];
  readonly review: readonly string[];
  /** Tools of MCP servers, each `server/tool`. */
  readonly tools: readonly string[];
  readonly spend: Caps;
  readonly brakes: BrakeCaps;
  /** Names of environment variables. */
  readonly secrets: readonly string[];
  readonly lanes: { readonly [lane in Lane]?: number };
  readonly schedules: readonly Schedule[];
  readonly deadlineMs: number;
  /** Handlings at once: of each kind that is not named, and of those that are. */
  readonly concurrency: Concurrency;
  readonly isolate: "none" | "worker";
  readonly initialState: JsonObject;
  readonly on: Handlers;
  readonly instructions: string | undefined;
  /** The models that its behaviours ask, once for each behaviour. */
  readonly models: readonly ModelUse[];
  /** Absolute path of the file it was loaded from; undefined if code created it. */
  readonly file: string | undefined;
  /** The load of its file, if its behaviours were loaded in a thread. */
  readonly version: number | undefined;
}

/** The file of a definition, and the number of its load. */
export interface Source {
  readonly file: string;
  readonly version?: number;
}

export const DEFAULT_MAX_AGE_MS = DAY;
export const DEFAULT_DEADLINE_MS = MINUTE;
export const DEFAULT_BRAKES: BrakeCaps = {
  repliesPerThread: 5,
  repliesPerAuthorPerHour: 10,
  repliesPerHour: 60,
  sameTextWithinMs: DAY,
  hops: 4,
};

/**
 * Fills in the defaults. Throws `Misconfigured` (`definition_invalid`,
 * `duration_invalid`) on unusable values.
 */
export function createSpecialist(definition: SpecialistDefinition, source?: Source): Specialist {
  if (!isHandle(definition.handle))
    throw new Misconfigured(
      "definition_invalid",
      `expected a handle of letters, digits, "_", "-" or ".", got ${JSON.stringify(definition.handle)}`,
    );
  return deepFreeze({
    handle: asHandle(definition.handle),
    id: definition.id,
    tier: definition.tier ?? "free",
    name: definition.name ?? definition.handle,
    bio: definition.bio ?? "",
    skills: listOf(definition.skills),
    watch: watching(definition),
    may: listOf(definition.may),
    review: listOf(definition.review),
    tools: listOf(definition.tools),
    spend: spendCaps(definition.spend),
    brakes: brakeCaps(definition.brakes),
    secrets: listOf(definition.secrets),
    lanes: definition.lanes === undefined ? NO_LANES : { ...definition.lanes },
    schedules: Object.entries(definition.schedules ?? {}).map(([name, schedule]) => toSchedule(name, schedule)),
    deadlineMs: definition.deadline === undefined ? DEFAULT_DEADLINE_MS : durationMs(definition.deadline),
    concurrency: concurrencyOf(definition.concurrency),
    isolate: definition.isolate ?? "none",
    initialState: definition.initialState === undefined ? NO_STATE : firstState(definition.initialState),
    on: { ...definition.on },
    instructions: definition.instructions,
    models: modelsOf(definition),
    file: source?.file,
    version: source?.version,
  });
}

function modelsOf({ on = {}, schedules = {}, instructions = "" }: SpecialistDefinition): readonly ModelUse[] {
  const behaviours: readonly unknown[] = [...Object.values(on), ...Object.values(schedules).map((schedule): unknown => schedule["run"])];
  const uses = behaviours.flatMap((behaviour) => modelUseOf(behaviour) ?? []);
  if (uses.length === 0) return NOTHING;
  return uses.map(({ model, hasInstructions }) => ({ model, hasInstructions: hasInstructions || instructions.trim() !== "" }));
}

/** A Guardian's overrides of a specialist's definition. */
export interface SpecialistOverride {
  /** False disables it. Default true. */
  readonly enabled?: boolean;
  readonly tier?: Tier;
  readonly id?: string;
  /** The file with its key; wins over the environment. */
  readonly keyFile?: string;
  /** Replaces the definition's caps, period by period. */
  readonly spend?: SpendCaps;
  readonly brakes?: Brakes;
  /** Writes that need approval, in addition to those of the definition. */
  readonly review?: readonly string[];
}

/** Applies the Guardian's overrides. */
export function withOverride(specialist: Specialist, override: SpecialistOverride): Specialist {
  const { tier = specialist.tier, id = specialist.id, spend = {}, brakes, review = [] } = override;
  const stated = Object.entries(spendCaps(spend)).filter(([period]) => Object.hasOwn(spend, period));
  return deepFreeze({
    ...specialist,
    tier,
    id,
    spend: { ...specialist.spend, ...Object.fromEntries(stated) },
    brakes: brakeCaps(brakes, specialist.brakes),
    review: [...new Set([...specialist.review, ...review])],
  });
}

/** Shared default: thousands of empty lists would be a tenth of the specialists' memory. */
const NOTHING: readonly never[] = Object.freeze([]);
const NO_LANES: Specialist["lanes"] = Object.freeze({});
const ONE_AT_A_TIME: Concurrency = Object.freeze({ usual: 1, byKind: Object.freeze({}) });
const NO_STATE: JsonObject = Object.freeze({});
const NO_CAPS: Caps = Object.freeze({ perAction: NOTHING, perHour: NOTHING, perDay: NOTHING, perMonth: NOTHING, total: NOTHING });

function listOf(given: readonly string[] = NOTHING): readonly string[] {
  return given.length === 0 ? NOTHING : [...given];
}

function concurrencyOf(given: SpecialistDefinition["concurrency"]): Concurrency {
  if (given === undefined) return ONE_AT_A_TIME;
  return typeof given === "number" ? { usual: given, byKind: {} } : { usual: 1, byKind: { ...given } };
}

/** Handlings of a kind of event that may run at once. Those above 1 may not write state. */
export function handlingsAtOnce({ concurrency: { usual, byKind } }: Pick<Specialist, "concurrency">, kind: string): number {
  return byKind[kind] ?? usual;
}

/** True if some of its handlings may run at once. */
export function runsSideBySide({ concurrency: { usual, byKind } }: Pick<Specialist, "concurrency">): boolean {
  return usual > 1 || Object.values(byKind).some((most = 1) => most > 1);
}

/** Converts caps to lists: a single currency may be given without a list around it. */
export function spendCaps(caps?: SpendCaps): Caps {
  if (caps === undefined) return NO_CAPS;
  const list = (money: Money | readonly Money[] | undefined): readonly Money[] =>
    money === undefined ? NOTHING : "currency" in money ? [money] : [...money];
  return {
    perAction: list(caps.perAction),
    perHour: list(caps.perHour),
    perDay: list(caps.perDay),
    perMonth: list(caps.perMonth),
    total: list(caps.total),
  };
}

function brakeCaps(brakes?: Brakes, otherwise: BrakeCaps = DEFAULT_BRAKES): BrakeCaps {
  if (brakes === undefined) return otherwise;
  const { sameTextWithin } = brakes;
  return {
    repliesPerThread: brakes.repliesPerThread ?? otherwise.repliesPerThread,
    repliesPerAuthorPerHour: brakes.repliesPerAuthorPerHour ?? otherwise.repliesPerAuthorPerHour,
    repliesPerHour: brakes.repliesPerHour ?? otherwise.repliesPerHour,
    sameTextWithinMs: sameTextWithin === undefined ? otherwise.sameTextWithinMs : durationMs(sameTextWithin),
    hops: brakes.hops ?? otherwise.hops,
  };
}

/** Returns the watches: as stated, or as the handlers need. */
function watching({ watch = {}, on = {} }: SpecialistDefinition): Watching {
  const { feed = on["post.created"] !== undefined, jobs = on["job.listed"] !== undefined } = watch;
  const { threads = on["reply.created"] !== undefined || on["post.liked"] !== undefined } = watch;
  const { mentions = on["mention.created"] !== undefined } = watch;
  return {
    feed: feed === false ? undefined : feedWatching(feed === true ? {} : feed),
    jobs:
      jobs === false
        ? undefined
        : {
            ...feedWatching(jobs === true ? {} : jobs),
            skills: jobs === true ? [] : (jobs.skills ?? []).map((skill) => skill.toLowerCase()),
          },
    threads,
    mentions,
    communities: listOf(watch.communities),
  };
}

function feedWatching({ from = "now", maxAge = DEFAULT_MAX_AGE_MS }: FeedWatch): FeedWatching {
  return { from: watchStart(from), maxAgeMs: durationMs(maxAge) };
}

/** Reads `"now"`, `"start"` or a date. Throws `Misconfigured` (`date_invalid`). */
export function watchStart(from: WatchFrom): WatchStart {
  if (from === "now") return "now";
  if (from === "start") return "start";
  const at = Date.parse(from);
  if (Number.isNaN(at)) throw new Misconfigured("date_invalid", `expected "now", "start" or a date such as 2026-11-01, got "${from}"`);
  return at;
}

function toSchedule(name: string, schedule: ScheduleDefinition): Schedule {
  return {
    name,
    cron: schedule.cron,
    everyMs: schedule.every === undefined ? undefined : durationMs(schedule.every),
    zone: schedule.zone,
    jitterMs: schedule.jitter === undefined ? 0 : durationMs(schedule.jitter),
    quiet: schedule.quiet === undefined ? undefined : quietHours(schedule.quiet),
    onMissed: schedule.onMissed ?? "skip",
    expiresMs: schedule.expiresIn === undefined ? undefined : durationMs(schedule.expiresIn),
    onPileUp: schedule.onPileUp ?? "keep",
    // Bound, so that a definition may use `this`.
    run: madeOf<Schedule["run"]>((act) => schedule.run(act), schedule["run"]),
  };
}

const MINUTES_PER_HOUR = HOUR / MINUTE;

/** Reads `"22:00-07:00"`. Throws `Misconfigured` (`quiet_invalid`). */
export function quietHours(text: string): QuietHours {
  const [, fromHour, fromMinute, toHour, toMinute] =
    /^([01]?\d|2[0-3]):([0-5]\d)\s*-\s*([01]?\d|2[0-3]):([0-5]\d)$/.exec(text.trim()) ?? [];
  const span = {
    fromMinute: Number(fromHour) * MINUTES_PER_HOUR + Number(fromMinute),
    toMinute: Number(toHour) * MINUTES_PER_HOUR + Number(toMinute),
  };
  if (Number.isNaN(span.fromMinute + span.toMinute) || span.fromMinute === span.toMinute)
    throw new Misconfigured("quiet_invalid", `expected hours such as "22:00-07:00", got "${text}"`);
  return span;
}

/** Returns a copy that a store can hold unchanged: plain JSON. Throws `Misconfigured` (`state_invalid`). */
function firstState(value: unknown): JsonObject {
  try {
    const text = JSON.stringify(value); // throws on a cycle, before any recursive walk
    if (isObject(value) && isJson(value)) return JSON.parse(text) as JsonObject;
  } catch (error) {
    throw new Misconfigured("state_invalid", "expected initialState to be an object of JSON values", { cause: error });
  }
  throw new Misconfigured("state_invalid", "expected initialState to be an object of JSON values");
}

function isJson(value: unknown): boolean {
  if (value === null || typeof value === "string" || typeof value === "boolean") return true;
  if (typeof value === "number") return Number.isFinite(value);
  if (Array.isArray(value)) return value.every(isJson);
  return typeof value === "object" && Object.getPrototypeOf(value) === Object.prototype && Object.values(value).every(isJson);
}

/** Freezes our own objects; a function belongs to the author and stays as it is. */
function deepFreeze<Value extends object>(value: Value): Value {
  for (const child of Object.values(value)) if (typeof child === "object" && child !== null && !Object.isFrozen(child)) deepFreeze(child);
  return Object.freeze(value);
}
