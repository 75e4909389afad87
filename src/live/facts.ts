/** Facts of events, intents and requests: rows that are inserted once. Memory changes by nothing else. */
import type { OutcomeClass } from "../contract/call.ts";
import type { Via } from "../contract/event.ts";
import type { Lane } from "../contract/operations.ts";
import type { EventId, Handle, KeyId } from "../core/ids.ts";
import type { Intent } from "../outbox/intent.ts";
import type { DraftIntent, StoredIntent } from "../specialist/intent-draft.ts";

/** The fields of an event that facts change. */
export interface EventFields {
  readonly state: "ready" | "parked";
  /** Handlings that failed. */
  readonly attempts: number;
  /** Handlings that the end of the process cut off. */
  readonly crashes: number;
  /** A handling may be under way: it counts as a crash if the process ends. */
  readonly begun: boolean;
  readonly beganAt: number | undefined;
  readonly notBefore: number;
  /** The reason for its wait or parking. */
  readonly note: string | undefined;
  readonly parkedAt: number | undefined;
}

/** The fields of an intent that facts change. */
export type IntentFields = Pick<
  Intent,
  "state" | "target" | "nextAt" | "checks" | "everUnknown" | "sentAt" | "createdRef" | "code" | "message" | "settledAt" | "reason"
>;

/** Facts of all kinds share one sequence of numbers. */
interface Numbered {
  readonly seq: number;
  readonly at: number;
}

/** An event of a specialist. Its number is the event's. */
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
  /** A handler begins with it once it is committed: it counts as a crash if the process ends before the handler does. */
  readonly begun: boolean;
  /** The delivery that reported it and has no row of its own. */
  readonly delivery: string | undefined;
}

/** An intent as its run leaves it. */
export interface IntentSeed extends Omit<DraftIntent, "review" | "refusal" | "pileUp"> {
  readonly state: StoredIntent["state"];
  readonly code?: string | undefined;
  readonly message?: string | undefined;
  /** In doubt from the start. */
  readonly everUnknown?: boolean | undefined;
  readonly sentAt?: number | undefined;
}

/** A finished handling: its event is done, and these are its intents. */
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

/** The end of a request. */
export interface AnswerFact extends Numbered {
  readonly fact: "answer";
  readonly attempt: number;
  readonly outcome: OutcomeClass;
  readonly status: number | undefined;
  readonly note: string | undefined;
  /** The time from which the request ages in the quota's windows; undefined if it never left. */
  readonly countedAt: number | undefined;
  /** The change of its intent, if any. */
  readonly set: Partial<IntentFields> | undefined;
}

/** Any other change of an event or an intent: a retry, parking, expiry, a read-back, a person's order. */
export type ChangeFact = Numbered & { readonly fact: "change"; readonly subject: number } & (
    | { readonly of: "event"; readonly set: Partial<EventFields> }
    | { readonly of: "intent"; readonly set: Partial<IntentFields> }
  );

export type Fact = EventFact | RunFact | AttemptFact | AnswerFact | ChangeFact;

/** More than the intents of one run: an intent's number is its run's number times this, plus its place. */
export const INTENTS_OF_RUN = 128;
