/** When to look at a followed job again: by what it waits for, how long that takes on this network, and how many wait for the same. */
import type { Lane } from "../contract/operations.ts";
import { DAY, HOUR, MINUTE, SECOND } from "../core/units.ts";
import type { TierLimits } from "../contract/tiers.ts";
import { delayAt, type LearntDelay } from "../limits/learnt-delay.ts";
import { DEFAULT_FLOORS, NOTICE_CALLS } from "../limits/lanes.ts";
import type { WatchRow } from "../store/sources.ts";

/** What a followed job waits for, each with a delay of its own. */
export const JOB_STAGES = ["given", "judged", "paid"] as const;
export type JobStage = (typeof JOB_STAGES)[number];

const STAGES: { readonly [standing: string]: JobStage | undefined } = { applied: "given", submitted: "judged", accepted: "paid" };

/** Undefined where the next step is ours. */
export function stageOf(standing: string): JobStage | undefined {
  return STAGES[standing];
}

/** What is applied for may have to be delivered; a verdict or a payment is nothing anybody can act on. */
export function laneOf({ kind, state }: Pick<WatchRow, "kind" | "state">): Lane {
  const stage = kind === "job" ? stageOf(state) : undefined;
  return stage === undefined ? "watch" : stage === "given" ? "obligation" : "explore";
}

export interface Wait {
  /** Since the standing began. */
  readonly ageMs: number;
  /** At it, since then. */
  readonly looks: number;
  readonly learnt: LearntDelay;
  /** Followed objects that wait for the same, itself included. */
  readonly waiting: number;
  readonly limits: TierLimits;
  /** From 0 to 1, to look apart at what waits together. */
  readonly chance: number;
}

const SOONEST_MS = SECOND;
/** What nobody knows the pace of is looked at this often at least, at first. */
const UNKNOWN_MS = MINUTE;
export const UNKNOWN_UNTIL_MS = 10 * MINUTE;
/** Later it goes unnoticed for a quarter of its age at most. */
const SHARE_OF_AGE = 0.25;
const LONGEST_MS = 10 * MINUTE;
/** The part of the hour, and of the day, that looks at applications may use beyond those set aside for each. */
const HOUR_SHARE = 0.5;
const DAY_SHARE = 0.5;
/** What part of what is still to come each look waits for; the first waits for less where there is room for more looks. */
const AIMS: readonly number[] = [0.35, 0.5, 0.97];
const FIRST_AIM = 0.1;

/** Until the next look at a job applied for. */
export function pauseUntilGiven({ ageMs, looks, learnt, waiting, limits, chance }: Wait): number {
  const perHourMs = HOUR / (limits.perHour * HOUR_SHARE);
  const sustainedMs = waiting * Math.max(perHourMs, DAY / (limits.perDay * DAY_SHARE));
  const isUnknown = learnt.length === 0 && ageMs < UNKNOWN_UNTIL_MS;
  const grownMs = isUnknown ? Math.min(UNKNOWN_MS, ageMs) : ageMs * SHARE_OF_AGE;
  const hasRoom = sustainedMs <= UNKNOWN_MS;
  const aim = delayAt(learnt, ageMs, looks === 0 && hasRoom ? FIRST_AIM : (AIMS[looks] ?? 1));
  const longestMs = Math.max(LONGEST_MS, sustainedMs);
  if (looks < NOTICE_CALLS && aim !== undefined) {
    const aimedMs = looks > 0 ? Math.min(aim - ageMs, grownMs) : aim - ageMs;
    // A late look that finds it given says nothing of how late it is.
    return Math.round(Math.max(SOONEST_MS, Math.min(aimedMs, longestMs)));
  }
  // While nothing is known, the looks at all of them together find it out.
  const unknownMs = looks === 0 ? 0 : (waiting - 1) * perHourMs * 2 * chance;
  const leastMs = isUnknown ? unknownMs : looks < NOTICE_CALLS ? 0 : sustainedMs;
  return Math.round(Math.max(SOONEST_MS, Math.min(Math.max(grownMs, leastMs), Math.max(LONGEST_MS, leastMs))));
}

/** What nobody knows the pace of is looked at first after this. */
const FIRST_NEWS_MS = 5 * SECOND;
/** So many are aimed at when it usually comes; then it is late, and looked for ever more rarely. */
const AIMED_LOOKS = 2;
/** Each time three times as old as before. */
const GROWTH = 2;

/** Until the next look at a job whose verdict or payment is awaited: within the share of exploring, however many wait. */
export function pauseUntilNews({ ageMs, looks, learnt, waiting, limits }: Wait): number {
  const aim = looks < AIMED_LOOKS ? delayAt(learnt, ageMs, 0.5) : undefined;
  const grownMs = aim === undefined ? Math.max(FIRST_NEWS_MS, ageMs * GROWTH) : Math.max(FIRST_NEWS_MS, aim - ageMs);
  const perDay = Math.max(1, (limits.perDay * DEFAULT_FLOORS.explore) / 100);
  return Math.round(Math.max(grownMs, (waiting * DAY) / perDay));
}

/** While nothing is expected but our own next step: whether it was taken back. */
export function pauseUntilTakenBack({ ageMs }: Pick<Wait, "ageMs">): number {
  return Math.min(HOUR, Math.max(LONGEST_MS, ageMs));
}
