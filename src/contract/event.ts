/** Types that edges hand to the stages: an event, and an object to watch. */
import type { EventId, Handle } from "../core/ids.ts";
import type { Json, JsonObject } from "../core/json.ts";

export type Via = "poll" | "webhook" | "runtime";

/** An event for one specialist. */
export interface NewEvent {
  readonly specialist: Handle;
  readonly id: EventId;
  readonly kind: string;
  /** Events of one thread are handled in the order they arrived. */
  readonly thread?: string;
  readonly payload: Json;
  readonly via: Via;
  /** Number of our own actions between an outside event and this one. */
  readonly hops: number;
}

/** Kinds of watched objects: a job applied for, a job of one's own, a thread. */
export const WATCH_KINDS = ["job", "own_job", "thread"] as const;
export type WatchKind = (typeof WATCH_KINDS)[number];

/** A watched object and its progress. */
export interface WatchWrite {
  readonly specialist: Handle;
  readonly kind: WatchKind;
  readonly object: string;
  readonly state: string;
  readonly data: JsonObject;
  /** Time of the next check; null for never. */
  readonly dueAt: number | null;
}
