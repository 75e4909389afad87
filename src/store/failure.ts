/** A failed handling as its event keeps it: in the note, which is the one text that says why an event waits. */
import { foreignCode, type AnyCode } from "../core/error-codes.ts";
import { defined } from "../core/defined.ts";
import { isObject, parseJson } from "../core/json.ts";

export interface Failure {
  readonly at: number;
  readonly code: AnyCode;
  readonly message: string;
  /** The message without what differs from event to event: failures that share it are shown as one. */
  readonly pattern: string;
  /** Handlings that failed, this one included. */
  readonly tries: number;
  /** The place in the definition, where the stack names one. */
  readonly file?: string;
  readonly line?: number;
  readonly stack?: string;
  /** The handler itself said when it is to be tried again: nothing but a new definition or a person tries it earlier. */
  readonly timed?: true;
}

/** How the note of a failure begins; no other note does. */
export const FAILED_NOTE = '{"failed":';

export function failureNote({ at, ...failure }: Failure): string {
  return JSON.stringify({ failed: at, ...failure });
}

/** What a note says, in words, and the failure where it is one. */
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
