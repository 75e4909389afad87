/** Intents as the store keeps them: which are due, which are in doubt, and how one moves. */
import type { IntentState, IntentChange, Intent } from "../outbox/intent.ts";
import type { NewEvent, WatchWrite } from "../contract/event.ts";
import type { Handle, KeyId } from "../core/ids.ts";
import type { Lane } from "../contract/operations.ts";

/** One change of an intent that no attempt of ours is behind: expiry, cancellation, a read-back's verdict, a person's word. */
export interface IntentMove {
  readonly seq: number;
  /** Only from one of these states; otherwise nothing happens. */
  readonly from: readonly IntentState[];
  readonly change: IntentChange;
  readonly now: number;
  /** Stands for the object it would have created, so that actions about that go on: only in a dry run. */
  readonly standIn?: string;
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

export interface SimilarIntent {
  readonly intent: Intent;
  /** Undefined where it was never sent from here, or so long ago that its requests are not kept. */
  readonly requests: Requests | undefined;
}

export interface SimilarIntents {
  readonly own: Requests | undefined;
  readonly others: readonly SimilarIntent[];
}

export interface OutboxStore {
  /** Ready intents whose time has come, oldest first, in written order within a run, only of these lanes. */
  dueIntents(specialist: Handle, lanes: readonly Lane[], now: number, limit: number): Promise<readonly Intent[]>;
  /** Intents in doubt whose next check has come. */
  doubtfulIntents(specialist: Handle, now: number, limit: number): Promise<readonly Intent[]>;
  findIntent(id: string): Promise<Intent | undefined>;
  moveIntent(move: IntentMove): Promise<boolean>;
  /** Cancels what has expired, as {@link expiry} says. Answers the cancelled ones as they were. */
  expireIntents(specialist: Handle, now: number, limit: number): Promise<readonly Intent[]>;
  /** Which of these network ids are already claimed by an intent of the specialist's and of this operation: ids of other things may be the same. */
  claimedRefs(by: Pick<Intent, "specialist" | "operation">, refs: readonly string[]): Promise<ReadonlySet<string>>;
  /** How many of its requests may have taken effect, as far as their answers say: those that never left did not. */
  unansweredAttempts(seq: number): Promise<number>;
  /** It was dated by a clock that was ahead: from now on it may have been sent at any time. */
  forgetSentAt(seq: number): Promise<void>;
  /** Others that were or may have been done to the same object, and where it has words in the same ones; newest first. */
  similarIntents(intent: Pick<Intent, "seq" | "specialist" | "conflictKey">, limit: number): Promise<SimilarIntents>;
  loadProof(keyId: KeyId, operation: string): Promise<Proof>;
  saveProof(keyId: KeyId, operation: string, proof: Proof, now: number): Promise<void>;
}
