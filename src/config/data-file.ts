/** Reads YAML, JSON and Markdown front matter as data: never code, and with the line of every value. */
import { readFile, stat } from "node:fs/promises";
import { extname } from "node:path";
import { LineCounter, parseDocument, isNode, isPair, isMap, isScalar, isSeq, type Document } from "yaml";
import { messageOf } from "../core/errors.ts";
import { depthOf, MAX_JSON_DEPTH, parseJson } from "../core/json.ts";
import { mistake, type Problem } from "./problem.ts";

export const DATA_EXTENSIONS: readonly string[] = [".yaml", ".yml", ".json", ".md"];

/** Larger files are not written by a person. */
const MAX_FILE_BYTES = 1024 * 1024;
/** One anchor may be repeated this often: enough for people, too little for an exponential expansion. */
const MAX_ALIASES = 100;

export interface DataFile {
  readonly value: unknown;
  lineOf(path: readonly PropertyKey[]): number | undefined;
  /** The text after the front matter of a Markdown file. */
  readonly body?: string;
}

export type DataFileResult =
  | { readonly data: DataFile; readonly problems: readonly [] }
  | { readonly data: undefined; readonly problems: readonly Problem[] };

export async function readDataFile(file: string): Promise<DataFileResult> {
  let text: string;
  try {
    const { size } = await stat(file);
    if (size > MAX_FILE_BYTES) return failed([tooLarge(file, size)]);
    text = await readFile(file, "utf8");
  } catch (error) {
    return failed([mistake("file_unreadable", `cannot be read: ${messageOf(error)}`, { file })]);
  }
  const clean = text.startsWith("\uFEFF") ? text.slice(1) : text;
  switch (extname(file)) {
    case ".json":
      return parseJsonText(clean, file);
    case ".md":
      return parseMarkdown(clean, file);
    default:
      return parseYaml(clean, file, 0);
  }
}

/** JSON if it begins like an object, else YAML, under the same bounds as a file. `source` names it in problems. */
export function parseDataText(text: string, source: string): DataFileResult {
  const clean = text.startsWith("\uFEFF") ? text.slice(1) : text;
  if (!/^\s*\{/.test(clean)) return parseYaml(clean, source, 0);
  const value = parseJson(clean);
  return value === undefined ? parseJsonText(clean, source) : { data: { value, lineOf: () => undefined }, problems: [] };
}

function tooLarge(file: string, size: number): Problem {
  const [is, most] = [size, MAX_FILE_BYTES].map((bytes) => bytes.toLocaleString("en"));
  return mistake("file_too_large", `is ${is} bytes long; at most ${most} are read`, {
    file,
    hint: "keep data out of a definition; a profile states only what differs from its set",
  });
}

const failed = (problems: readonly Problem[]): DataFileResult => ({ data: undefined, problems });

/** JSON by its own syntax. The YAML reader, which reads all JSON, adds lines and detects repeated keys. */
function parseJsonText(text: string, file: string): DataFileResult {
  if (depthOf(text) > MAX_JSON_DEPTH) return failed([mistake("file_too_deep", `is nested deeper than ${MAX_JSON_DEPTH}`, { file })]);
  try {
    JSON.parse(text);
  } catch (error) {
    const line = jsonLine(text, messageOf(error));
    return failed([
      mistake("data_syntax", `is not JSON: ${messageOf(error)}`, {
        file,
        ...(line === undefined ? {} : { line }),
        hint: "check for a missing comma or quote there; JSON has no comments",
      }),
    ]);
  }
  // Tabs may separate values in JSON but not in YAML; a space has the same length.
  return parseYaml(text.replaceAll("\t", " "), file, 0);
}

function jsonLine(text: string, message: string): number | undefined {
  const stated = /line (\d+)/.exec(message)?.[1];
  if (stated !== undefined) return Number(stated);
  const position = /position (\d+)/.exec(message)?.[1];
  if (position !== undefined) return text.slice(0, Number(position)).split("\n").length;
  if (/end of JSON/.test(message)) return text.trimEnd().split("\n").length;
  // Such a message quotes the text around the mistake, which is at the centre of the quote.
  const excerpt = /, (?:\.\.\.)?"([\s\S]+?)"(?:\.\.\.)? is not valid JSON$/.exec(message)?.[1];
  const at = excerpt === undefined ? -1 : text.indexOf(excerpt);
  return excerpt === undefined || at < 0 ? undefined : text.slice(0, at + excerpt.length / 2).split("\n").length;
}

/** The first line is `---`, the data follows, the next `---` ends it. No other language is accepted. */
function parseMarkdown(text: string, file: string): DataFileResult {
  const [, front, body] = /^---[ \t]*\r?\n([\s\S]*?)^---[ \t]*(?:\r?\n([\s\S]*))?$/m.exec(text) ?? [];
  if (front === undefined || !/^---[ \t]*\r?\n/.test(text))
    return failed([
      mistake("front_matter_missing", "has no front matter", {
        file,
        line: 1,
        expected: "--- on the first line, settings such as handle: scout, then --- again",
        hint: "add it, or move a plain text out of this folder (README.md may stay)",
      }),
    ]);
  const parsed = parseYaml(front, file, 1);
  return parsed.data === undefined ? parsed : { ...parsed, data: { ...parsed.data, body: (body ?? "").trim() } };
}

/** `linesBefore` shifts line numbers for text cut from a larger file. */
function parseYaml(text: string, file: string, linesBefore: number): DataFileResult {
  const counter = new LineCounter();
  const lineAt = (offset: number): number => counter.linePos(offset).line + linesBefore;
  try {
    const document = parseDocument(text, { lineCounter: counter, prettyErrors: false, uniqueKeys: true });
    const found = [...document.errors, ...document.warnings];
    if (found.length > 0)
      return failed(
        found.map((error) =>
          mistake("data_syntax", error.code === "DUPLICATE_KEY" ? `the key ${quoted(text, error.pos)} appears twice` : error.message, {
            file,
            line: lineAt(error.pos[0]),
            hint: error.code === "DUPLICATE_KEY" ? "keep one of them" : "fix the syntax at or just before this line",
          }),
        ),
      );
    const value: unknown = document.toJS({ maxAliasCount: MAX_ALIASES });
    return { data: { value, lineOf: (path) => lineOf(document, path, lineAt) }, problems: [] };
  } catch (error) {
    // Too many aliases, or nesting too deep for the reader's stack.
    return failed([mistake("data_syntax", `cannot be read: ${messageOf(error)}`, { file })]);
  }
}

function quoted(text: string, [from]: readonly [number, number]): string {
  return JSON.stringify(/^["']?([^"':\s]{1,60})/.exec(text.slice(from))?.[1] ?? "");
}

/** The line of a path's key, or of the deepest part of the path that exists. */
function lineOf(document: Document, path: readonly PropertyKey[], lineAt: (offset: number) => number): number | undefined {
  let node: unknown = document.contents;
  let offset = isNode(node) ? node.range?.[0] : undefined;
  for (const step of path) {
    if (isMap(node)) {
      const pair = node.items.find((item) => isScalar(item.key) && String(item.key.value) === String(step));
      if (!isPair(pair) || !isScalar(pair.key)) break;
      offset = pair.key.range?.[0] ?? offset;
      node = pair.value;
    } else {
      const item: unknown = isSeq(node) && typeof step === "number" ? node.items[step] : undefined;
      if (!isNode(item)) break;
      offset = item.range?.[0] ?? offset;
      node = item;
    }
  }
  return offset === undefined ? undefined : lineAt(offset);
}
