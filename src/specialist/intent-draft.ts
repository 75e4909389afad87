/** An action that a handler decided on, before it is stored; and the facts that the brakes look at. */
import type { AnyCode } from "../core/error-codes.ts";
import type { IntentId } from "../core/ids.ts";
import type { JsonObject, Json } from "../core/json.ts";
import type { Effect, Lane } from "../contract/operations.ts";
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
  readonly refusal?: { readonly code: AnyCode; readonly message: string };
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

/** The reason an intent is kept but never sent. */
export interface IntentRefusal {
  readonly code: AnyCode;
  readonly message: string;
}

export interface StoredIntent {
  readonly id: IntentId;
  /** In doubt where a store that was put back from a copy may have sent it already. */
  readonly state: "proposed" | "ready" | "refused" | "in_doubt";
  readonly code?: AnyCode;
  readonly message?: string;
}
