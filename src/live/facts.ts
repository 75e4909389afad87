/** What happened to events, intents and requests, each a row that is inserted once. What is kept in memory changes by nothing else. */
import type { OutcomeClass } from "../contract/call.ts";
import type { Via } from "../contract/event.ts";
import type { Lane } from "../contract/operations.ts";
import type { EventId, Handle, KeyId } from "../core/ids.ts";
import type { Intent } from "../outbox/intent.ts";
import type { DraftIntent, StoredIntent } from "../specialist/intent-draft.ts";

/** The part of an event that changes, as its facts say it. */
export interface EventFields {
  readonly state: "ready" | "parked";
  /** Handlings that failed. */
  readonly attempts: number;
  /** Handlings that ended with the process. */
  readonly crashes: number;
  /** A handling may be under way, and would end with the process. */
  readonly begun: boolean;
  readonly beganAt: number | undefined;
  readonly notBefore: number;
  /** Why it waits or is parked. */
  readonly note: string | undefined;
  readonly parkedAt: number | undefined;
}

/** The part of an intent that changes, as its facts say it. */
export type IntentFields = Pick<
  Intent,
  "state" | "target" | "nextAt" | "checks" | "everUnknown" | "sentAt" | "createdRef" | "code" | "message" | "settledAt"
>;

/** Facts of all kinds share one number, in the order in which they came about. */
interface Numbered {
  readonly seq: number;
  readonly at: number;
}

/** Something happened to a specialist. Its number is the event's. */
export interface EventFact extends Numbered {
  readonly fact: "event";
  readonly specialist: Handle;
  readonly id: EventId;
  readonly kind: string;
  readonly thread: string | undefined;
  /** JSON. */
  readonly payload: string;
  readonly via: Via;
  readonly hops: number;
  /** A handler begins with it as soon as it is committed: until it has ended, it counts as what may end the process. */
  readonly begun: boolean;
  /** The delivery that told of it, which has no row of its own. */
  readonly delivery: string | undefined;
  /** The network's word for that delivery, on the first of its events: they are counted by it. */
  readonly word: string | undefined;
}

/** An intent as its run leaves it. */
export interface IntentSeed extends Omit<DraftIntent, "review" | "refusal"> {
  readonly state: StoredIntent["state"];
  readonly code?: string;
  readonly message?: string;
  /** In doubt from the start. */
  readonly everUnknown?: boolean;
  readonly sentAt?: number;
}

/** One handling that ended: its event is done, and these are its intents. */
export interface RunFact extends Numbered {
  readonly fact: "run";
  readonly event: number;
  readonly specialist: Handle;
  readonly intents: readonly IntentSeed[];
}

/** A request, before its socket opens. */
export interface AttemptFact extends Numbered {
  readonly fact: "attempt";
  readonly intent: number | undefined;
  readonly specialist: Handle;
  readonly key: KeyId;
  readonly operation: string;
  readonly target: string | undefined;
  readonly lane: Lane;
  readonly cost: number;
  readonly deadlineAt: number;
}

/** How a request ended. */
export interface AnswerFact extends Numbered {
  readonly fact: "answer";
  readonly attempt: number;
  readonly outcome: OutcomeClass;
  readonly status: number | undefined;
  readonly note: string | undefined;
  /** From when on the request ages in the quota's windows; undefined where it never left. */
  readonly countedAt: number | undefined;
  /** What becomes of its intent; undefined where nothing does. */
  readonly set: Partial<IntentFields> | undefined;
}

/** Every other change of an event or an intent: retried, parked, expired, read back, a person's word. */
export type ChangeFact = Numbered & { readonly fact: "change"; readonly subject: number } & (
    | { readonly of: "event"; readonly set: Partial<EventFields> }
    | { readonly of: "intent"; readonly set: Partial<IntentFields> }
  );

export type Fact = EventFact | RunFact | AttemptFact | AnswerFact | ChangeFact;

/** More intents than a run may have: an intent's number is that of its run times this, and its place in it. */
export const INTENTS_OF_RUN = 128;
