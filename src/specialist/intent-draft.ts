/** An action that a handler decided on, before it is stored, and the facts that the brakes check. */
import type { AnyCode } from "../core/error-codes.ts";
import type { IntentId } from "../core/ids.ts";
import type { JsonObject, Json } from "../core/json.ts";
import type { Effect, Lane } from "../contract/operations.ts";
import type { Money } from "../core/units.ts";

/** An action a handler decided on, not yet stored. */
export interface DraftIntent {
  readonly id: IntentId;
  /** Position in the order of its run's decisions. */
  readonly ordinal: number;
  readonly operation: string;
  readonly target?: string | undefined;
  /** The intent that creates the target. */
  readonly targetIntent?: IntentId | undefined;
  readonly input: JsonObject;
  readonly effect: Effect;
  readonly lane: Lane;
  readonly thread?: string | undefined;
  /** The account it replies to, for the brakes. */
  readonly author?: string | undefined;
  /** Hash of its text, if it has one. */
  readonly textHash?: string | undefined;
  readonly conflictKey: string;
  readonly hops: number;
  readonly label?: string | undefined;
  readonly data?: Json | undefined;
  readonly expiresAt?: number | undefined;
  /** Only the newest of its kind is to wait, or it is dropped while another waits. */
  readonly pileUp?: "newest" | "drop" | undefined;
  /** The Guardian's approval to wait for, bound to this payload. */
  readonly review?: { readonly payloadHash: string; readonly amount: Money | undefined; readonly expiresAt: number } | undefined;
  /** Refused before it became ready: stored with the reason, and never sent. */
  readonly refusal?: { readonly code: AnyCode; readonly message: string } | undefined;
}

/** Our own recent texts, as the brakes count them. */
export interface RecentWords {
  readonly inThread: number;
  readonly toAuthorInHour: number;
  readonly inHour: number;
  readonly sameText: number;
}

/** The caps of a specialist's brakes. */
export interface BrakeCaps {
  readonly repliesPerThread: number;
  readonly repliesPerAuthorPerHour: number;
  readonly repliesPerHour: number;
  /** Time in which the same text counts as a repeat, in ms; 0 disables the check. */
  readonly sameTextWithinMs: number;
  readonly hops: number;
}

/** The reason for storing an intent that is never sent. */
export interface IntentRefusal {
  readonly code: AnyCode;
  readonly message: string;
}

export interface StoredIntent {
  readonly id: IntentId;
  /** In doubt if a store restored from a copy may have sent it already. */
  readonly state: "proposed" | "ready" | "refused" | "in_doubt";
  readonly code?: AnyCode;
  readonly message?: string;
}
