/** Store interface of the inbox: events to handle, each exactly once per id. */
import type { NewEvent, WatchWrite } from "../contract/event.ts";
import type { EventId, Handle } from "../core/ids.ts";
import type { Json, JsonObject } from "../core/json.ts";
import type { Failure } from "./failure.ts";

/** The position of a source, moved in the same transaction as its events. */
export interface CursorWrite {
  readonly specialist: Handle;
  readonly source: string;
  readonly cursor: JsonObject;
  /** Time of the next poll; null for never. */
  readonly dueAt: number | null;
}

export interface Arrival {
  readonly events: readonly NewEvent[];
  readonly cursors?: readonly CursorWrite[];
  readonly watches?: readonly WatchWrite[];
}

/** An event claimed for a handler. */
export interface ClaimedEvent {
  readonly seq: number;
  readonly specialist: Handle;
  readonly id: EventId;
  readonly kind: string;
  readonly thread: string | undefined;
  readonly payload: Json;
  readonly hops: number;
  /** Failed handlings before this one. */
  readonly attempts: number;
  /** Processes ended while it was handled: it is parked if one does again, and others wait for their last try meanwhile. */
  readonly isLastTry: boolean;
  /** Start of the first handling, in ms since the epoch. */
  readonly beganAt: number;
  readonly steps: ReadonlyMap<string, Json>;
}

/** An event that waits for a person's decision. */
export interface ParkedEvent {
  readonly seq: number;
  readonly specialist: Handle;
  readonly id: EventId;
  readonly kind: string;
  readonly attempts: number;
  readonly note: string;
  /** The last failed handling, if that is the reason. */
  readonly failure?: Failure;
  readonly parkedAt: number;
}

/**
 * The events to retry at once: `untimed`, those waiting for their next try, unless the handler set its time; `waiting`, all of those;
 * `parked`, the parked ones too, with all their tries.
 */
export type Retried = "untimed" | "waiting" | "parked";
/** Most failed events that one order, start or definition retries at once; the others keep their times. */
export const MAX_RETRIED = 1_000;

/** Most waiting events of one specialist; beyond it the specialist's deliveries wait. */
export const MAX_EVENTS_WAITING = 1_000;

export interface InboxStore {
  /** Inserts new events and moves the cursors, in one transaction. Returns the new events. */
  putEvents(arrival: Arrival, now: number): Promise<{ readonly fresh: readonly NewEvent[]; readonly known: number }>;
  /**
   * Claims up to `limit` due events, oldest first and one at a time per thread. Each counts as a crash until it is returned; no handler may
   * begin with one before `committed`, since an event that ends the process must have been counted. `hasRoom` is asked once for each due
   * event and takes its place, if there is one for its kind.
   */
  claimEvents(specialist: Handle, now: number, limit: number, hasRoom?: (kind: string) => boolean): readonly ClaimedEvent[];
  /** A specialist with an event that waits for its last try, if none has its own now. Each is returned once for each claim in vain. */
  nextLastTry(): Handle | undefined;
  /** Resolves once everything written so far is committed. */
  committed(): Promise<void>;
  /** Returns an event to be handled again at `notBefore`. `failed` counts as an attempt; without a note it keeps the present one. */
  retryEvent(seq: number, change: { readonly notBefore: number; readonly failed: boolean; readonly note?: string }): void;
  parkEvent(seq: number, now: number, note: string): void;
  /** Retries an event that is parked, or failed and waits for its next try. False if there is none. */
  unparkEvent(specialist: Handle, id: string, now: number): Promise<boolean>;
  /**
   * Retries failed events of one specialist, or of all, at once, at most {@link MAX_RETRIED}: a waiting event uses up no try. Returns their
   * number.
   */
  retryFailed(specialist: Handle | undefined, which: Retried, now: number): Promise<number>;
  parkedEvents(specialist: Handle | undefined, limit: number): Promise<readonly ParkedEvent[]>;
  parkedEventCount(): Promise<number>;
}
