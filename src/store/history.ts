/** Store interface of history for people: events, intents and kept deliveries. No decision depends on it. */
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
  /** The last failed handling. */
  readonly failure?: Failure;
  /** Failed handlings. */
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
  /** Number of events that wait for a person. */
  readonly parked: number;
  /** Most failed handlings of one event. */
  readonly tries: number;
  /** Next try of the first of the others. */
  readonly nextAt: number | undefined;
  /** The newest event. */
  readonly latest: EventRow;
}

/** The largest groups, and the totals. */
export interface Failing {
  readonly groups: readonly FailureGroup[];
  readonly groupCount: number;
  readonly eventCount: number;
  /** Of these events, the number that wait for a person. */
  readonly parkedCount: number;
}

/** A webhook delivery that nothing handled or understood, while its body is kept. */
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

/** Intents that one search for words reads: it takes 0.1 s. */
export const MAX_SEARCHED = 50_000;

export interface LogFilter {
  readonly specialist?: Handle;
  /** An operation or kind of event, or a noun. */
  readonly kind?: string;
  readonly since?: number;
  readonly search?: readonly string[];
}

/** Queries for people; no decision depends on them. */
export interface HistoryStore {
  /** Every specialist that has run here. */
  handles(): Promise<readonly Handle[]>;
  /** Events of one id, over all specialists, newest first. */
  findEvents(id: string, limit: number): Promise<readonly EventRow[]>;
  /** Events of these kinds about one of these objects, over all specialists, newest first. */
  eventsAbout(objects: readonly string[], kinds: readonly string[], limit: number): Promise<readonly EventRow[]>;
  /** The newest events of one specialist, newest first. */
  eventsOf(specialist: Handle, limit: number): Promise<readonly EventRow[]>;
  /** Failing events that are not done, of one specialist or of all. */
  failing(specialist: Handle | undefined, limit: number): Promise<Failing>;
  /** Events with a failed handling, even if a later one succeeded; by the time of the last failure, newest first. */
  failedEvents(filter: {
    readonly specialist?: Handle;
    /** A kind, or a noun: `job` for all kinds of jobs. */
    readonly kind?: string;
    readonly since?: number;
    /** Not after this. */
    readonly until?: number;
    /** Words that all occur in its id, kind or failure. */
    readonly search?: readonly string[];
    readonly limit: number;
  }): Promise<readonly EventRow[]>;
  /** The event that led to an intent, while it is stored. */
  eventOf(intent: Pick<Intent, "eventSeq">): Promise<EventRow | undefined>;
  /** Newest first. */
  intents(filter: {
    readonly specialist?: Handle;
    /** An operation, or a noun: `posts` for all operations on posts. */
    readonly operation?: string;
    readonly since?: number;
    /** Decided no later than this. */
    readonly until?: number;
    /** An id of the network: of the target, of the created object, or of the thread. */
    readonly object?: string;
    readonly states?: readonly IntentState[];
    /** Words that all occur in its id, operation, target, input, code or message. */
    readonly search?: readonly string[];
    /** Only those with a higher number. */
    readonly after?: number;
    readonly limit: number;
  }): Promise<readonly Intent[]>;
  /** Number of intents and failed events of the log; undefined for a time or words if more than {@link MAX_SEARCHED} are stored. */
  logTotal(filter: LogFilter): Promise<number | undefined>;
  /** The first intent after the newest {@link MAX_SEARCHED} until a time: a search ends before it. Undefined if there are not as many. */
  searchEnd(
    filter: Pick<LogFilter, "specialist"> & { readonly until?: number },
  ): Promise<{ readonly seq: number; readonly at: number } | undefined>;
  /** Newest first. */
  keptDeliveries(filter: {
    readonly specialist?: Handle;
    readonly kind?: string;
    /** Received no later than this. */
    readonly until?: number;
    readonly limit: number;
  }): Promise<readonly KeptDelivery[]>;
  /** One of them, with its body. */
  keptDelivery(seq: number): Promise<(KeptDelivery & { readonly body: Uint8Array }) | undefined>;
}
