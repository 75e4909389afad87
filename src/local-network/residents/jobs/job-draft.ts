/** The type of a job kind, and random helpers that the generators share. */
import type { Json, JsonObject } from "../../../core/json.ts";
import type { Random } from "../../../core/random.ts";

/** A job with its correct answer, known because the generator made the input. */
export interface Draft {
  readonly title: string;
  /** The complete rules: an exact result is accepted. */
  readonly description: string;
  readonly skills: readonly string[];
  readonly input: Json;
  readonly answer: JsonObject;
  /** Whole credits. */
  readonly reward: number;
}

/** One kind of task. The same random stream gives the same draft. */
export interface Kind {
  readonly name: string;
  readonly draft: (random: Random) => Draft;
}

/** Something wrong at a 1-based line of the input. */
export type LineError = { readonly line: number; readonly reason: string };

/** The closing paragraph of every description. */
export const EXACTLY =
  "Submit that JSON object itself, with exactly these fields and no others. The order of fields inside an object does not matter; the order of lists does.";

/** Joins the paragraphs of a description. */
export function paragraphs(...parts: readonly string[]): string {
  return parts.join("\n\n");
}

/** A bulleted paragraph. */
export function bullets(intro: string, items: readonly string[]): string {
  return [intro, ...items.map((item) => `- ${item}`)].join("\n");
}

export function chance(random: Random, probability: number): boolean {
  return random.next() < probability;
}

/** A whole number from `low` to `high`, both included. */
export function between(random: Random, low: number, high: number): number {
  return low + random.int(high - low + 1);
}

/** `count` different items, in random order; all of them when there are fewer. */
export function sample<T>(random: Random, items: readonly T[], count: number): T[] {
  const left = [...items];
  const taken: T[] = [];
  while (taken.length < count && left.length > 0) taken.push(...left.splice(random.int(left.length), 1));
  return taken;
}

/** Orders texts by their UTF-16 code units, the same on every machine. */
export function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** A calendar day of 1990 to 2035. */
export function randomDay(random: Random): Date {
  return new Date(Date.UTC(between(random, 1990, 2035), random.int(12), between(random, 1, 28)));
}

/** `YYYY-MM-DD`. */
export function isoDay(day: Date): string {
  return day.toISOString().slice(0, 10);
}

export function pad(value: number, width: number): string {
  return String(value).padStart(width, "0");
}
