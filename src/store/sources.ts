/** Store interface of sources and watches, and of the due times of all work. */
import type { WatchKind } from "../contract/event.ts";
import type { Lane } from "../contract/operations.ts";
import type { Handle } from "../core/ids.ts";
import type { JsonObject } from "../core/json.ts";

/** Kinds of work of a specialist, in the order of the flow. */
export const WORK_KINDS = ["deliveries", "events", "intents", "doubts", "schedules", "sources", "watches"] as const;
export type WorkKind = (typeof WORK_KINDS)[number];

/** A source polled regularly: the feed, the jobs, a cron schedule. */
export interface SourceRow {
  readonly name: string;
  readonly cursor: JsonObject;
  readonly dueAt: number | null;
}

export type ChangeCursor = (cursor: JsonObject) => JsonObject | undefined;

/** Member of a watched job's data with the time of its last check; a nudge removes it. */
export const LOOKED_AT = "lookedAt";

/** Characters of a watched job's title that are kept. */
export const MAX_TITLE = 200;

/** Initial row of a watched object. */
export function newWatch(kind: WatchKind, now: number): Pick<WatchRow, "state" | "data"> {
  switch (kind) {
    case "job":
      return { state: "applied", data: { status: "applied", followedAt: now } };
    case "own_job":
      return { state: "open", data: { followedAt: now } };
    case "thread":
      return { state: "open", data: { newsAt: now } };
  }
}

/** An object watched until it is completed. */
export interface WatchRow {
  readonly kind: WatchKind;
  readonly object: string;
  readonly state: string;
  readonly data: JsonObject;
  readonly dueAt: number | null;
}

/** Statuses of a job that may need a check and a delivery: each reserves requests. */
export const OWED_STANDINGS: readonly string[] = ["applied", "assigned", "rejected"];

/** Earliest due times of a specialist; undefined if nothing is due. */
export interface FirstDue {
  readonly specialist: Handle;
  /** Of events, intents, doubts, deliveries and watched objects. */
  readonly workAt: number | undefined;
  /** Of sources. */
  readonly lookAt: number | undefined;
}

export interface SourceStore {
  sources(specialist: Handle): Promise<readonly SourceRow[]>;
  /**
   * Replaces the cursors of the sources of that name by results of `change`, which stand at the same due time, all in one transaction.
   * Undefined leaves a cursor as it is. Sources without a row are passed over.
   */
  changeCursors(name: string, specialists: readonly Handle[], change: ChangeCursor, now: number): Promise<void>;
  /** Applications first: obligations never wait for other watches. */
  dueWatches(specialist: Handle, now: number, limit: number): Promise<readonly WatchRow[]>;
  /** Postpones the due watches of the same kind and state to `until`: one refusal applies to all that need the same room. */
  postponeWatches(specialist: Handle, now: number, until: number, alike: Pick<WatchRow, "kind" | "state">): Promise<void>;
  /** Number of watched jobs by status. */
  jobStandings(specialist: Handle): Promise<ReadonlyMap<string, number>>;
  /** The objects among these that are or were watched. */
  watchesOf(specialist: Handle, kind: WatchKind, objects: readonly string[]): Promise<readonly WatchRow[]>;
  /** Open watches, by kind. */
  openWatches(specialist: Handle, kind: WatchKind, limit: number): Promise<readonly WatchRow[]>;
  findWatch(specialist: Handle, kind: WatchKind, object: string): Promise<WatchRow | undefined>;
  /** The earliest due time of the specialist, over events, intents of these lanes, doubts, sources and watches. */
  nextDue(specialist: Handle, lanes: readonly Lane[]): number | undefined;
  /** The kinds of work due by now, as `nextDue` counts them. */
  dueWork(specialist: Handle, lanes: readonly Lane[], now: number): readonly WorkKind[];
  /** The due times of all specialists, over all lanes, for the start. */
  firstDues(): Promise<readonly FirstDue[]>;
}
