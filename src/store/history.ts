/** Store interface of history for people: events, intents, counts and kept deliveries. No decision depends on it. */
import type { Handle } from "../core/ids.ts";
import type { Json } from "../core/json.ts";
import type { Intent, IntentState } from "../outbox/intent.ts";
import type { Failure } from "./failure.ts";

/** An event for display. */
export interface EventRow {
  readonly seq: number;
  readonly specialist: Handle;
  readonly id: string;
  readonly kind: string;
  readonly state: string;
  /** The reason for its wait or parking. */
  readonly note: string | undefined;
  /** The handling that failed last. */
  readonly failure?: Failure;
  /** Handlings that failed. */
  readonly attempts: number;
  readonly notBefore: number;
  readonly createdAt: number;
  readonly doneAt: number | undefined;
  readonly payload: Json;
}

/** Events of one kind whose handling fails in the same way. */
export interface FailureGroup {
  readonly specialist: Handle;
  readonly kind: string;
  readonly count: number;
  /** How many of them wait for a person. */
  readonly parked: number;
  /** Handlings that failed, of the one with the most. */
  readonly tries: number;
  /** When the first of the others is tried again. */
  readonly nextAt: number | undefined;
  /** The newest of them. */
  readonly latest: EventRow;
}

/** The largest groups, and how much there is in all. */
export interface Failing {
  readonly groups: readonly FailureGroup[];
  readonly groupCount: number;
  readonly eventCount: number;
}

export interface HeldIntents {
  readonly operation: string;
  readonly lane: string;
  readonly state: "ready" | "proposed";
  /** Undefined for what was not put off by itself: its lane may wait. */
  readonly code: string | undefined;
  readonly message: string | undefined;
  readonly count: number;
  readonly nextAt: number;
}

/** A webhook delivery that nobody handled or understood, as long as its body is kept. */
export interface KeptDelivery {
  readonly seq: number;
  readonly specialist: Handle;
  /** The signed id, or one derived from the signed bytes. */
  readonly id: string;
  /** The network's word for its kind. */
  readonly kind: string | undefined;
  /** `unhandled`: nothing handles its kind; `parked`: it could not be understood. */
  readonly state: string;
  readonly scheme: string;
  /** The reason for which it could not be understood. */
  readonly note: string | undefined;
  readonly receivedAt: number;
  /** Length of its body. */
  readonly bytes: number;
}

/** Retention of completed rows. */
export interface Retention {
  /** Handled events. */
  readonly eventsMs: number;
  /** Intents that were confirmed, refused or cancelled. */
  readonly intentsMs: number;
  /** Requests that ended. */
  readonly requestsMs: number;
}

/** Queries for people; no decision depends on them. */
export interface HistoryStore {
  /** Every specialist that has run here. */
  handles(): Promise<readonly Handle[]>;
  /** Events of one id, over all specialists, newest first. */
  findEvents(id: string, limit: number): Promise<readonly EventRow[]>;
  /** Events of these kinds about one of these objects, over all specialists, newest first. */
  eventsAbout(objects: readonly string[], kinds: readonly string[], limit: number): Promise<readonly EventRow[]>;
  /** Events that fail and are not done, of one specialist or of all. */
  failing(specialist: Handle | undefined, limit: number): Promise<Failing>;
  /** Events of which a handling failed, also where a later one did not; by the time of the last failure, newest first. */
  failedEvents(filter: {
    readonly specialist?: Handle;
    /** A kind, or the noun of several: `job` for all that begin so. */
    readonly kind?: string;
    readonly since?: number;
    /** Not after this. */
    readonly until?: number;
    readonly limit: number;
  }): Promise<readonly EventRow[]>;
  /** The event that an intent was decided on, as long as it is kept. */
  eventOf(intent: Pick<Intent, "eventSeq">): Promise<EventRow | undefined>;
  /** Newest first. */
  intents(filter: {
    readonly specialist?: Handle;
    /** An operation, or a noun: `posts` for all operations on posts. */
    readonly operation?: string;
    readonly since?: number;
    /** Decided no later than this. */
    readonly until?: number;
    /** An id of the network: of the target, of the object that came to be, or of the thread. */
    readonly object?: string;
    readonly states?: readonly IntentState[];
    readonly limit: number;
  }): Promise<readonly Intent[]>;
  /** Intents that are ready or wait for a word, by operation, lane and the rule they were put off by, with the first time of each. */
  held(specialist: Handle, limit: number): Promise<readonly HeldIntents[]>;
  counts(specialist: Handle): Promise<readonly { readonly operation: string; readonly state: IntentState; readonly count: number }[]>;
  /** Newest first. */
  keptDeliveries(filter: {
    readonly specialist?: Handle;
    readonly kind?: string;
    readonly before?: number;
    readonly limit: number;
  }): Promise<readonly KeptDelivery[]>;
  /** One of them, with its body. */
  keptDelivery(seq: number): Promise<(KeptDelivery & { readonly body: Uint8Array }) | undefined>;
  jobCounts(specialist: Handle): Promise<readonly { readonly state: string; readonly count: number }[]>;
}
