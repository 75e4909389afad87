/** Reads a `.env` file as dotenv does, and finds the lines in it that dotenv ignores or cuts short. */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { parse } from "dotenv";
import { messageOf } from "../core/errors.ts";
import { mistake, warning, type Problem } from "./problem.ts";

export interface DotenvFile {
  readonly variables: { readonly [name: string]: string };
  readonly problems: readonly Problem[];
}

const MAX_BYTES = 1024 * 1024;
const LEAST_ROOM = 4096;
const MAX_LINES_SHOWN = 20;
/** A variable, as dotenv reads it: its name, and its value before quotes are removed. */
const VARIABLE =
  /^\s*(?:export\s+)?([\w.-]+)(?:\s*=\s*?|:\s+?)(\s*'(?:\\'|[^'])*'|\s*"(?:\\"|[^"])*"|\s*`(?:\\`|[^`])*`|[^#\r\n]+)?(\s*(?:#.*)?)$/gm;

/** The last file that was parsed: each key of each specialist is looked up in the file of now, which is mostly the same. */
let last: { readonly bytes: Buffer; readonly variables: DotenvFile["variables"] } | undefined;
/**
 * The place for the bytes of each reading. Fresh memory for each costs more than the reading itself: a string of 300 kB, the keys of 5,000
 * specialists, takes 1.1 ms, and these bytes 0.02 ms.
 */
let room = Buffer.alloc(0);

function variablesIn(bytes: Buffer): DotenvFile["variables"] {
  if (last?.bytes.equals(bytes) !== true) last = { bytes: Buffer.from(bytes), variables: parse(bytes.toString("utf8")) };
  return last.variables;
}

/** The bytes of the file, until the next reading; undefined if they are too many. A pipe has no size that is known before. */
function bytesOf(file: string): Buffer | undefined {
  const descriptor = openSync(file, "r");
  try {
    const { size } = fstatSync(descriptor);
    if (size > MAX_BYTES) return undefined;
    if (room.length <= size) room = Buffer.alloc(size + LEAST_ROOM);
    for (let end = 0; ;) {
      const read = readSync(descriptor, room, end, room.length - end, null);
      end += read;
      if (read === 0 || end > MAX_BYTES) return read === 0 ? room.subarray(0, end) : undefined;
      if (end === room.length) room = Buffer.concat([room, Buffer.alloc(room.length)]);
    }
  } finally {
    closeSync(descriptor);
  }
}

/** The variables of the file; none if it is missing. `teach` looks for mistaken lines too. Never throws. */
export function readDotenv(file: string, teach = false): DotenvFile {
  try {
    const bytes = bytesOf(file);
    if (bytes === undefined) return unreadable(file, `is larger than ${MAX_BYTES} bytes`);
    if (bytes.includes(0)) return unreadable(file, "is not UTF-8 text", "save it as UTF-8; PowerShell's > writes UTF-16");
    return { variables: variablesIn(bytes), problems: teach ? mistakenLines(bytes.toString("utf8").replace(/\r\n?/g, "\n"), file) : [] };
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return { variables: {}, problems: [] };
    return unreadable(file, `cannot be read: ${messageOf(error)}`);
  }
}

function unreadable(file: string, message: string, hint = "fix its permissions, or remove it"): DotenvFile {
  return { variables: {}, problems: [mistake("env_unreadable", message, { file, hint })] };
}

/** Problems name lines and variables, never values: a value may be a secret. */
function mistakenLines(text: string, file: string): readonly Problem[] {
  const problems: Problem[] = [];
  const tell = (at: number, message: string, hint: string): void =>
    void problems.push(warning("env_line", message, { file, line: text.slice(0, at).split("\n").length, hint }));
  const known = new Set<string>();
  let end = 0;
  for (const match of text.matchAll(VARIABLE)) {
    const [whole, name = "", value = "", comment = ""] = match;
    tellIgnored(text, { from: end, to: match.index }, tell);
    end = match.index + whole.length;
    const at = match.index + whole.indexOf(name);
    const quote = /^\s*(['"`])/.exec(value)?.[1];
    if (known.has(name)) tell(at, `${name} is given twice: the last value counts`, "keep one of the lines");
    else if (quote !== undefined && (value.trim().length < 2 || !value.trim().endsWith(quote)))
      tell(
        at,
        `the value of ${name} begins with ${quote} and does not end with it: the quote is part of the value`,
        "close the quote, or remove it",
      );
    else if (comment.startsWith("#") && /\S$/.test(value) && quote === undefined)
      tell(at, `the value of ${name} ends before its #`, `quote the value: ${name}="…", or put a space before a comment`);
    known.add(name);
  }
  tellIgnored(text, { from: end, to: text.length }, tell);
  return problems.slice(0, MAX_LINES_SHOWN);
}

function tellIgnored(
  text: string,
  { from, to }: { readonly from: number; readonly to: number },
  tell: (at: number, message: string, hint: string) => void,
): void {
  let at = from;
  for (const line of text.slice(from, to).split("\n")) {
    const bare = line.trim();
    if (bare !== "" && !bare.startsWith("#"))
      tell(
        at + line.indexOf(bare),
        "the line is ignored: it is not NAME=value",
        bare.includes("=") ? "a name has letters, digits and _ only, without spaces" : "write NAME=value; a comment begins with #",
      );
    at += line.length + 1;
  }
}
