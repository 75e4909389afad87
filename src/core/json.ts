/** JSON values as a type, and the bounds under which they are accepted. */
import { hash } from "node:crypto";

/** Any JSON value. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject;
/** A JSON object. */
export interface JsonObject {
  readonly [key: string]: Json | undefined;
}

/** Types of values that JSON does not keep. */
type NoJson =
  | ((...args: never[]) => unknown)
  | Date
  | ReadonlyMap<unknown, unknown>
  | ReadonlySet<unknown>
  | bigint
  | symbol
  | undefined
  | void;
type KeptByJson<Value> = Value extends string | number | boolean | null
  ? true
  : Value extends NoJson
    ? false
    : Value extends readonly (infer Item)[]
      ? KeptByJson<Item>
      : Value extends object
        ? false extends { [Name in keyof Value]-?: KeptByJson<Exclude<Value[Name], undefined>> }[keyof Value]
          ? false
          : true
        : false;
/** Any type if JSON keeps its values, interfaces and optional members included; else a text, which no such value is. */
export type IfJson<Value> = [Value] extends [Json] ? unknown : false extends KeptByJson<Value> ? "JSON does not keep this type" : unknown;

/** Deeper values are refused before they are parsed or stored. */
export const MAX_JSON_DEPTH = 64;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Converts a value to JSON: a copy without `undefined` members. */
export function asJson(value: object): JsonObject {
  return JSON.parse(JSON.stringify(value)) as JsonObject;
}

/** The number under a name of stored JSON; undefined if there is another value, or none. */
export function numberIn(stored: JsonObject | undefined, name: string): number | undefined {
  const value = stored?.[name];
  return typeof value === "number" ? value : undefined;
}

export function textIn(object: JsonObject | undefined, name: string): string | undefined {
  const value = object?.[name];
  return typeof value === "string" ? value : undefined;
}

/** The texts in the list of this name; other items are left out. */
export function textsIn(object: JsonObject | undefined, name: string): readonly string[] | undefined {
  const value = object?.[name];
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : undefined;
}

/** True where no text with so few openings can be nested deeper than `MAX_JSON_DEPTH`: most texts, without a look at each character. */
function isShallow(text: string): boolean {
  let openings = 0;
  for (const opening of "{[")
    for (let at = text.indexOf(opening); at >= 0; at = text.indexOf(opening, at + 1)) if (++openings > MAX_JSON_DEPTH) return false;
  return true;
}

/** The nesting depth of a JSON text, computed without parsing it (V8 parses depths that then overflow elsewhere). */
export function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  let quoted = false;
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i);
    if (quoted) {
      if (char === 0x5c) i++;
      else if (char === 0x22) quoted = false;
    } else if (char === 0x22) quoted = true;
    else if (char === 0x7b || char === 0x5b) deepest = Math.max(deepest, ++depth);
    else if (char === 0x7d || char === 0x5d) depth--;
  }
  return deepest;
}

/** Parses foreign JSON: bounded depth, no `__proto__` keys, `undefined` if it is not JSON. */
export function parseJson(text: string): Json | undefined {
  if (!isShallow(text) && depthOf(text) > MAX_JSON_DEPTH) return undefined;
  try {
    const clean = withoutMark(text);
    const parsed = JSON.parse(clean) as Json;
    if (clean.includes("__proto__") || clean.includes("\\u00")) dropProto(parsed); // the name may be written in escapes
    return parsed;
  } catch {
    return undefined; // "not JSON" is an answer here, and the caller must handle it
  }
}

/** Works in place: a reviver, which is called for every value, takes twenty times as long, and anyone may be the sender. */
function dropProto(value: Json | undefined): void {
  if (Array.isArray(value)) return value.forEach(dropProto);
  if (!isObject(value)) return;
  if (Object.hasOwn(value, "__proto__")) Reflect.deleteProperty(value, "__proto__");
  Object.values(value).forEach(dropProto);
}

/** One line for every line reader: JSON does not escape two line separators at which Node's readline splits. */
export function jsonLine(value: object): string {
  return JSON.stringify(value).replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
}

/** The text without a byte order mark at its beginning. */
export function withoutMark(text: string): string {
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
}

/** JSON with each of its strings, names and numbers mapped, and nothing else changed. Text that is no JSON is mapped as a whole. */
export function mapLiterals(json: string, map: (text: string) => string): string {
  if (!isJson(json)) return map(json);
  let mapped = "";
  let at = 0;
  for (let quote = json.indexOf('"'); quote >= 0; quote = json.indexOf('"', at)) {
    const end = endOfString(json, quote);
    mapped += mapNumbers(json.slice(at, quote), map) + mapString(json.slice(quote, end), map);
    at = end;
  }
  return mapped + mapNumbers(json.slice(at), map);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(withoutMark(text));
    return true;
  } catch {
    return false; // "not JSON" is the answer
  }
}

/** The place behind the closing quote. */
function endOfString(json: string, quote: number): number {
  for (let at = quote + 1; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (code === 0x5c) at++;
    else if (code === 0x22) return at + 1;
  }
  return json.length;
}

function mapString(literal: string, map: (text: string) => string): string {
  const text = literal.includes("\\") ? (JSON.parse(literal) as string) : literal.slice(1, -1);
  const mapped = map(text);
  return mapped === text ? literal : JSON.stringify(mapped);
}

/** A number that `map` changes becomes a string. */
function mapNumbers(between: string, map: (text: string) => string): string {
  return between.replace(/-?\d[\d.eE+-]*/g, (literal) => {
    const mapped = map(literal);
    return mapped === literal ? literal : JSON.stringify(mapped);
  });
}

/** Equal text for equal values, whatever the order of their keys. */
export function canonicalJson(value: Json | undefined): string {
  if (value === undefined) return "null";
  if (Array.isArray(value)) return `[${value.map((item: Json) => canonicalJson(item)).join(",")}]`;
  if (isObject(value)) {
    const keys = Object.keys(value)
      .filter((key) => value[key] !== undefined)
      .sort();
    return `{${keys.map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key])}`).join(",")}}`;
  }
  return JSON.stringify(value);
}

/** SHA-256 in hex, of a text or of a value's canonical form. */
export function sha256(value: Json): string {
  return hash("sha256", typeof value === "string" ? value : canonicalJson(value));
}
