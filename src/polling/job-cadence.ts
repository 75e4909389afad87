/** Times of a watched job's checks: by its stage, the learnt delay on this network, and the number of jobs in the same stage. */
import type { Lane } from "../contract/operations.ts";
import { DAY, HOUR, MINUTE, SECOND } from "../core/units.ts";
import type { TierLimits } from "../contract/tiers.ts";
import { delayAt, type LearntDelay } from "../limits/learnt-delay.ts";
import { DEFAULT_FLOORS, NOTICE_CALLS } from "../limits/lanes.ts";
import type { WatchRow } from "../store/sources.ts";

/** Stages of a watched job, each with its own delay. */
export const JOB_STAGES = ["given", "judged", "paid"] as const;
export type JobStage = (typeof JOB_STAGES)[number];

const STAGES: { readonly [standing: string]: JobStage | undefined } = { applied: "given", submitted: "judged", accepted: "paid" };

/** Undefined if the next step is ours. */
export function stageOf(standing: string): JobStage | undefined {
  return STAGES[standing];
}

/** An application may have to be delivered; a verdict or a payment needs no reaction. */
export function laneOf({ kind, state }: Pick<WatchRow, "kind" | "state">): Lane {
  const stage = kind === "job" ? stageOf(state) : undefined;
  return stage === undefined ? "watch" : stage === "given" ? "obligation" : "explore";
}

export interface Wait {
  /** Time since its status began. */
  readonly ageMs: number;
  /** Checks since then. */
  readonly looks: number;
  readonly learnt: LearntDelay;
  /** Watched objects in the same stage, itself included. */
  readonly waiting: number;
  readonly limits: TierLimits;
  /** From 0 to 1, to spread the checks of jobs in the same stage. */
  readonly chance: number;
}

const SOONEST_MS = SECOND;
/** First interval of checks while the delay is unknown. */
const UNKNOWN_MS = MINUTE;
export const UNKNOWN_UNTIL_MS = 10 * MINUTE;
/** Later checks: an event goes unnoticed for at most a quarter of its age. */
const SHARE_OF_AGE = 0.25;
const LONGEST_MS = 10 * MINUTE;
/** Share of the hour, and of the day, for checks of applications beyond their reserve. */
const HOUR_SHARE = 0.5;
const DAY_SHARE = 0.5;
/** Share of the events still to come that each check waits for; the first waits for less if there is room for more checks. */
const AIMS: readonly number[] = [0.35, 0.5, 0.97];
const FIRST_AIM = 0.1;

/** Delay of the next check of a job applied for. */
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
    // A late check that finds it assigned says nothing of how late it is.
    return Math.round(Math.max(SOONEST_MS, Math.min(aimedMs, longestMs)));
  }
  // While nothing is known, the checks of all jobs together find it out.
  const unknownMs = looks === 0 ? 0 : (waiting - 1) * perHourMs * 2 * chance;
  const leastMs = isUnknown ? unknownMs : looks < NOTICE_CALLS ? 0 : sustainedMs;
  return Math.round(Math.max(SOONEST_MS, Math.min(Math.max(grownMs, leastMs), Math.max(LONGEST_MS, leastMs))));
}

/** Delay of the first check while the delay is unknown. */
const FIRST_NEWS_MS = 5 * SECOND;
/** Checks aimed at the usual time; after them the event is late, and checks become rarer. */
const AIMED_LOOKS = 2;
/** Growth of the age from check to check: three times as old each time. */
const GROWTH = 2;

/** Delay of the next check for a verdict or payment: within the explore share, however many wait. */
export function pauseUntilNews({ ageMs, looks, learnt, waiting, limits }: Wait): number {
  const aim = looks < AIMED_LOOKS ? delayAt(learnt, ageMs, 0.5) : undefined;
  const grownMs = aim === undefined ? Math.max(FIRST_NEWS_MS, ageMs * GROWTH) : Math.max(FIRST_NEWS_MS, aim - ageMs);
  const perDay = Math.max(1, (limits.perDay * DEFAULT_FLOORS.explore) / 100);
  return Math.round(Math.max(grownMs, (waiting * DAY) / perDay));
}

/** Delay of a check while only our own next step is open: the job may have been taken back. */
export function pauseUntilTakenBack({ ageMs }: Pick<Wait, "ageMs">): number {
  return Math.min(HOUR, Math.max(LONGEST_MS, ageMs));
}
