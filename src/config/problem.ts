/** One mistake in a file, a flag or a variable, described so that a person can fix it. */
import { defined } from "../core/defined.ts";
import type { AnyCode } from "../core/error-codes.ts";
import { isRetinueError, Misconfigured } from "../core/errors.ts";
import { Scrubber } from "../core/scrubber.ts";
import type { Secret } from "../core/secret.ts";

export interface Problem {
  /** A warning stops nothing. */
  readonly level: "error" | "warning";
  /** Stable across rewording. */
  readonly code: AnyCode;
  /** The mistake in one sentence. */
  readonly message: string;
  /** The file, or the name of the variable or flag in `where`. */
  readonly file?: string;
  /** The definition that it concerns, where `file` is one that it imports. */
  readonly definition?: string;
  readonly line?: number;
  readonly column?: number;
  /** The line of code, if it is known. */
  readonly excerpt?: string;
  readonly expected?: string;
  /** Advice. */
  readonly hint?: string;
}

export type ProblemDetails = Omit<Problem, "level" | "code" | "message">;

export function mistake(code: AnyCode, message: string, details: ProblemDetails = {}): Problem {
  return { level: "error", code, message, ...details };
}

export function warning(code: AnyCode, message: string, details: ProblemDetails = {}): Problem {
  return { level: "warning", code, message, ...details };
}

export function isMistake(problem: Problem): boolean {
  return problem.level === "error";
}

/** The problem for an error of ours; other errors are bugs and are rethrown. */
export function problemOf(error: unknown, details: ProblemDetails = {}): Problem {
  if (!isRetinueError(error)) throw error;
  const { file, line, column, excerpt, expected, hint } = error.details;
  return mistake(error.code, error.message, {
    ...details,
    ...defined({ file, line, column, excerpt, expected, hint }),
  });
}

/** The same problems without secrets: a file that is code may have read one, and thrown it while it was loaded. */
export function withoutSecrets(problems: readonly Problem[], secrets: readonly Secret[]): readonly Problem[] {
  if (problems.length === 0) return problems;
  const scrubber = new Scrubber();
  for (const secret of secrets) scrubber.add(secret);
  return problems.map(({ excerpt, ...problem }) => ({
    ...problem,
    message: scrubber.clean(problem.message),
    ...(excerpt === undefined ? {} : { excerpt: scrubber.clean(excerpt) }),
  }));
}

/** Throws the first mistake as `Misconfigured`, with the number of further ones. */
export function throwMistakes(problems: readonly Problem[]): void {
  const [first, ...others] = problems.filter(isMistake);
  if (first === undefined) return;
  const { code, message, level: _level, ...details } = first;
  const more = others.length === 0 ? "" : ` (and ${others.length} more: "retinue check" lists all of them)`;
  throw new Misconfigured(code, message + more, details);
}

/** The known name nearest to a mistyped one: at most two letters away, and a third of its length. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  const typed = name.toLowerCase();
  let best: string | undefined;
  let least = Math.min(2, Math.floor(Math.max(typed.length, 3) / 3)) + 1;
  for (const candidate of known) {
    const distance = edits(typed, candidate.toLowerCase(), least);
    if (distance < least) [best, least] = [candidate, distance];
  }
  return best;
}

const MAX_NAME = 100;

/** Letters to insert, delete, replace or swap (neighbours), counted up to `limit`. */
function edits(from: string, to: string, limit: number): number {
  if (Math.abs(from.length - to.length) >= limit || from.length > MAX_NAME) return limit;
  let before: number[] = [];
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const changed = from[i - 1] === to[j - 1] ? 0 : 1;
      let cost = Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + changed);
      if (i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]) cost = Math.min(cost, (before[j - 2] ?? 0) + 1);
      next.push(cost);
    }
    before = row;
    row = next;
  }
  return row[to.length] ?? limit;
}
