/** What intake hands over: events, cursors and followed objects, in the inbox's words. */
import type { EventId, Handle } from "../core/ids.ts";
import type { Json, JsonObject } from "../core/json.ts";

export interface NewEvent {
  readonly specialist: Handle;
  readonly id: EventId;
  readonly kind: string;
  readonly thread?: string;
  readonly payload: Json;
  readonly via: "poll" | "webhook" | "runtime";
  readonly hops: number;
}

export interface WatchChange {
  readonly state: string;
  readonly data: JsonObject;
  /** No longer followed. */
  readonly ended: boolean;
  readonly events: readonly NewEvent[];
  /** Whether anything had changed: what speeds polling up. */
  readonly news: boolean;
}
