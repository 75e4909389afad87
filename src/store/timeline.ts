/** Store interface of a specialist's timeline: its events, the actions they led to, and the requests of each action. */
import type { OutcomeClass } from "../contract/call.ts";
import type { Handle } from "../core/ids.ts";
import type { Intent } from "../outbox/intent.ts";
import type { EventRow } from "./history.ts";

/** Requests of one action that are listed: the newest. `Intent.attempt` is the number of all. */
export const MAX_REQUESTS = 20;
/** Steps of one handling that are listed. */
export const MAX_STEPS = 50;
/** Characters of each text in a payload or input of a timeline. */
export const MAX_TEXT = 2_000;

export interface StoredRequest {
  readonly at: number;
  /** Undefined while its answer is awaited. */
  readonly endedAt?: number;
  readonly outcome?: OutcomeClass;
  readonly status?: number;
  readonly note?: string;
}

export interface TimelineAction {
  /** The texts of its input are cut, and everything nested is left out. */
  readonly intent: Intent;
  /** Oldest first. */
  readonly requests: readonly StoredRequest[];
}

export interface TimelineRow {
  /** The texts of its payload are cut, and everything nested is left out. */
  readonly event: EventRow;
  /** Steps of a handling that is not over: a finished one keeps none. `bytes` is the length of the stored value. */
  readonly steps: readonly { readonly name: string; readonly bytes: number }[];
  /** How many there are. */
  readonly stepCount: number;
  /** In the order in which they were decided. */
  readonly actions: readonly TimelineAction[];
}

export interface TimelineStore {
  /** Events of one specialist, newest first, in a fixed number of queries; `total` is the number of all that are stored. */
  timeline(filter: {
    readonly specialist: Handle;
    /** Only events with a lower number. */
    readonly before?: number;
    readonly limit: number;
  }): Promise<{ readonly rows: readonly TimelineRow[]; readonly total: number }>;
}
