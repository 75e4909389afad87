/** Compares a deliverable with the right answer, field by field, without giving the answer away. */
import { isObject, type Json } from "../../../core/json.ts";

/**
 * Describes the first difference between `got` and `expected`; `undefined` if they are equal. Recursion follows `expected`, so
 * that no deliverable, however deep, can exhaust the stack; `got` is never quoted, because it is foreign text.
 */
export function difference(expected: Json, got: Json | undefined, path = "the deliverable"): string | undefined {
  const kind = kindOf(expected);
  if (got === undefined) return `${path} is missing`;
  if (kindOf(got) !== kind) return `${path} should be ${kind}, not ${kindOf(got)}`;
  if (isList(expected)) return isList(got) ? listDifference(expected, got, path) : undefined;
  if (!isObject(expected)) return expected === got ? undefined : `${path} is wrong`;
  if (!isObject(got)) return undefined; // cannot be: both are of one kind
  for (const key of Object.keys(expected)) {
    const found = difference(expected[key] ?? null, Object.hasOwn(got, key) ? got[key] : undefined, inside(path, key));
    if (found !== undefined) return found;
  }
  const extra = Object.keys(got).length - Object.keys(expected).length;
  return extra > 0 ? `${path} has ${extra} field${extra === 1 ? "" : "s"} that the job does not ask for` : undefined;
}

function listDifference(expected: readonly Json[], got: readonly Json[], path: string): string | undefined {
  const both = Math.min(expected.length, got.length);
  for (let i = 0; i < both; i++) {
    const found = difference(expected[i] ?? null, got[i] ?? null, `${path}[${i}]`);
    if (found !== undefined) return found;
  }
  if (got.length === expected.length) return undefined;
  return `${path} has too ${got.length < expected.length ? "few" : "many"} items (${got.length})`;
}

function inside(path: string, key: string): string {
  return path === "the deliverable" ? key : `${path}.${key}`;
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

function kindOf(value: Json): string {
  if (value === null) return "null";
  if (isList(value)) return "a list";
  if (isObject(value)) return "an object";
  return typeof value === "string" ? "text" : typeof value === "number" ? "a number" : "true or false";
}
