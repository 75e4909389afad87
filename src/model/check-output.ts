/** The checks on each text of a model before it becomes an action. Pure. */
import { HIDDEN } from "../core/secret.ts";

export interface OutputCheck {
  /** Our own instructions, of which no run of words may come out. */
  readonly instructions: string;
  /** The texts of the data. */
  readonly texts: readonly string[];
  /** The mark of the data. */
  readonly mark: string;
  /** True for a text that holds a known secret. */
  readonly holdsSecret: (text: string) => boolean;
}

/** Longest text. A reply of a person is far shorter. */
const MAX_TEXT = 4_000;
/** Words in a row that give instructions away, and those that repeat another's text. */
const LEAKED_WORDS = 8;
const ECHOED_WORDS = 16;
/** A text of fewer words may be an answer that happens to be there too: "coffee". */
const LEAST_ECHO = 3;

/** Errors of services and runtimes, and pages in place of an answer. */
const RAW_ERROR =
  /^\s*(?:<!doctype|<html|\{\s*"error"|Traceback \(most recent|(?:[A-Z]\w*)?(?:Error|Exception)\b\s*[:(]|(?:error|fatal|panic):)|\n\s+at .+:\d+:\d+\)?\s*$|\bECONN(?:REFUSED|RESET)\b|\bHTTP (?:4|5)\d\d\b/im;

/** The reason for which a text may not leave, or undefined. */
export function faultOf(text: string, { instructions, texts, mark, holdsSecret }: OutputCheck): string | undefined {
  if (text.length > MAX_TEXT) return `it is longer than ${MAX_TEXT} characters`;
  if (text.includes(HIDDEN) || holdsSecret(text)) return "it holds a key or another secret";
  if (text.includes(mark)) return "it repeats the frame of its data";
  if (RAW_ERROR.test(text)) return "it is an error message and no answer";
  const words = wordsOf(text);
  if (shares(words, wordsOf(instructions), LEAKED_WORDS)) return "it repeats the instructions";
  return isEcho(words, texts) ? "it repeats a text of the data" : undefined;
}

/** Every text of a value, so that no member of an input is forgotten. */
export function textsOf(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => [...(Array.isArray(value) ? [] : [name]), ...textsOf(member)]);
}

function isEcho(words: readonly string[], texts: readonly string[]): boolean {
  return texts.some((text) => {
    const given = wordsOf(text);
    const isWhole = given.length >= LEAST_ECHO && given.length === words.length && shares(words, given, words.length);
    return isWhole || shares(words, given, ECHOED_WORDS);
  });
}

function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** True if `count` words in a row stand in both. */
function shares(one: readonly string[], other: readonly string[], count: number): boolean {
  if (one.length < count || other.length < count) return false;
  const runs = new Set<string>();
  for (let at = 0; at + count <= other.length; at++) runs.add(other.slice(at, at + count).join(" "));
  for (let at = 0; at + count <= one.length; at++) if (runs.has(one.slice(at, at + count).join(" "))) return true;
  return false;
}
