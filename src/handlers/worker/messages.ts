/** What the runtime and a worker thread say to each other: plain data, since functions do not cross threads. */
import { foreignCode } from "../../core/error-codes.ts";
import { Fatal, messageOf, Misconfigured, Refused, Retryable, RetinueError } from "../../core/errors.ts";
import type { IntentId } from "../../core/ids.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import type { LogFields, LogLevel } from "../../core/log.ts";
import type { ReadCall, ReadResult, RunRequest } from "../../specialist/run-request.ts";
import type { OperationRule } from "../../specialist/operation-rules.ts";
import { RunInterrupted, type RunResult } from "../../specialist/run.ts";

/** One handling, as it is ordered. */
export interface RunOrder {
  readonly run: number;
  /** The definition's file, and which loading of it is meant. */
  readonly file: string;
  readonly version: number;
  readonly kind: string;
  readonly request: Pick<RunRequest, "event" | "steps" | "me" | "state" | "deadlineMs">;
  /** The runtime's time as the order leaves. */
  readonly now: number;
}

export type ToWorker =
  | ({ readonly say: "run" } & RunOrder)
  | { readonly say: "abort"; readonly run: number }
  | { readonly say: "answer"; readonly ask: number; readonly answer: Answer<ReadResult | undefined> };

/** What a handler waits for with `await`. */
export type Ask =
  | { readonly what: "read"; readonly call: ReadCall }
  | { readonly what: "saveStep"; readonly name: string; readonly value: Json };

export type FromWorker =
  | { readonly say: "ready" }
  /** It has the order, and loads the definition where it has not yet. */
  | { readonly say: "begun"; readonly run: number }
  | { readonly say: "loaded"; readonly run: number }
  | { readonly say: "unloadable"; readonly run: number; readonly reason: string }
  | { readonly say: "ask"; readonly run: number; readonly ask: number; readonly about: Ask }
  | { readonly say: "log"; readonly run: number; readonly level: LogLevel; readonly message: string; readonly fields: LogFields }
  /** Something failed outside of any handling. */
  | { readonly say: "stray"; readonly message: string }
  | { readonly say: "result"; readonly run: number; readonly result: ResultData };

/** What a handler is told at once, without `await`: the thread waits for the answer. */
export type Question =
  | { readonly what: "rule"; readonly operation: string }
  | { readonly what: "input"; readonly operation: string; readonly input: JsonObject }
  | { readonly what: "review"; readonly operation: string; readonly target: string | undefined; readonly input: JsonObject }
  | { readonly what: "intent-id" };

export type PlainRule = Omit<OperationRule, "review"> & { readonly reviewed: boolean };

/** What each question is answered with. */
export interface QuestionAnswers {
  readonly rule: PlainRule;
  readonly input: JsonObject;
  readonly review: ReturnType<NonNullable<OperationRule["review"]>> | undefined;
  readonly "intent-id": IntentId;
}

export type Answer<Value> = { readonly value: Value } | { readonly error: ErrorData };

export interface ErrorData {
  readonly name: string;
  readonly message: string;
  /** Of our own classes and those made from them; which, where it says what to do. */
  readonly code?: string;
  readonly class?: keyof typeof CLASSES;
  readonly hint?: string;
  readonly retryAt?: number;
}

export type ResultData = Exclude<RunResult, { readonly kind: "failed" }> | { readonly kind: "failed"; readonly error: ErrorData };

export function encodeResult(result: RunResult): ResultData {
  return result.kind === "failed" ? { kind: "failed", error: encodeError(result.error) } : result;
}

export function decodeResult(said: ResultData): RunResult {
  return said.kind === "failed" ? { kind: "failed", error: decodeError(said.error) } : said;
}

export function encodeError(error: unknown): ErrorData {
  const message = messageOf(error);
  if (!(error instanceof RetinueError)) return { name: error instanceof Error ? error.name : "Error", message };
  const { hint } = error.details;
  const own = CLASS_NAMES.find((name) => error instanceof CLASSES[name]);
  return {
    name: error.name,
    message,
    code: error.code,
    ...(own === undefined ? {} : { class: own }),
    ...(hint === undefined ? {} : { hint }),
    ...(error instanceof Retryable && error.retryAt !== undefined ? { retryAt: error.retryAt } : {}),
  };
}

const CLASSES = { Refused, Retryable, Misconfigured, Fatal, RunInterrupted } as const;
const CLASS_NAMES = Object.keys(CLASSES) as readonly (keyof typeof CLASSES)[];

/** One of ours that says nothing of what to do. */
class Unclassed extends RetinueError {}

/** The same error on the other side, without its stack. */
export function decodeError({ name, message, code, class: own, hint, retryAt }: ErrorData): Error {
  if (code === undefined) return Object.assign(new Error(message), { name });
  const Class = own === undefined ? Unclassed : CLASSES[own];
  const details = { ...(hint === undefined ? {} : { hint }), ...(retryAt === undefined ? {} : { retryAt }) };
  return Object.assign(new Class(foreignCode(code), message, details), { name });
}
