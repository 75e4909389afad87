/** Store interface of runs: the steps of a handling, and the transaction that ends it. */
import type { NewEvent } from "../contract/event.ts";
import type { Handle } from "../core/ids.ts";
import type { Json, JsonObject } from "../core/json.ts";
import type { DraftIntent, BrakeCaps, RecentWords, IntentRefusal, StoredIntent } from "../specialist/intent-draft.ts";

export interface FinishedRun {
  readonly seq: number;
  readonly specialist: Handle;
  readonly now: number;
  /** The specialist's own value, if the run changed it. */
  readonly state?: JsonObject | undefined;
  readonly intents: readonly DraftIntent[];
  /** The caps on conversation; an infinite one is not counted. */
  readonly caps: BrakeCaps;
  /** Pure; called inside the transaction for each intent with a text. Returns the reason for a refusal. */
  readonly brake: (draft: DraftIntent, words: RecentWords) => IntentRefusal | undefined;
  /** Pure; the event that reports a refusal to its author, inserted in the same transaction. */
  readonly report: (draft: DraftIntent, refusal: IntentRefusal) => NewEvent | undefined;
}

export interface RunStore {
  loadState(specialist: Handle): JsonObject;
  /** Stored once: the first value for a name stays. */
  saveStep(seq: number, name: string, value: Json): Promise<void>;
  /**
   * Marks the event done, stores the state, inserts the intents: all or nothing. Throws `Refused` `run_superseded` if the event is no
   * longer claimed by this run.
   */
  finishRun(run: FinishedRun): readonly StoredIntent[];
  /** Inserts an event and its finished run in one transaction: for a person's orders. Throws like `finishRun` for a known event. */
  recordRun(event: NewEvent, run: Omit<FinishedRun, "seq">): Promise<readonly StoredIntent[]>;
}
