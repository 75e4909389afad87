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

const STAGES: { readonly [status: string]: JobStage | undefined } = { applied: "given", submitted: "judged", accepted: "paid" };

/** Undefined if the next step is ours. */
export function stageOf(status: string): JobStage | undefined {
  return STAGES[status];
}

/** Statuses in which a job has been assigned to us. */
export function isOurs(status: string): boolean {
  return status === "assigned" || status === "submitted" || status === "accepted";
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
  /** Requests of one round of checks of them all: one if a list shows them. */
  readonly calls: number;
  readonly limits: TierLimits;
  /** Requests that the hour and the day have left. */
  readonly room: { readonly hour: number; readonly day: number };
  /** From 0 to 1, to spread the checks of jobs in the same stage. */
  readonly chance: number;
}

const SOONEST_MS = SECOND;
/** Longest interval of checks while an assignment is expected and the quota has room: a minute, less the time that a check waits and takes. */
const APART_MS = 50 * SECOND;
export const UNKNOWN_UNTIL_MS = 10 * MINUTE;
/** Later checks: an event goes unnoticed for at most this share of its age, or of the time since the latest usual one. */
const SHARE_OF_AGE = 0.25;
const SHARE_LATE = 0.5;
const SHARE_WITH_ROOM = 1 / 60;
const LONGEST_MS = 10 * MINUTE;
/** Share of the hour, and of the day, for checks of applications that are late. */
const HOUR_SHARE = 0.5;
const DAY_SHARE = 0.5;
/** Share of the events still to come that each of the first checks waits for. */
const AIMS: readonly number[] = [0.35, 0.5, 0.97];
/** Share of the events to come that is taken for the earliest: a part of what is learnt is spread over the span of a check. */
const EARLIEST = 0.02;
/** Share of all events that is over by the latest usual time. */
const LATEST = 0.98;

/** Delay of the next check of a job applied for. */
export function pauseUntilGiven(wait: Wait): number {
  const { ageMs, learnt, calls, limits } = wait;
  const sustainedMs = calls * Math.max(HOUR / (limits.perHour * HOUR_SHARE), DAY / (limits.perDay * DAY_SHARE));
  const pauseMs = learnt.length === 0 && ageMs < UNKNOWN_UNTIL_MS ? unknownMs(wait) : (expectedMs(wait) ?? lateMs(wait, sustainedMs));
  // A late check that finds it assigned says nothing of how late it is.
  return Math.round(Math.max(SOONEST_MS, Math.min(pauseMs, Math.max(LONGEST_MS, sustainedMs))));
}

/** Checks a minute of all jobs together while nothing is known: the first that finds one assigned plans the others. */
const FEWEST_A_MINUTE = 10;

/** While nothing is known, checks double the age up to a minute; of many jobs, only some are checked each minute. */
function unknownMs(wait: Wait): number {
  const { ageMs, looks, calls, room, chance } = wait;
  if (looks === 0) return SOONEST_MS;
  if (calls === 1) return Math.min(APART_MS, ageMs);
  const perMinute = Math.max(FEWEST_A_MINUTE, (room.hour * MINUTE) / UNKNOWN_UNTIL_MS);
  const everyMs = Math.max(apartMs(wait, ageMs / 2), (calls * MINUTE) / perMinute);
  return looks === 1 ? Math.max(everyMs * chance, APART_MS / 2) : everyMs;
}

/** Undefined if the assignment is not expected soon: it is late, or few of these jobs are ever assigned. */
function expectedMs(wait: Wait): number | undefined {
  const { ageMs, looks, learnt } = wait;
  const half = delayAt(learnt, ageMs, 0.5);
  const earliest = delayAt(learnt, 0, EARLIEST, "lower");
  if (half === undefined || earliest === undefined) return undefined;
  const fromMs = Math.max(0, earliest - ageMs);
  const isSoon = half <= 2 * ageMs + APART_MS;
  if (fromMs === 0 && !isSoon && looks >= NOTICE_CALLS) return undefined;
  const share = AIMS[looks];
  const aimedMs = share === undefined ? Infinity : (delayAt(learnt, ageMs, share) ?? Infinity) - ageMs;
  const grownMs = Math.max(APART_MS, ageMs * SHARE_OF_AGE);
  const everyMs = isSoon ? apartMs(wait, half - ageMs) : grownMs;
  return Math.min(aimedMs, fromMs + (looks > 0 && share !== undefined ? Math.min(everyMs, grownMs) : everyMs));
}

/** Most checks that an application reserves. */
const MOST_NOTICE_CALLS = 12;
/** Spread of most assignments beyond which no number of requests notices each of them within a minute. */
const WIDEST_MS = HOUR;
/** Share of the assignments for which checks are reserved. */
const RESERVED = 0.6;

/** Checks of a job until it is seen to be assigned, at their least interval from the earliest usual time. */
export function noticeCalls(learnt: LearntDelay): number {
  const earliest = delayAt(learnt, 0, EARLIEST, "lower");
  const usual = delayAt(learnt, 0, RESERVED);
  if (earliest === undefined || usual === undefined || usual - earliest > WIDEST_MS) return NOTICE_CALLS;
  return Math.max(NOTICE_CALLS, Math.min(MOST_NOTICE_CALLS, Math.ceil((usual - earliest) / APART_MS)));
}

/** The least interval of checks over a time to come, by the requests left after one delivery each, or half of them. */
function apartMs({ waiting, calls, room }: Wait, comingMs: number): number {
  const pace = (left: number, windowMs: number): number =>
    Math.min(Math.max(APART_MS, comingMs), windowMs) / Math.max(1, left - waiting, left / 2);
  return Math.max(APART_MS, calls * Math.max(pace(room.hour, HOUR), pace(room.day, DAY)));
}

/** Checks of a late assignment become rarer with its lateness. Those that its application reserved need no room. */
function lateMs(wait: Wait, sustainedMs: number): number {
  const { ageMs, looks, learnt } = wait;
  const hasPassed = delayAt(learnt, ageMs, 0.5) === undefined;
  const usualMs = hasPassed ? Math.max(0, ageMs - (delayAt(learnt, 0, LATEST) ?? 0)) * SHARE_LATE : ageMs * SHARE_OF_AGE;
  const agedMs = sustainedMs <= APART_MS ? ageMs * SHARE_WITH_ROOM : usualMs;
  if (looks < NOTICE_CALLS) return Math.min(ageMs * SHARE_OF_AGE, Math.max(APART_MS, agedMs));
  return Math.max(agedMs, apartMs(wait, ageMs), Math.min(sustainedMs, ageMs - UNKNOWN_UNTIL_MS));
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
