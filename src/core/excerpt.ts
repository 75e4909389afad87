/** Short copies of anything, for the log: bounded in length, breadth and depth, with a note of what is left out. Never throws. */
import { messageOf } from "./errors.ts";

/** Of one text, in characters. */
const MAX_TEXT = 1_000;
/** Of one copy together; a value that is no text counts as a few. */
const MAX_TOTAL = 4_000;
const PER_VALUE = 4;
const MAX_NAME = 100;
const MAX_ITEMS = 50;
const MAX_DEPTH = 6;
/** A secret is looked for in this much more than is shown, so that none is shown in part because it was cut in two. */
const OVERLAP = 4_096;

/** Takes secrets out of a text. */
type Clean = (text: string) => string;

interface Left {
  readonly clean: Clean;
  characters: number;
}

/** The text's beginning, and how much more there was. */
export function excerpt(text: string, clean: Clean, max: number = MAX_TEXT): string {
  const cleaned = clean(text.length > max + OVERLAP ? text.slice(0, max + OVERLAP) : text);
  // The end of a text that was not searched to its end may be the beginning of a secret.
  const sure = text.length > max + OVERLAP ? Math.max(0, cleaned.length - OVERLAP) : cleaned.length;
  const shown = cleaned.slice(0, Math.min(max, sure));
  return shown.length === cleaned.length ? shown : `${shown}… (${text.length - shown.length} characters more)`;
}

/** A copy of plain data: what is no data is left out, as by `JSON.stringify`. */
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

/** As text where JSON knows no such number, or where its digits are a secret. */
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
