/** What the schedule needs of a store: when each source and each followed object is to be looked at again. */
import type { Lane } from "../contract/operations.ts";
import type { Handle } from "../core/ids.ts";
import type { JsonObject } from "../core/json.ts";

/** What of a specialist can be due. In the order of the flow. */
export const WORK_KINDS = ["deliveries", "events", "intents", "doubts", "schedules", "sources", "watches"] as const;
export type WorkKind = (typeof WORK_KINDS)[number];

/** Something looked at regularly: the feed, the jobs, a cron schedule. */
export interface SourceRow {
  readonly name: string;
  readonly cursor: JsonObject;
  readonly dueAt: number | null;
}

/** Where the data of a followed job say when it was last seen; a nudge takes it out. */
export const LOOKED_AT = "lookedAt";

/** How a followed object begins: what of its row is not known from elsewhere. */
export function newWatch(kind: WatchRow["kind"], now: number): Pick<WatchRow, "state" | "data"> {
  return kind === "job" ? { state: "applied", data: { status: "applied", followedAt: now } } : { state: "open", data: { newsAt: now } };
}

/** An object followed until it is settled. */
export interface WatchRow {
  readonly kind: "job" | "thread";
  readonly object: string;
  readonly state: string;
  readonly data: JsonObject;
  readonly dueAt: number | null;
}

/** Standings of a job that may need a look and a delivery: each sets requests aside. */
export const OWED_STANDINGS: readonly string[] = ["applied", "assigned", "rejected"];

/** When the first thing of a specialist is due; undefined where nothing is. */
export interface FirstDue {
  readonly specialist: Handle;
  /** Of events, intents, doubts, deliveries and followed objects. */
  readonly workAt: number | undefined;
  /** Of sources. */
  readonly lookAt: number | undefined;
}

export interface SourceStore {
  sources(specialist: Handle): Promise<readonly SourceRow[]>;
  /** Applications first: what may be owed never waits for what is not. */
  dueWatches(specialist: Handle, now: number, limit: number): Promise<readonly WatchRow[]>;
  /** Puts off to `until` whatever is due and stands alike: one refusal speaks for all that ask for the same place. */
  postponeWatches(specialist: Handle, now: number, until: number, alike: Pick<WatchRow, "kind" | "state">): Promise<void>;
  /** How many jobs are followed in each standing. */
  jobStandings(specialist: Handle): Promise<ReadonlyMap<string, number>>;
  /** Those of these objects that are or were followed. */
  watchesOf(specialist: Handle, kind: WatchRow["kind"], objects: readonly string[]): Promise<readonly WatchRow[]>;
  /** Followed objects that are not settled yet, by kind. */
  openWatches(specialist: Handle, kind: WatchRow["kind"], limit: number): Promise<readonly WatchRow[]>;
  findWatch(specialist: Handle, kind: WatchRow["kind"], object: string): Promise<WatchRow | undefined>;
  /** The earliest time anything of the specialist's is due, over events, intents of these lanes, doubts, sources and watches. */
  nextDue(specialist: Handle, lanes: readonly Lane[]): Promise<number | undefined>;
  /** The parts that have something due by now, as `nextDue` counts it. */
  dueWork(specialist: Handle, lanes: readonly Lane[], now: number): Promise<readonly WorkKind[]>;
  /** The same of all specialists at once, whatever the lane, for the start. */
  firstDues(): Promise<readonly FirstDue[]>;
}
