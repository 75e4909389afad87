/** Messages between the runtime and a worker thread: plain data, since functions do not cross threads. */
import type { LoadedFiles } from "../../config/module-file.ts";
import type { Problem } from "../../config/problem.ts";
import { foreignCode } from "../../core/error-codes.ts";
import {
  errorClass,
  Fatal,
  isRetinueError,
  messageOf,
  Misconfigured,
  Refused,
  Retryable,
  retryTime,
  RetinueError,
} from "../../core/errors.ts";
import type { GivenInput } from "../../specialist/operation-rules.ts";
import type { IntentId } from "../../core/ids.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import type { LogFields, LogLevel } from "../../core/log.ts";
import type { ToolAnswer } from "../../specialist/act.ts";
import type { ModelCall } from "../../specialist/model-call.ts";
import type { ReadCall, HandlerRead, RunRequest, ToolCall } from "../../specialist/run-request.ts";
import type { OperationRule } from "../../specialist/operation-rules.ts";
import { RunInterrupted, type RunResult } from "../../specialist/run.ts";
import type { Shape } from "./definition-shape.ts";

/** An order to load a definition. */
export interface LoadOrder {
  readonly run: number;
  /** The definition's file, and the number of its load. */
  readonly file: string;
  readonly version: number;
}

/** An order for one handling. */
export interface RunOrder extends LoadOrder {
  /** The files of that load, if the thread has to load it again: they may have changed since. */
  readonly texts: ReadonlyMap<string, string> | undefined;
  readonly kind: string;
  readonly request: Pick<RunRequest, "event" | "steps" | "me" | "state" | "isSideBySide" | "usual" | "deadlineMs">;
  /** The runtime's time as it sends the order. */
  readonly now: number;
}

export type ToWorker =
  | ({ readonly say: "run" } & RunOrder)
  | ({ readonly say: "load" } & LoadOrder)
  | { readonly say: "abort"; readonly run: number }
  | { readonly say: "answer"; readonly ask: number; readonly answer: Answer<AskAnswers[Ask["what"]]> };

/** A definition as its thread loaded it. */
export type Evaluation = ({ readonly shape: Shape } | { readonly problem: Problem }) & { readonly files: LoadedFiles };

/** Calls of a handler that are awaited. */
export type Ask =
  | { readonly what: "model"; readonly call: ModelCall }
  | { readonly what: "read"; readonly call: ReadCall }
  | { readonly what: "tool"; readonly call: ToolCall }
  | { readonly what: "saveStep"; readonly name: string; readonly value: Json; readonly startedAt: number };

/** The answer to each. */
export interface AskAnswers {
  readonly read: HandlerRead;
  readonly model: HandlerRead;
  readonly tool: ToolAnswer;
  readonly saveStep: undefined;
}

export type FromWorker =
  | { readonly say: "ready" }
  /** The thread has the order, and loads the definition if it has not yet. */
  | { readonly say: "begun"; readonly run: number }
  | { readonly say: "loaded"; readonly run: number }
  | ({ readonly say: "evaluated"; readonly run: number } & Evaluation)
  | { readonly say: "unloadable"; readonly run: number; readonly reason: string }
  | { readonly say: "ask"; readonly run: number; readonly ask: number; readonly about: Ask }
  | { readonly say: "log"; readonly run: number; readonly level: LogLevel; readonly message: string; readonly fields: LogFields }
  /** Something failed outside any handling. */
  | { readonly say: "stray"; readonly message: string }
  | { readonly say: "result"; readonly run: number; readonly result: ResultData };

/** Calls of a handler that are answered at once, without `await`: the thread blocks until the answer. */
export type Question =
  | { readonly what: "rule"; readonly operation: string }
  | { readonly what: "input"; readonly operation: string; readonly input: GivenInput }
  | { readonly what: "review"; readonly operation: string; readonly target: string | undefined; readonly input: JsonObject }
  | { readonly what: "intent-id" };

export type PlainRule = Omit<OperationRule, "review"> & { readonly reviewed: boolean };

/** The answer to each question. */
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
  readonly stack?: string;
  /** Set for our own classes and their subclasses; the class states the reaction, if there is one. */
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
  const stack = error instanceof Error && typeof error.stack === "string" ? { stack: error.stack.slice(0, MAX_STACK) } : {};
  if (!isRetinueError(error)) return { name: error instanceof Error ? error.name : "Error", message, ...stack };
  const { hint } = error.details;
  const own = error instanceof RunInterrupted ? "RunInterrupted" : errorClass(error);
  const retryAt = retryTime(error);
  return {
    name: error.name,
    message,
    ...stack,
    code: error.code,
    ...(own === undefined ? {} : { class: own }),
    ...(hint === undefined ? {} : { hint }),
    ...(retryAt === undefined ? {} : { retryAt }),
  };
}

/** Characters of a stack in a message. */
const MAX_STACK = 4_000;
const CLASSES = { Refused, Retryable, Misconfigured, Fatal, RunInterrupted } as const;

/** An error of ours without a defined reaction. */
class Unclassed extends RetinueError {}

/** Recreates the error on the other side, with its stack. */
export function decodeError({ name, message, stack, code, class: own, hint, retryAt }: ErrorData): Error {
  const same = { name, ...(stack === undefined ? {} : { stack }) };
  if (code === undefined) return Object.assign(new Error(message), same);
  const Class = own === undefined ? Unclassed : CLASSES[own];
  const details = { ...(hint === undefined ? {} : { hint }), ...(retryAt === undefined ? {} : { retryAt }) };
  return Object.assign(new Class(foreignCode(code), message, details), same);
}
