/** What the outbox needs of a store: intents not yet settled, and the attempts made for them. */
import type { Effect, Lane } from "../contract/operations.ts";
import type { NewEvent, WatchWrite } from "../contract/event.ts";
import type { Handle, IntentId, KeyId } from "../core/ids.ts";
import type { Json, JsonObject } from "../core/json.ts";

export const INTENT_STATES = [
  "proposed",
  "ready",
  "sending",
  "in_doubt",
  "confirmed",
  "refused",
  "pending",
  "cancelled",
  "parked",
] as const;
export type IntentState = (typeof INTENT_STATES)[number];

/** Stands for when it was sent where a clock that was ahead dated it: it may have been at any time, so before everything. */
export const UNDATED = 0;

export interface Intent {
  readonly seq: number;
  readonly id: IntentId;
  readonly specialist: Handle;
  readonly eventSeq: number;
  readonly operation: string;
  readonly target: string | undefined;
  readonly targetIntent: IntentId | undefined;
  readonly input: JsonObject;
  readonly effect: Effect;
  readonly lane: Lane;
  readonly thread: string | undefined;
  readonly author: string | undefined;
  readonly conflictKey: string;
  readonly hops: number;
  readonly label: string | undefined;
  readonly data: Json | undefined;
  readonly state: IntentState;
  /** Requests admitted for it so far. */
  readonly attempt: number;
  /** An earlier attempt may have happened: a later refusal does not settle it. */
  readonly everUnknown: boolean;
  readonly nextAt: number;
  readonly checks: number;
  /** In ms since the epoch, by the machine's clock; {@link UNDATED} where that is known to have been wrong. */
  readonly sentAt: number | undefined;
  readonly expiresAt: number | undefined;
  readonly createdRef: string | undefined;
  readonly code: string | undefined;
  readonly message: string | undefined;
  readonly createdAt: number;
  readonly settledAt: number | undefined;
}

/** An admitted request: its row is on disk. */
export interface Attempt {
  readonly seq: number;
  readonly specialist: Handle;
  readonly keyId: KeyId;
  readonly intentSeq: number | undefined;
  readonly operation: string;
  readonly lane: Lane;
  /** Requests of quota. */
  readonly cost: number;
  readonly startedAt: number;
  readonly deadlineAt: number;
}

/** Where an intent goes next. */
export interface IntentChange {
  readonly state: IntentState;
  readonly nextAt?: number;
  readonly code?: string;
  readonly message?: string;
  /** The network's id of what came to be. */
  readonly createdRef?: string;
  /** A complete read-back found nothing. */
  readonly checked?: boolean;
  readonly everUnknown?: boolean;
}

/** One change of an intent that no attempt of ours is behind: expiry, cancellation, a read-back's verdict, a person's word. */
export interface IntentMove {
  readonly seq: number;
  /** Only from one of these states; otherwise nothing happens. */
  readonly from: readonly IntentState[];
  readonly change: IntentChange;
  readonly now: number;
  /** Stored in the same transaction, where the move is made. */
  readonly events?: readonly NewEvent[];
  readonly watches?: readonly WatchWrite[];
}

/** How an operation's read-back has done for a key: what earns "reconciled". */
export interface Proof {
  readonly proven: boolean;
  readonly found: number;
  readonly missed: number;
  /** The largest time between sending and being seen, in ms. */
  readonly latenessMs: number;
}

/** The numbers of an intent's first and last request. Requests are numbered as they are admitted. */
export interface Requests {
  readonly first: number;
  readonly last: number;
}

export interface Alike {
  readonly intent: Intent;
  /** Undefined where it was never sent from here, or so long ago that its requests are not kept. */
  readonly requests: Requests | undefined;
}

export interface Alikes {
  readonly own: Requests | undefined;
  readonly others: readonly Alike[];
}

export interface OutboxStore {
  /** Ready intents whose time has come, oldest first, in written order within a run, only of these lanes. */
  dueIntents(specialist: Handle, lanes: readonly Lane[], now: number, limit: number): Promise<readonly Intent[]>;
  /** Intents in doubt whose next check has come. */
  doubtfulIntents(specialist: Handle, now: number, limit: number): Promise<readonly Intent[]>;
  findIntent(id: string): Promise<Intent | undefined>;
  moveIntent(move: IntentMove): Promise<boolean>;
  /** Cancels what has expired. Answers the cancelled ones. */
  expireIntents(specialist: Handle, now: number, limit: number): Promise<readonly Intent[]>;
  /** Which of these network ids are already claimed by an intent of the specialist's and of this operation: ids of other things may be the same. */
  claimedRefs(by: Pick<Intent, "specialist" | "operation">, refs: readonly string[]): Promise<ReadonlySet<string>>;
  /** How many of its requests may have taken effect, as far as their answers say: those that never left did not. */
  unansweredAttempts(seq: number): Promise<number>;
  /** It was dated by a clock that was ahead: from now on it may have been sent at any time. */
  undate(seq: number): Promise<void>;
  /** Others that were or may have been done to the same object, and where it has words in the same ones; newest first. */
  intentsAlike(intent: Pick<Intent, "seq" | "specialist" | "conflictKey">, limit: number): Promise<Alikes>;
  loadProof(keyId: KeyId, operation: string): Promise<Proof>;
  saveProof(keyId: KeyId, operation: string, proof: Proof, now: number): Promise<void>;
}
