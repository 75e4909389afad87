/** Store interface of the outbox: due intents, intents in doubt, and their transitions. */
import type { Intent, IntentChange, Mover, TargetOf } from "../outbox/intent.ts";
import type { NewEvent, WatchWrite } from "../contract/event.ts";
import type { Handle, KeyId } from "../core/ids.ts";
import type { Lane } from "../contract/operations.ts";

/** A transition of an intent without an attempt: expiry, cancellation, the verdict of a read-back, a person's decision. */
export interface IntentMove<By extends Mover = Mover> {
  readonly seq: number;
  /** The mover. Nothing happens if the intent is in none of its states. */
  readonly by: By;
  readonly change: IntentChange<TargetOf<By>>;
  readonly now: number;
  /** Stands in for the object it would have created, so that actions on that continue: only in a dry run. */
  readonly standIn?: string;
  /** Stored in the same transaction, if the transition is applied. */
  readonly events?: readonly NewEvent[];
  readonly watches?: readonly WatchWrite[];
}

/** Read-back record of an operation and key: it proves that reading back finds effects. */
export interface Proof {
  readonly proven: boolean;
  readonly found: number;
  readonly missed: number;
  /** The longest time from sending to visibility, in ms. */
  readonly latenessMs: number;
}

/** Numbers of an intent's first and last request. Requests are numbered by admission. */
export interface Requests {
  readonly first: number;
  readonly last: number;
}

export interface SimilarIntent {
  readonly intent: Intent;
  /** Undefined if it was never sent from here, or its requests are no longer stored. */
  readonly requests: Requests | undefined;
}

export interface SimilarIntents {
  readonly own: Requests | undefined;
  readonly others: readonly SimilarIntent[];
}

/** Intents that say the same thing at another time. */
export type IntentKind = Pick<Intent, "specialist" | "operation" | "target" | "label">;

export interface OutboxStore {
  /** Due ready intents of these lanes, oldest first, in written order within a run. */
  dueIntents(specialist: Handle, lanes: readonly Lane[], now: number, limit: number): readonly Intent[];
  /** Intents in doubt whose next check is due. */
  doubtfulIntents(specialist: Handle, now: number, limit: number): Promise<readonly Intent[]>;
  findIntent(id: string): Promise<Intent | undefined>;
  /** Returns true if the transition was made. */
  moveIntent<By extends Mover>(move: IntentMove<By>): Promise<boolean>;
  /** Cancels expired intents, see {@link expiry}. Returns them as they were. */
  expireIntents(specialist: Handle, now: number, limit: number): readonly Intent[];
  /** True if an intent of this kind waits to be sent. */
  hasWaiting(kind: IntentKind): boolean;
  /** Cancels the intents of this kind that wait to be sent, except those of one event. Returns them as they were. */
  supersede(kind: IntentKind, exceptOf: number, now: number): readonly Intent[];
  /** The network ids among these that intents of the specialist and operation have claimed: other kinds of objects may have equal ids. */
  claimedRefs(by: Pick<Intent, "specialist" | "operation">, refs: readonly string[]): Promise<ReadonlySet<string>>;
  /** Requests of an intent that may have taken effect, by their answers: those that never left did not. */
  unansweredAttempts(seq: number): Promise<number>;
  /** Forgets a date from a clock that was ahead: the intent may have been sent at any time. */
  forgetSentAt(seq: number, now: number): Promise<void>;
  /** Other intents that were or may have been done to the same object, with the same text if it has one; newest first. */
  similarIntents(intent: Pick<Intent, "seq" | "specialist" | "conflictKey">, limit: number): Promise<SimilarIntents>;
  /** Ends the stakes of confirmed actions on an object: the held money comes back, or counts as spent. */
  endStakes(of: Pick<Intent, "specialist" | "operation"> & { readonly target: string }, isReturned: boolean, now: number): Promise<void>;
  loadProof(keyId: KeyId, operation: string): Promise<Proof>;
  saveProof(keyId: KeyId, operation: string, proof: Proof, now: number): Promise<void>;
}
