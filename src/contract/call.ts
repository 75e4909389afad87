/** What travels through the one door: a call by our names, and the class of what became of it. */
import type { AnyCode } from "../core/error-codes.ts";
import type { Json, JsonObject } from "../core/json.ts";
import type { Secret } from "../core/secret.ts";
import type { Micros } from "../core/units.ts";
import type { NetworkRecord } from "./records.ts";

/** One request, before the profile turns it into method, path and body. */
export interface Call {
  /** One of the 29 operations, or the name of an extra operation of the profile. */
  readonly operation: string;
  /** The id (or handle, where the set asks for it) of the object in the path. */
  readonly target?: string;
  /** By our names; checked against the operation's input schema. */
  readonly input: JsonObject;
}

/** What an answer's headers said of the key's limits, whatever dialect they came in. */
export interface LimitHints {
  /** Requests left, per window where the window is known. */
  readonly remainingHour?: number;
  readonly remainingDay?: number;
  /** Requests left in a window of unknown length. */
  readonly remaining?: number;
  /** Relative, as sent: when `remaining` is refilled. */
  readonly resetMs?: number;
}

/** Where the next page of a list is. */
export interface NextPage {
  readonly cursor?: string;
  readonly page?: number;
  readonly offset?: number;
  readonly url?: string;
}

/** What an answer may hand out that must never be stored or shown in the clear. */
export interface Secrets {
  readonly apiKey?: Secret;
  readonly accessToken?: Secret;
  readonly refreshToken?: Secret;
  readonly webhookSecret?: Secret;
}

/** What every answer tells beside its content. */
export interface Answered {
  readonly status: number;
  /** Difference between the server's `Date` and our clock, in ms, where it sent one. */
  readonly skewMs?: number;
  readonly limits?: LimitHints;
}

/**
 * The class of an attempt's outcome.
 * - `confirmed`: complete, well-formed success.
 * - `refused`: a complete refusal in the network's own error shape; it did not happen.
 * - `limited`: 429; it did not happen.
 * - `unauthorized`: 401; it did not happen.
 * - `pending`: accepted, but the network wants its Guardian's decision first.
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
      /** Items of a list that could not be read: such a list proves nobody's absence. */
      readonly skipped?: number;
      /** Keys and tokens the answer handed out; they are taken out of `body` and of every `raw`. */
      readonly secrets?: Secrets;
      /** What the action cost, where the profile says where the answer tells. */
      readonly chargedMicros?: Micros;
      readonly body: Json | undefined;
    })
  | (Answered & { readonly class: "refused"; readonly code: AnyCode; readonly message: string })
  | (Answered & { readonly class: "limited"; readonly retryAfterMs?: number; readonly message?: string })
  | (Answered & { readonly class: "unauthorized"; readonly message?: string })
  | (Answered & { readonly class: "pending"; readonly reference?: string; readonly message?: string })
  | { readonly class: "never-left"; readonly reason: string }
  | {
      readonly class: "unknown";
      readonly reason: string;
      /** A complete success came, in a shape that this profile cannot read: see quarantine. */
      readonly unreadable?: true;
      /** How long the network asked to be left alone, where a 5xx says so. */
      readonly retryAfterMs?: number;
      readonly status?: number;
      readonly skewMs?: number;
      readonly limits?: LimitHints;
    };

export type OutcomeClass = Outcome["class"];
