/** A specialist's state of a watched object, stored in the object's row: parsed and written in one place. */
import type { Job } from "../contract/records.ts";
import { defined } from "../core/defined.ts";
import { numberIn, textIn, textsIn, type JsonObject } from "../core/json.ts";
import { LOOKED_AT, MAX_TITLE, type WatchRow } from "../store/sources.ts";

/** Progress of a job that a specialist applied for. */
export interface JobProgress {
  readonly status: string;
  /** Number of assignments, acceptances and rejections: a job assigned twice is two events. */
  readonly assigned: number;
  readonly accepted: number;
  readonly rejected: number;
  readonly paid: number;
  /** Id of a delivery that reported a rejection which no read has shown yet. */
  readonly toldRejected?: string;
  /** Id of the latest such delivery that was handled; the job reads as assigned meanwhile. */
  readonly heardRejected?: string;
}

/** Reported parts of a thread. */
export interface ThreadProgress {
  /** Ids of replies. */
  readonly seen: readonly string[];
  readonly votes: number;
  readonly newsAt: number;
}

/** Progress of a job that a specialist offered. */
export interface OwnJobProgress {
  readonly status: string;
  /** The largest number of applications that was seen. */
  readonly applications: number;
  readonly delivered: number;
  readonly accepted: number;
}

/** A job as it was last seen, for people; no decision depends on it. */
export type SeenJob = Pick<Job, "title" | "reward" | "deadlineMs">;

interface Looks {
  /** Consecutive checks without news: the interval grows with them. */
  readonly looks: number;
  /** Time of the last news, or the start of the watch; undefined before the first check. */
  readonly followedAt: number | undefined;
}

export interface JobState extends Looks {
  readonly kind: "job";
  readonly progress: JobProgress;
  readonly seen: SeenJob;
  /** Time at which it was last seen itself, or open on a list. */
  readonly lookedAt: number | undefined;
  /** Consecutive checks deferred because a list showed it open. */
  readonly deferred: number;
  /** Its first check was delayed until the likely time of assignment. */
  readonly planned: boolean;
}

export interface ThreadState extends Looks {
  readonly kind: "thread";
  readonly progress: ThreadProgress;
}

export interface OwnJobState extends Looks {
  readonly kind: "own_job";
  readonly progress: OwnJobProgress;
}

export type WatchState = JobState | OwnJobState | ThreadState;

/** `now` counts as the last news of a thread without stored state. */
export function readWatchState({ kind, data }: Pick<WatchRow, "kind" | "data">, now: number): WatchState {
  const looks = { looks: numberIn(data, "looks") ?? 0, followedAt: numberIn(data, "followedAt") };
  if (kind === "thread") return { ...looks, kind, progress: readThreadProgress(data, now) };
  if (kind === "own_job") return { ...looks, kind, progress: readOwnJobProgress(data) };
  const checks = { lookedAt: numberIn(data, LOOKED_AT), deferred: numberIn(data, "putOff") ?? 0, planned: data["planned"] === true };
  return { ...looks, ...checks, kind, progress: readJobProgress(data), seen: readSeen(data) };
}

/** Stored under the names of the first version. */
export function storeWatchState(state: WatchState): JsonObject {
  const { looks, followedAt } = state;
  const common = { looks, ...(followedAt === undefined ? {} : { followedAt }) };
  if (state.kind !== "job") return { ...state.progress, ...common };
  const { progress, lookedAt, deferred, planned, seen } = state;
  const checks = { ...(lookedAt === undefined ? {} : { [LOOKED_AT]: lookedAt }), putOff: deferred };
  return { ...progress, ...common, ...checks, ...(planned ? { planned } : {}), ...defined(seen) };
}

/** What a record leaves out is as it was seen before. */
export function seenIn({ title, reward, deadlineMs }: Job, before: SeenJob): SeenJob {
  return { ...before, ...defined({ title: title?.slice(0, MAX_TITLE), reward, deadlineMs }) };
}

function readSeen(stored: JsonObject): SeenJob {
  return defined({ title: textIn(stored, "title"), reward: numberIn(stored, "reward"), deadlineMs: numberIn(stored, "deadlineMs") });
}

function readJobProgress(stored: JsonObject): JobProgress {
  return {
    status: textIn(stored, "status") ?? "applied",
    assigned: numberIn(stored, "assigned") ?? 0,
    accepted: numberIn(stored, "accepted") ?? 0,
    rejected: numberIn(stored, "rejected") ?? 0,
    paid: numberIn(stored, "paid") ?? 0,
    ...defined({ toldRejected: textIn(stored, "toldRejected"), heardRejected: textIn(stored, "heardRejected") }),
  };
}

function readOwnJobProgress(stored: JsonObject): OwnJobProgress {
  return {
    status: textIn(stored, "status") ?? "open",
    applications: numberIn(stored, "applications") ?? 0,
    delivered: numberIn(stored, "delivered") ?? 0,
    accepted: numberIn(stored, "accepted") ?? 0,
  };
}

function readThreadProgress(stored: JsonObject, now: number): ThreadProgress {
  return { seen: textsIn(stored, "seen") ?? [], votes: numberIn(stored, "votes") ?? 0, newsAt: numberIn(stored, "newsAt") ?? now };
}
