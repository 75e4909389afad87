/** What a handling needs of a store: its steps, and one transaction that ends it. */
import type { Effect, Lane } from "../contract/operations.ts";
import type { NewEvent } from "../contract/event.ts";
import type { Handle, IntentId } from "../core/ids.ts";
import type { Json, JsonObject } from "../core/json.ts";
import type { Money } from "../core/units.ts";

/** An action a handler decided on, not yet stored. */
export interface DraftIntent {
  readonly id: IntentId;
  /** Place in the written order of its run. */
  readonly ordinal: number;
  readonly operation: string;
  readonly target?: string;
  /** The intent whose object is the target. */
  readonly targetIntent?: IntentId;
  readonly input: JsonObject;
  readonly effect: Effect;
  readonly lane: Lane;
  readonly thread?: string;
  /** The account it answers, for the brakes. */
  readonly author?: string;
  /** Hash of the text it says, where it says one. */
  readonly textHash?: string;
  readonly conflictKey: string;
  readonly hops: number;
  readonly label?: string;
  readonly data?: Json;
  readonly expiresAt?: number;
  /** Waits for the Guardian, whose word is bound to this. */
  readonly review?: { readonly payloadHash: string; readonly amount: Money | undefined; readonly expiresAt: number };
  /** Refused before it was stored as ready: it is kept, with the reason, and never sent. */
  readonly refusal?: { readonly code: string; readonly message: string };
}

/** What the brakes look at: our own recent words. */
export interface RecentWords {
  readonly inThread: number;
  readonly toAuthorInHour: number;
  readonly inHour: number;
  readonly sameText: number;
}

/** The caps of a specialist's brakes, in force. */
export interface BrakeCaps {
  readonly repliesPerThread: number;
  readonly repliesPerAuthorPerHour: number;
  readonly repliesPerHour: number;
  /** How far back the same text counts as a repeat, in ms; 0 for never. */
  readonly sameTextWithinMs: number;
  readonly hops: number;
}

export interface FinishedRun {
  readonly seq: number;
  readonly specialist: Handle;
  readonly now: number;
  /** The specialist's own value, where the run changed it. */
  readonly state?: JsonObject;
  readonly intents: readonly DraftIntent[];
  /** The caps on conversation in force; an infinite one is not counted. */
  readonly caps: BrakeCaps;
  /** Pure; called inside the transaction for each intent that speaks. Answers why it must not. */
  readonly brake: (draft: DraftIntent, words: RecentWords) => IntentRefusal | undefined;
  /** Pure; the event that tells the author of a refusal, inserted in the same transaction. */
  readonly report: (draft: DraftIntent, refusal: IntentRefusal) => NewEvent | undefined;
}

/** The reason an intent is kept but never sent. */
export interface IntentRefusal {
  readonly code: string;
  readonly message: string;
}

export interface StoredIntent {
  readonly id: IntentId;
  /** In doubt where a store that was put back from a copy may have sent it already. */
  readonly state: "proposed" | "ready" | "refused" | "in_doubt";
  readonly code?: string;
  readonly message?: string;
}

export interface RunStore {
  loadState(specialist: Handle): Promise<JsonObject>;
  /** Stored once: a second value for a name is refused. */
  saveStep(seq: number, name: string, value: Json): Promise<void>;
  /** Event done, state stored, intents inserted: all or nothing. Throws `Refused` `run_superseded` when the event is not ours any more. */
  finishRun(run: FinishedRun): Promise<readonly StoredIntent[]>;
  /** An event and the run that handled it at once, in one transaction: for what a person orders. Throws as `finishRun` for a known event. */
  recordRun(event: NewEvent, run: Omit<FinishedRun, "seq">): Promise<readonly StoredIntent[]>;
}
