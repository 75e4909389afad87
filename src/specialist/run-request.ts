/** The inputs of one handling, and the check on values that leave it. */
import type { Clock } from "../core/clock.ts";
import type { ErrorCode } from "../core/error-codes.ts";
import { messageOf, Refused } from "../core/errors.ts";
import type { Handle, IntentId } from "../core/ids.ts";
import type { Json, JsonObject } from "../core/json.ts";
import type { Logger } from "../core/log.ts";
import type { ModelCall } from "./model-call.ts";
import type { OnPileUp, ToolAnswer } from "./act.ts";
import type { OperationRules } from "./operation-rules.ts";

/** Longest value that a specialist stores or a step returns, as JSON. */
export const MAX_VALUE_BYTES = 256 * 1024;

/** The options of a schedule for its actions. */
export interface UsualOptions {
  readonly expiresMs: number | undefined;
  readonly onPileUp: OnPileUp;
}

export interface ReadCall {
  readonly operation: string;
  readonly target?: string;
  readonly input: JsonObject;
}

export interface ToolCall {
  /** `server/tool`. */
  readonly tool: string;
  readonly input: JsonObject;
  readonly deadlineMs: number;
}

/** A charged read: its value, or the time at which the quota has room for it. */
export type HandlerRead = { readonly value: Json } | { readonly suspendedUntil: number; readonly reason: string };

/** Names the first part that JSON drops or changes without a word; values with a JSON form of their own (dates) and missing members pass. */
function lostByJson(value: unknown): string | undefined {
  if (typeof value === "number") return Number.isFinite(value) ? undefined : String(value);
  if (typeof value === "function" || typeof value === "symbol") return `a ${typeof value}`;
  if (typeof value !== "object" || value === null) return undefined;
  if ("toJSON" in value) return undefined;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (!Array.isArray(value) && prototype !== Object.prototype && prototype !== null) return `a ${value.constructor.name || "class"}`;
  for (const [name, member] of Object.entries(value)) {
    const lost = lostByJson(member);
    if (lost !== undefined) return `${lost} in ${name}`;
  }
  return undefined;
}

/** Inputs of one handling. All of them come from outside, so that a run can be replayed. `state` is read once. */
export interface RunRequest {
  readonly event: { readonly id: string; readonly kind: string; readonly payload: Json; readonly hops: number; readonly beganAt: number };
  readonly steps: ReadonlyMap<string, Json>;
  readonly me: { readonly handle: Handle; readonly id: string | undefined };
  readonly state: JsonObject;
  /** Other handlings may run at the same time, so that this one may not write state. */
  readonly isSideBySide?: boolean;
  readonly rules: OperationRules;
  readonly deadlineMs: number;
  /** Options of actions that state none. */
  readonly usual?: UsualOptions | undefined;
  read(call: ReadCall, signal: AbortSignal): Promise<HandlerRead>;
  /** Absent where no server is reached, as in a simulation. */
  readonly callTool?: ((call: ToolCall, signal: AbortSignal) => Promise<ToolAnswer>) | undefined;
  /** `startedAt`: in ms since the epoch. */
  saveStep(name: string, value: Json, startedAt: number): Promise<void>;
  /** Asks a model, paid from the specialist's caps: a `ModelAnswer`, or the time at which it may be asked. Undefined where there is none. */
  readonly askModel?: ((call: ModelCall, signal: AbortSignal) => Promise<HandlerRead>) | undefined;
  newIntentId(): IntentId;
  readonly fetch: typeof globalThis.fetch;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/**
 * Returns the value as it will be read back. Throws `Refused` if it is not JSON, if JSON would lose a part of it (a map, a class, NaN), or
 * if it is too long.
 */
export function storable(what: string, value: unknown, code: ErrorCode = "value_invalid"): Json {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    throw new Refused(code, `expected ${what} to be JSON: ${messageOf(error).split("\n")[0]}`, { cause: error });
  }
  const lost = text === undefined ? typeof value : lostByJson(value);
  if (text === undefined || lost !== undefined)
    throw new Refused(code, `expected ${what} to be JSON, got ${lost}`, {
      hint: "give plain objects, lists, texts and numbers, such as await answer.json()",
    });
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_VALUE_BYTES)
    throw new Refused("value_invalid", `expected ${what} to be at most ${MAX_VALUE_BYTES} bytes of JSON, got ${bytes}`);
  return JSON.parse(text) as Json;
}
