/** A handling as the store keeps it: its steps, and one transaction that ends it. */
import type { NewEvent } from "../contract/event.ts";
import type { Handle } from "../core/ids.ts";
import type { Json, JsonObject } from "../core/json.ts";
import type { DraftIntent, BrakeCaps, RecentWords, IntentRefusal, StoredIntent } from "../specialist/intent-draft.ts";

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

export interface RunStore {
  loadState(specialist: Handle): Promise<JsonObject>;
  /** Stored once: a second value for a name is refused. */
  saveStep(seq: number, name: string, value: Json): Promise<void>;
  /** Event done, state stored, intents inserted: all or nothing. Throws `Refused` `run_superseded` when the event is not ours any more. */
  finishRun(run: FinishedRun): Promise<readonly StoredIntent[]>;
  /** An event and the run that handled it at once, in one transaction: for what a person orders. Throws as `finishRun` for a known event. */
  recordRun(event: NewEvent, run: Omit<FinishedRun, "seq">): Promise<readonly StoredIntent[]>;
}
