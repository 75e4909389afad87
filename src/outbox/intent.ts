/** What the outbox needs of a store: intents not yet settled, and the attempts made for them. */
import type { AnyCode } from "../core/error-codes.ts";
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

/** The code of a refused action that only the dry run kept from leaving, and what it says. */
export const DRY_RUN = "dry_run";
export const DRY_RUN_MESSAGE = "not sent: this is a dry run";

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
  readonly code?: AnyCode;
  readonly message?: string;
  /** The network's id of what came to be. */
  readonly createdRef?: string;
  /** A complete read-back found nothing. */
  readonly checked?: boolean;
  readonly everUnknown?: boolean;
}

/** How an intent ends whose time is over. */
export function expiry({ state }: Pick<Intent, "state">): IntentChange & Required<Pick<IntentChange, "code" | "message">> {
  return state === "proposed"
    ? { state: "cancelled", code: "approval_expired", message: "nobody answered in time" }
    : { state: "cancelled", code: "expired", message: "it no longer made sense" };
}

/** An intent as it stands by now: its time may be over while nothing runs to say so. */
export function asOf(intent: Intent, now: number): Intent {
  const { state, everUnknown, expiresAt = Infinity } = intent;
  const ends = state === "proposed" || (state === "ready" && !everUnknown);
  if (!ends || expiresAt > now) return intent;
  return { ...intent, ...expiry(intent), settledAt: expiresAt };
}

export interface Conclusion {
  readonly change: IntentChange;
  readonly events: readonly NewEvent[];
  readonly watches: readonly WatchWrite[];
}
