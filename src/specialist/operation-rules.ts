/** What a specialist's network and definition say of one operation, as a run needs it. */
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
  /** Whether the path names its object by id or by handle. */
  readonly targetBy: "id" | "handle" | undefined;
  /** Set where the Guardian must approve: what the question is bound to. */
  readonly review?: (target: string | undefined, input: JsonObject) => NonNullable<DraftIntent["review"]>;
  /** Set when it must never leave: outside `may`, or not in the network's set. */
  readonly refusal?: Refusal;
}

export interface OperationRules {
  /** Throws `Refused` `operation_unknown` for a name neither the interface nor the profile has. */
  of(operation: string): OperationRule;
  /** The input as it is to be stored, defaults filled. Throws `Refused` `input_invalid` with what was expected. */
  input(operation: string, input: JsonObject): JsonObject;
}
