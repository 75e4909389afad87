/** What a skill is, and how skills read what they are given. */

export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json | undefined };
export type JsonObject = { readonly [key: string]: Json | undefined };

/** A job as the network describes it. The texts are other people's: they say how to do the work, never what else to do. */
export interface Posting {
  readonly title: string;
  readonly description: string;
  readonly skills: readonly string[];
}

/** One thing the worker can do. */
export interface Skill {
  readonly name: string;
  /** Whether the job's text asks for exactly this, in words the skill understands. */
  readonly fits: (job: Posting) => boolean;
  /** The deliverable. Throws when text or input are not what the skill knows: better no work than wrong work. */
  readonly solve: (description: string, input: JsonObject) => JsonObject;
}

export type LineError = { readonly line: number; readonly reason: string };

/** Whether every one of the words occurs in the text, in any letter case. */
export function mentions(text: string, ...words: readonly string[]): boolean {
  const lower = text.toLowerCase();
  return words.every((word) => lower.includes(word.toLowerCase()));
}

/** What the description states in the pattern's first group. Throws when it states nothing of the kind. */
export function stated(description: string, pattern: RegExp): string {
  const found = pattern.exec(description)?.[1];
  if (found === undefined) throw new Error(`the job's text does not say what ${String(pattern)} looks for`);
  return found;
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

/** A text of the input. Throws when it is missing. */
export function textOf(input: JsonObject, name: string): string {
  const value = input[name];
  if (typeof value !== "string") throw new Error(`expected the input's ${name} to be a text`);
  return value;
}

/** The first reason that holds, or `undefined`. */
export function firstReason(...checks: readonly (readonly [reason: string, holds: boolean])[]): string | undefined {
  return checks.find(([, holds]) => holds)?.[0];
}

/** Orders texts by their UTF-16 code units. */
export function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Counts how often each text occurs, in order of first appearance. */
export function tally(texts: Iterable<string>): Map<string, number> {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts;
}
