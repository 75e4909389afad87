/** A failed handling as stored: message and stack without secrets and bounded, and the place in the definition. */
import { fileURLToPath } from "node:url";
import { isRetinueError, messageOf } from "../core/errors.ts";
import { excerpt } from "../core/excerpt.ts";
import { RunInterrupted } from "../specialist/run.ts";
import { LOADING_QUERY } from "../config/module-file.ts";
import type { Failure } from "../store/failure.ts";

export interface Failed {
  readonly at: number;
  readonly tries: number;
  /** Removes secrets from a text. */
  readonly clean: (text: string) => string;
}

const MAX_STACK = 2_000;
const MAX_PATTERN = 200;
/** Characters of a stack that are searched for its place. */
const MAX_SEARCHED = 20_000;

export function failureOf(error: unknown, { at, tries, clean }: Failed): Failure {
  // Cleaned whole, before anything cuts it.
  const message = excerpt(clean(wholeMessage(error)), clean);
  // An interrupted handling has no place: its stack is that of a timer.
  const stack = error instanceof Error && !(error instanceof RunInterrupted) ? framesOf(error) : undefined;
  const place = stack === undefined ? undefined : placeIn(stack);
  return {
    at,
    code: isRetinueError(error) ? error.code : "handler_threw",
    message,
    pattern: patternOf(message),
    tries,
    ...(place === undefined ? {} : { file: excerpt(place.file, clean), line: place.line }),
    ...(stack === undefined ? {} : { stack: excerpt(readable(stack), clean, MAX_STACK) }),
  };
}

/** The stack without the message at its beginning, which may be long. */
function framesOf({ stack, message }: Error): string | undefined {
  if (typeof stack !== "string") return undefined;
  const start = stack.indexOf(message);
  const frames = stack.slice(start < 0 ? 0 : start + message.length).slice(0, MAX_SEARCHED);
  return frames.replace(/^\s*\n/, "");
}

/** The message with that of its cause: "fetch failed" alone says nothing. */
function wholeMessage(error: unknown): string {
  const message = messageOf(error);
  const cause = error instanceof Error && error.cause !== undefined ? messageOf(error.cause) : "";
  return cause === "" || message.includes(cause) ? message : `${message}: ${cause}`;
}

/** The message without quoted words and words with digits: ids, times and counts differ between events. */
export function patternOf(message: string): string {
  return message
    .slice(0, MAX_PATTERN)
    .replaceAll(/"[^"]*"|'[^']*'|`[^`]*`/g, "…")
    .replaceAll(/[^\s,;:()[\]{}]*\d[^\s,;:()[\]{}]*/g, "#")
    .replaceAll(/\s+/g, " ")
    .trim();
}

const OWN_FILES = new URL("../", import.meta.url).href;
const FRAME = /(?:^|[\s(])(file:\/\/[^\s()]+|\/[^():]+|[A-Za-z]:\\[^():]+?):(\d+):\d+\)?$/;

/**
 * The frame nearest to the throw in a definition's file, or in one loaded beside it; else the nearest that is neither ours nor a package's.
 */
function placeIn(stack: string): { readonly file: string; readonly line: number } | undefined {
  const frames = stack.split("\n").flatMap((text) => {
    const [, address, line] = FRAME.exec(text.trimEnd()) ?? [];
    return address === undefined ? [] : [{ address, line: Number(line) }];
  });
  const frame =
    frames.find(({ address }) => address.includes(LOADING_QUERY)) ??
    frames.find(
      ({ address }) => !address.startsWith(OWN_FILES) && !address.startsWith(pathOf(OWN_FILES)) && !address.includes("node_modules"),
    );
  return frame === undefined ? undefined : { file: pathOf(frame.address), line: frame.line };
}

/** The path without the mark of its load. */
function pathOf(address: string): string {
  const plain = address.split("?")[0] ?? "";
  try {
    return plain.startsWith("file:") ? fileURLToPath(plain) : plain;
  } catch {
    return plain; // an address that is no path, such as one of another host
  }
}

function readable(stack: string): string {
  return stack.replaceAll(/file:\/\/[^\s()]+/g, (address) => {
    const [, file = address, place = ""] = /^(.*?)((?::\d+)*)$/.exec(address) ?? [];
    return `${pathOf(file)}${place}`;
  });
}
