/** The inputs of one handling, and the check on values that leave it. */
import type { Clock } from "../core/clock.ts";
import { Refused } from "../core/errors.ts";
import type { Handle, IntentId } from "../core/ids.ts";
import type { Json, JsonObject } from "../core/json.ts";
import type { Logger } from "../core/log.ts";
import type { ModelCall } from "./model-call.ts";
import type { OperationRules } from "./operation-rules.ts";

/** Longest value that a specialist stores or a step returns, as JSON. */
export const MAX_VALUE_BYTES = 256 * 1024;

export interface ReadCall {
  readonly operation: string;
  readonly target?: string;
  readonly input: JsonObject;
}

/** A charged read: its value, or the time at which the quota has room for it. */
export type HandlerRead = { readonly value: Json } | { readonly suspendedUntil: number; readonly reason: string };

/** Inputs of one handling. All of them come from outside, so that a run can be replayed. `state` is read once. */
export interface RunRequest {
  readonly event: { readonly id: string; readonly kind: string; readonly payload: Json; readonly hops: number; readonly beganAt: number };
  readonly steps: ReadonlyMap<string, Json>;
  readonly me: { readonly handle: Handle; readonly id: string | undefined };
  readonly state: JsonObject;
  readonly rules: OperationRules;
  readonly deadlineMs: number;
  read(call: ReadCall, signal: AbortSignal): Promise<HandlerRead>;
  saveStep(name: string, value: Json): Promise<void>;
  /** Asks a model, paid from the specialist's caps: a `ModelAnswer`, or the time at which it may be asked. Undefined where there is none. */
  readonly askModel?: ((call: ModelCall, signal: AbortSignal) => Promise<HandlerRead>) | undefined;
  newIntentId(): IntentId;
  readonly fetch: typeof globalThis.fetch;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** Returns the value as it will be read back. Throws `Refused` `value_invalid` if it is not JSON or too long. */
export function storable(what: string, value: unknown): Json {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    throw new Refused("value_invalid", `expected ${what} to be JSON`, { cause: error });
  }
  if (text === undefined) throw new Refused("value_invalid", `expected ${what} to be JSON, got ${typeof value}`);
  if (text.length > MAX_VALUE_BYTES)
    throw new Refused("value_invalid", `expected ${what} to be at most ${MAX_VALUE_BYTES} bytes of JSON, got ${text.length}`);
  return JSON.parse(text) as Json;
}
