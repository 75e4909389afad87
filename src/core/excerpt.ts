/** Short copies of any value, for the log: bounded in length, breadth and depth, with a note of omissions. Never throws. */
import { messageOf } from "./errors.ts";

/** Characters of one text. */
const MAX_TEXT = 1_000;
/** Size of one whole copy, in characters; other values count as a few. */
const MAX_TOTAL = 4_000;
const PER_VALUE = 4;
const MAX_NAME = 100;
const MAX_ITEMS = 50;
const MAX_DEPTH = 6;
/** Characters searched for secrets beyond the shown ones, so that a secret cut in two is not shown in part. */
const OVERLAP = 4_096;

/** Removes secrets from a text. */
type Clean = (text: string) => string;

interface Left {
  readonly clean: Clean;
  characters: number;
}

/** Returns the beginning of a text, and the length of the rest. */
export function excerpt(text: string, clean: Clean, max: number = MAX_TEXT): string {
  const cleaned = clean(text.length > max + OVERLAP ? text.slice(0, max + OVERLAP) : text);
  // The end of a partly searched text may be the beginning of a secret.
  const sure = text.length > max + OVERLAP ? Math.max(0, cleaned.length - OVERLAP) : cleaned.length;
  const shown = cleaned.slice(0, Math.min(max, sure));
  return shown.length === cleaned.length ? shown : `${shown}… (${text.length - shown.length} characters more)`;
}

/** Copies plain data: other values are left out, as by `JSON.stringify`. */
export function excerptOf(fields: { readonly [name: string]: unknown }, clean: Clean): { readonly [name: string]: unknown } {
  return membersOf(fields, { clean, characters: MAX_TOTAL }, 0);
}

function copyOf(value: unknown, left: Left, depth: number): unknown {
  left.characters -= PER_VALUE;
  switch (typeof value) {
    case "string":
      return textOf(value, left);
    case "bigint":
    case "number":
      return numberOf(value, left);
    case "object":
      return value === null ? null : insideOf(value, left, depth);
    case "function":
    case "symbol":
    case "undefined":
      return undefined;
    default:
      return value;
  }
}

function insideOf(value: object, left: Left, depth: number): unknown {
  try {
    if (value instanceof Error) return textOf(messageOf(value), left);
    if (depth >= MAX_DEPTH) return "…";
    if ("toJSON" in value && typeof value.toJSON === "function") return copyOf(value.toJSON(), left, depth + 1);
    return Array.isArray(value) ? itemsOf(value, left, depth) : membersOf(value, left, depth);
  } catch (error) {
    return `(unreadable: ${excerpt(messageOf(error), left.clean, MAX_NAME)})`;
  }
}

function itemsOf(list: readonly unknown[], left: Left, depth: number): readonly unknown[] {
  const shown: unknown[] = [];
  for (const item of list) {
    if (shown.length >= MAX_ITEMS || left.characters <= 0) return [...shown, `… (${list.length - shown.length} more)`];
    shown.push(copyOf(item, left, depth + 1) ?? null);
  }
  return shown;
}

function membersOf(value: object, left: Left, depth: number): { readonly [name: string]: unknown } {
  const shown: [string, unknown][] = [];
  const names = Object.keys(value);
  for (const [index, name] of names.entries()) {
    if (shown.length >= MAX_ITEMS || left.characters <= 0) {
      shown.push(["…", `${names.length - index} more`]);
      break;
    }
    left.characters -= Math.min(name.length, MAX_NAME);
    const copy = copyOf(Reflect.get(value, name), left, depth + 1);
    if (copy !== undefined) shown.push([excerpt(name, left.clean, MAX_NAME), copy]);
  }
  return Object.fromEntries(shown);
}

/** Returns a text if JSON has no such number, or if its digits are a secret. */
function numberOf(value: number | bigint, { clean }: Left): number | string {
  const text = `${value}`;
  const cleaned = clean(text);
  return typeof value === "number" && Number.isFinite(value) && cleaned === text ? value : cleaned;
}

function textOf(text: string, left: Left): string {
  const shown = excerpt(text, left.clean, Math.max(0, Math.min(MAX_TEXT, left.characters)));
  left.characters -= Math.min(text.length, MAX_TEXT);
  return shown;
}
