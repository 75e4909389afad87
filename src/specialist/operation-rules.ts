/** Rules of one operation for a run, from the specialist's network and definition. */
import type { AnyCode } from "../core/error-codes.ts";
import type { Effect, Lane } from "../contract/operations.ts";
import type { JsonObject } from "../core/json.ts";
import type { DraftIntent } from "./intent-draft.ts";

export interface Refusal {
  readonly code: AnyCode;
  readonly message: string;
}

export interface OperationRule {
  readonly effect: Effect;
  readonly lane: Lane;
  /** Identifier by which the path names its object. */
  readonly targetBy: "id" | "handle" | undefined;
  /** Inputs that the record acted on gives, by their places in it. */
  readonly from?: Readonly<Record<string, readonly string[]>>;
  /** Operations on the same object that go before it, as parts of it. */
  readonly before?: readonly string[];
  /** Set if the Guardian must approve: the payload, amount and expiry of the question. */
  readonly review?: (target: string | undefined, input: JsonObject) => NonNullable<DraftIntent["review"]>;
  /** Set if the operation may never leave: outside `may`, or not in the network's set. */
  readonly refusal?: Refusal;
}

/** An input as a definition gives it, before it is checked. */
export type GivenInput = { readonly [name: string]: unknown };

export interface OperationRules {
  /** Throws `Refused` `operation_unknown` for a name in neither the interface nor the profile. */
  of(operation: string): OperationRule;
  /** Returns the input to store, with defaults filled. Throws `Refused` `input_invalid` with the expectation. */
  input(operation: string, input: GivenInput): JsonObject;
}
