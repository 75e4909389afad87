/** The error classes: each tells the caller how to react; `code` names the cause. */

import type { AnyCode } from "./error-codes.ts";

/** Details of an error: a hint, a place in a file, the expected value, the cause. */
export interface ErrorDetails {
  /** Advice, in one sentence. */
  readonly hint?: string;
  readonly file?: string;
  readonly line?: number;
  readonly column?: number;
  /** The line of code. */
  readonly excerpt?: string;
  readonly expected?: string;
  readonly cause?: unknown;
}

/** The base of the errors of this package. Its class says what the caller should do, its `code` says what happened. */
export abstract class RetinueError extends Error {
  /** Stable across rewording; safe to match on. */
  readonly code: AnyCode;
  readonly details: ErrorDetails;

  constructor(code: AnyCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.details = details;
    this.name = new.target.name;
  }
}

/** A rule refused the request. A retry will not help. */
export class Refused extends RetinueError {}

/** A retry may succeed; `retryAt` is the earliest time (ms since the epoch), if known. */
export class Retryable extends RetinueError {
  readonly retryAt: number | undefined;

  constructor(code: AnyCode, message: string, details: ErrorDetails & { readonly retryAt?: number } = {}) {
    super(code, message, details);
    this.retryAt = details.retryAt;
  }
}

/** The process cannot go on safely. */
export class Fatal extends RetinueError {}

/** A person has to change a file, a flag or a variable. Commands end with exit code 2. */
export class Misconfigured extends RetinueError {}

/** The message of any thrown value, without its stack. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** True for errors of Retinue, also if two copies of the package are loaded. */
export function isRetinueError(error: unknown): error is RetinueError {
  if (error instanceof RetinueError) return true;
  return error instanceof Error && CLASS_NAMES.has(error.name) && "code" in error && typeof error.code === "string" && "details" in error;
}

const CLASS_NAMES: ReadonlySet<string> = new Set(["Refused", "Retryable", "Misconfigured", "Fatal"]);
