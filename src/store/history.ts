/** History for people: events, intents, counts and kept deliveries. No decision depends on it. */
import type { Handle } from "../core/ids.ts";
import type { Json } from "../core/json.ts";
import type { Intent } from "../outbox/intent.ts";

/** An event as people see it. */
export interface EventRow {
  readonly specialist: Handle;
  readonly id: string;
  readonly kind: string;
  readonly state: string;
  /** Why it waits or is parked. */
  readonly note: string | undefined;
  /** Handlings that failed. */
  readonly attempts: number;
  readonly notBefore: number;
  readonly createdAt: number;
  readonly doneAt: number | undefined;
  readonly payload: Json;
}

/** A webhook delivery that nobody handled or understood, as long as its body is kept. */
export interface KeptDelivery {
  readonly seq: number;
  readonly specialist: Handle;
  /** The id its signature covers, or one derived from the covered bytes. */
  readonly id: string;
  /** The network's word for what it tells of. */
  readonly kind: string | undefined;
  /** `unhandled`: nobody handles its kind; `parked`: it could not be understood. */
  readonly state: string;
  readonly scheme: string;
  /** Why it could not be understood. */
  readonly note: string | undefined;
  readonly receivedAt: number;
  /** The length of its body. */
  readonly bytes: number;
}

/** How long rows are kept once they are over. */
export interface Retention {
  /** Handled events. */
  readonly eventsMs: number;
  /** Intents that were confirmed, refused or cancelled. */
  readonly intentsMs: number;
  /** Requests that ended. */
  readonly requestsMs: number;
}

/** What people ask of a store that nothing depends on. */
export interface HistoryStore {
  /** Every specialist that has run here. */
  handles(): Promise<readonly Handle[]>;
  /** Events of one id, over all specialists, newest first. */
  findEvents(id: string, limit: number): Promise<readonly EventRow[]>;
  /** The event that an intent was decided on, as long as it is kept. */
  eventOf(intent: Pick<Intent, "eventSeq">): Promise<EventRow | undefined>;
  /** Newest first. */
  intents(filter: {
    readonly specialist?: Handle;
    /** An operation, or the noun of several: `posts` for all that begin so. */
    readonly operation?: string;
    readonly since?: number;
    readonly before?: number;
    readonly states?: readonly string[];
    readonly limit: number;
  }): Promise<readonly Intent[]>;
  counts(specialist: Handle): Promise<readonly { readonly operation: string; readonly state: string; readonly count: number }[]>;
  /** Newest first. */
  keptDeliveries(filter: {
    readonly specialist?: Handle;
    readonly kind?: string;
    readonly before?: number;
    readonly limit: number;
  }): Promise<readonly KeptDelivery[]>;
  /** One of them, with what came. */
  keptDelivery(seq: number): Promise<(KeptDelivery & { readonly body: Uint8Array }) | undefined>;
  jobCounts(specialist: Handle): Promise<readonly { readonly state: string; readonly count: number }[]>;
}
