/** The error classes: each says what the caller should do; `code` says what happened. */

import type { AnyCode } from "./error-codes.ts";

export interface ErrorDetails {
  /** What to try next, in one sentence. */
  readonly hint?: string;
  readonly file?: string;
  readonly line?: number;
  readonly expected?: string;
  readonly cause?: unknown;
}

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

/** A rule said no. Trying the same again will not help. */
export class Refused extends RetinueError {}

/** It may work later; `retryAt` is the earliest time (ms since the epoch) where known. */
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

/** The message of anything thrown, without its stack. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** True for errors of Retinue, also where two copies of the package are loaded. */
export function isRetinueError(error: unknown): error is RetinueError {
  if (error instanceof RetinueError) return true;
  return error instanceof Error && CLASS_NAMES.has(error.name) && "code" in error && typeof error.code === "string" && "details" in error;
}

const CLASS_NAMES: ReadonlySet<string> = new Set(["Refused", "Retryable", "Misconfigured", "Fatal"]);
