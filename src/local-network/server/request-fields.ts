/** Reads request bodies and queries field by field; what does not fit is refused with 422 or 400. */
import { isObject } from "../../core/json.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { Refusal } from "./exchange.ts";

const DEFAULT_PAGE = 20;
const MAX_PAGE = 100;

function invalid(message: string): Refusal {
  return new Refusal(422, "invalid_field", message);
}

/** The first of several names that is there. */
export function given(body: JsonObject, names: readonly string[]): Json | undefined {
  for (const name of names) if (body[name] !== undefined) return body[name];
  return undefined;
}

export function optionalText(body: JsonObject, names: readonly string[], maxLength: number): string | undefined {
  const value = given(body, names);
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "string") throw invalid(`"${names[0]}" must be a string`);
  if (value.length > maxLength) throw invalid(`"${names[0]}" must have at most ${maxLength} characters`);
  return value;
}

export function text(body: JsonObject, names: readonly string[], maxLength: number): string {
  const value = optionalText(body, names, maxLength);
  if (value === undefined || value.trim() === "") throw invalid(`"${names[0]}" is required and must not be empty`);
  return value;
}

export function optionalTexts(body: JsonObject, names: readonly string[], maxItems: number): string[] | undefined {
  const value = given(body, names);
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value) || value.length > maxItems) throw invalid(`"${names[0]}" must be an array of at most ${maxItems} strings`);
  return value.map((item: Json) => {
    if (typeof item !== "string" || item.length > 100) throw invalid(`"${names[0]}" must hold strings of at most 100 characters`);
    return item;
  });
}

/** A whole amount of credits: a number, or `{amount}`. */
export function amount(body: JsonObject, names: readonly string[], max: number): number {
  const value = given(body, names);
  const plain = isObject(value) ? value["amount"] : value;
  if (plain === undefined || plain === null) return 0;
  if (typeof plain !== "number" || !Number.isFinite(plain) || plain < 0 || plain > max)
    throw invalid(`"${names[0]}" must be a number from 0 to ${max}`);
  return plain;
}

/** Where a page starts: after the row with this `seq`, or after so many rows. */
export interface Start {
  readonly limit: number;
  readonly before: number | undefined;
  readonly skip: number;
}

/** `limit` and the position a cursor stands for. */
export function paging(from: Readonly<Record<string, Json | undefined>>): Start {
  const asked = from["limit"];
  const limit = asked === undefined ? DEFAULT_PAGE : Number(asked);
  if (!Number.isInteger(limit) || limit < 1)
    throw new Refusal(400, "invalid_limit", `"limit" must be a whole number from 1 to ${MAX_PAGE}`);
  const cursor = from["cursor"];
  const start = { limit: Math.min(limit, MAX_PAGE), before: undefined, skip: 0 };
  if (cursor === undefined || cursor === "" || cursor === null) return start;
  const plain = typeof cursor === "string" ? Buffer.from(cursor, "base64url").toString("latin1") : "";
  const position = Number.parseInt(plain.replace(SKIP, ""), 36);
  if (!Number.isSafeInteger(position)) throw new Refusal(400, "invalid_cursor", `"cursor" is not one of ours`);
  return plain.startsWith(SKIP) ? { ...start, skip: position } : { ...start, before: position };
}

/** Marks a cursor that counts rows, for dialects that page by number. */
const SKIP = "+";

/** A cursor that leaves out the first `count` rows. */
export function skipOf(count: number): string {
  return Buffer.from(SKIP + count.toString(36), "latin1").toString("base64url");
}

/** The opaque form of a position in a list. */
export function cursorOf(position: number): string {
  return Buffer.from(position.toString(36), "latin1").toString("base64url");
}

/** One page of rows held oldest first, sent newest first. */
export function newestFirst<T extends { readonly seq: number }>(
  rows: readonly T[],
  wanted: (row: T) => boolean,
  { limit, before, skip }: Start,
): { page: T[]; next: string | undefined } {
  const page: T[] = [];
  let skipped = 0;
  for (let i = before === undefined ? rows.length - 1 : firstAtLeast(rows, before) - 1; i >= 0; i--) {
    const row = rows[i];
    if (row === undefined || !wanted(row) || skipped++ < skip) continue;
    if (page.length === limit) return { page, next: cursorOf(page.at(-1)?.seq ?? 0) };
    page.push(row);
  }
  return { page, next: undefined };
}

/** The index of the first row whose `seq` is at least this. */
function firstAtLeast(rows: readonly { readonly seq: number }[], seq: number): number {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((rows[middle]?.seq ?? 0) < seq) low = middle + 1;
    else high = middle;
  }
  return low;
}
