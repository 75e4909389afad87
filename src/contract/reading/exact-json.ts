/** Parses answers without losing digits: whole numbers that a double cannot hold become strings. */
import { depthOf, MAX_JSON_DEPTH, parseJson, withoutMark, type Json } from "../../core/json.ts";

/** 2^53 has 16 digits; shorter runs are always exact. */
const LONG_NUMBER = /\d{16}/;

/**
 * As `parseJson` of core, except that a whole number beyond 2^53 comes back as the text it was sent as: an id is never
 * rounded into somebody else's. `undefined` when it is not JSON, or deeper than `MAX_JSON_DEPTH`.
 */
export function parseExactJson(text: string): Json | undefined {
  if (!LONG_NUMBER.test(text)) return parseJson(text);
  if (depthOf(text) > MAX_JSON_DEPTH) return undefined;
  try {
    return JSON.parse(withoutMark(text), keepDigits) as Json;
  } catch {
    return undefined; // "not JSON" is an answer here, and the caller must handle it
  }
}

function keepDigits(key: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (key === "__proto__") return undefined;
  if (typeof value !== "number" || Number.isSafeInteger(value)) return value;
  const source = context?.source;
  return source !== undefined && /^-?\d+$/.test(source) ? source : value;
}
