/** Types of the gateway: a call in our names, and the class of its outcome. */
import type { AnyCode } from "../core/error-codes.ts";
import type { Json, JsonObject } from "../core/json.ts";
import type { Secret } from "../core/secret.ts";
import type { Micros } from "../core/units.ts";
import type { NetworkRecord } from "./records.ts";

/** One request, before the profile turns it into method, path and body. */
export interface Call {
  /** One of the 29 operations, or the name of an extra operation of the profile. */
  readonly operation: string;
  /** The id of the object in the path, or its handle where the set uses handles. */
  readonly target?: string;
  /** The post at the root of the thread that a reply belongs to. Default: the target. */
  readonly thread?: string;
  /** In our names; checked against the operation's input schema. */
  readonly input: JsonObject;
}

/** Rate limits from the headers of an answer, in one form for all dialects. */
export interface LimitHints {
  /** Requests left, per window if the window is known. */
  readonly remainingHour?: number;
  readonly remainingDay?: number;
  /** Requests left in a window that is not named. */
  readonly remaining?: number;
  /** Its limit, if it is stated. */
  readonly limit?: number;
  /** Its length, if the answer or the profile states it. */
  readonly windowMs?: number;
  /** Time until `remaining` is refilled, as sent. */
  readonly resetMs?: number;
}

/** Position of the next page of a list. */
export interface NextPage {
  readonly cursor?: string;
  readonly page?: number;
  readonly offset?: number;
  readonly url?: string;
}

/** Secrets in an answer, never stored or shown in the clear. */
export interface Secrets {
  readonly apiKey?: Secret;
  readonly accessToken?: Secret;
  readonly refreshToken?: Secret;
  readonly webhookSecret?: Secret;
}

/** Metadata of every answer, beside its content. */
export interface Answered {
  readonly status: number;
  /** Difference between the server's `Date` and our clock, in ms, if it sent one. */
  readonly skewMs?: number;
  readonly limits?: LimitHints;
}

/**
 * The class of an attempt's outcome.
 * - `confirmed`: complete, well-formed success.
 * - `refused`: a complete refusal in the network's own error shape; it did not happen.
 * - `limited`: 429; it did not happen.
 * - `unauthorized`: 401; it did not happen.
 * - `pending`: accepted, but the network waits for its Guardian's decision first.
 * - `never-left`: no byte reached the network; it did not happen and costs no quota.
 * - `unknown`: everything else; it may or may not have happened.
 */
export type Outcome =
  | (Answered & {
      readonly class: "confirmed";
      /** The normalised record of a single answer. */
      readonly record?: NetworkRecord;
      /** The normalised records of a list. */
      readonly items?: readonly NetworkRecord[];
      readonly next?: NextPage;
      /** The answer states that no page follows. Without this and `next`, a long list may be cut off. */
      readonly isLast?: true;
      /** Items of a list that could not be read. Such a list proves the absence of nothing. */
      readonly skipped?: number;
      /** An id, an author or a list within is no longer where earlier answers had it, and was not read. It proves the absence of nothing. */
      readonly lacksMoved?: true;
      /** Keys and tokens from the answer; they are removed from `body` and from every `raw`. */
      readonly secrets?: Secrets;
      /** Values that the profile hands to the handler with the receipt. */
      readonly details?: JsonObject;
      /** The actual cost of the action, if the profile says where to find it. */
      readonly chargedMicros?: Micros;
      readonly body: Json | undefined;
    })
  | (Answered & { readonly class: "refused"; readonly code: AnyCode; readonly message: string })
  | (Answered & {
      readonly class: "limited";
      readonly retryAfterMs?: number;
      readonly message?: string;
      /** The account is stopped: only a read may find out if it still is. */
      readonly suspended?: true;
    })
  | (Answered & { readonly class: "unauthorized"; readonly message?: string })
  | (Answered & { readonly class: "pending"; readonly reference?: string; readonly message?: string; readonly details?: JsonObject })
  | { readonly class: "never-left"; readonly reason: string }
  | {
      readonly class: "unknown";
      readonly reason: string;
      /** A complete success in a shape that this profile cannot read: see quarantine. */
      readonly unreadable?: true;
      /** Wait that a 5xx asks for. */
      readonly retryAfterMs?: number;
      readonly status?: number;
      readonly skewMs?: number;
      readonly limits?: LimitHints;
    };

export type OutcomeClass = Outcome["class"];
