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

/** One symbol for every copy of the package: an error carries its class under it, and so do errors of derived classes. */
const CLASS = Symbol.for("retinue.error");

export type ErrorClass = "Refused" | "Retryable" | "Fatal" | "Misconfigured";

/** The base of the errors of this package. Its class says what the caller should do, its `code` says what happened. */
export abstract class RetinueError extends Error {
  /** Stable across rewording; safe to match on. */
  readonly code: AnyCode;
  readonly details: ErrorDetails;

  get [CLASS](): ErrorClass | undefined {
    return undefined;
  }

  constructor(code: AnyCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.details = details;
    this.name = new.target.name;
  }
}

/** A rule refused the request. A retry will not help. */
export class Refused extends RetinueError {
  override get [CLASS](): "Refused" {
    return "Refused";
  }
}

/** A retry may succeed; `retryAt` is the earliest time (ms since the epoch), if known. */
export class Retryable extends RetinueError {
  readonly retryAt: number | undefined;

  override get [CLASS](): "Retryable" {
    return "Retryable";
  }

  constructor(code: AnyCode, message: string, details: ErrorDetails & { readonly retryAt?: number } = {}) {
    super(code, message, details);
    this.retryAt = details.retryAt;
  }
}

/** The process cannot go on safely. */
export class Fatal extends RetinueError {
  override get [CLASS](): "Fatal" {
    return "Fatal";
  }
}

/** A person has to change a file, a flag or a variable. Commands end with exit code 2. */
export class Misconfigured extends RetinueError {
  override get [CLASS](): "Misconfigured" {
    return "Misconfigured";
  }
}

/** The message of any thrown value, without its stack. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** True for errors of Retinue, also of another copy of the package. */
export function isRetinueError(error: unknown): error is RetinueError {
  return error instanceof Error && CLASS in error;
}

/** The class of an error, whichever copy of the package and whichever derived class it comes from; undefined for a bare `RetinueError`. */
export const errorClass = (error: RetinueError): ErrorClass | undefined => error[CLASS];

/** True for errors after which a retry cannot help. */
export const isTerminal = (error: unknown): boolean =>
  isRetinueError(error) && ["Refused", "Misconfigured", "Fatal"].includes(errorClass(error) ?? "");

/** The earliest time of a retry that an error states (ms since the epoch), whichever copy of the package it comes from. */
export function retryTime(error: unknown): number | undefined {
  if (!isRetinueError(error) || errorClass(error) !== "Retryable") return undefined;
  return "retryAt" in error && typeof error.retryAt === "number" ? error.retryAt : undefined;
}
