/** What travels from the edges through the stages: something that happened, and an object to follow. */
import type { EventId, Handle } from "../core/ids.ts";
import type { Json, JsonObject } from "../core/json.ts";

export type Via = "poll" | "webhook" | "runtime";

/** Something that happened to one specialist. */
export interface NewEvent {
  readonly specialist: Handle;
  readonly id: EventId;
  readonly kind: string;
  /** Events of one thread are handled in the order they arrived. */
  readonly thread?: string;
  readonly payload: Json;
  readonly via: Via;
  /** How many of our own actions lie between an outside happening and this event. */
  readonly hops: number;
}

/** A followed object and where it stands. */
export interface WatchWrite {
  readonly specialist: Handle;
  readonly kind: "job" | "thread";
  readonly object: string;
  readonly state: string;
  readonly data: JsonObject;
  /** When to look again; null for never. */
  readonly dueAt: number | null;
}
