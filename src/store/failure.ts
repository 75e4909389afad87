/** A failed handling, stored in its event's note, which holds the reason for an event's wait. */
import { foreignCode, type AnyCode } from "../core/error-codes.ts";
import { defined } from "../core/defined.ts";
import { isObject, parseJson } from "../core/json.ts";

export interface Failure {
  readonly at: number;
  readonly code: AnyCode;
  readonly message: string;
  /** The message without the parts that differ between events: failures with one pattern are shown as one. */
  readonly pattern: string;
  /** Failed handlings, this one included. */
  readonly tries: number;
  /** The place in the definition, if the stack names one. */
  readonly file?: string;
  readonly line?: number;
  readonly stack?: string;
  /** The next try has its time, from the handler or after crashes: only a new definition or a person retries earlier. */
  readonly timed?: true;
}

/** The beginning of a failure's note, and of no other note. */
export const FAILED_NOTE = '{"failed":';

export function failureNote({ at, ...failure }: Failure): string {
  return JSON.stringify({ failed: at, ...failure });
}

/** The note of an event that was handled when the process ended, `crashes` times. */
export function crashNote(crashes: number, at: number, timing: Pick<Failure, "timed"> = {}): string {
  const message = `the process ended ${crashes} times while this was handled`;
  return failureNote({ at, code: "handler_failed", message, pattern: message, tries: crashes, ...timing });
}

/** The text of a note, and the failure if it is one. */
export function readNote(note: string | undefined): { readonly note: string | undefined; readonly failure?: Failure } {
  const failure = note?.startsWith(FAILED_NOTE) === true ? readFailure(note) : undefined;
  return failure === undefined ? { note } : { note: failure.message, failure };
}

function readFailure(note: string): Failure | undefined {
  const stored = parseJson(note);
  if (!isObject(stored)) return undefined;
  const text = (name: string): string | undefined => (typeof stored[name] === "string" ? stored[name] : undefined);
  const number = (name: string): number | undefined => (typeof stored[name] === "number" ? stored[name] : undefined);
  const message = text("message") ?? "";
  return defined({
    at: number("failed") ?? 0,
    code: foreignCode(text("code") ?? "handler_threw"),
    message,
    pattern: text("pattern") ?? message,
    tries: number("tries") ?? 1,
    file: text("file"),
    line: number("line"),
    stack: text("stack"),
    timed: stored["timed"] === true || undefined,
  });
}
