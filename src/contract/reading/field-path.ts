/** Paths into foreign JSON: `author.handle`, `errors.0.message`, `bids[].bidder` for a member of each item, and `$` for the whole value. */
import { isObject, type Json } from "../../core/json.ts";

export interface FieldPath {
  readonly text: string;
  readonly segments: readonly string[];
}

/** Syntax of a path in a profile: names, or indexes of a list, joined by dots; `[]` after a name takes each item of its list. */
export const FIELD_PATH = /^(?:\$|[^\s.$[\]]+(?:\[\])?(?:\.[^\s.[\]]+(?:\[\])?){0,7})$/;
/** A value of an answer that stands in its body, where its headers are read too. */
export const BODY_SOURCE = /^body:[^\s.$[\]]+(?:\.[^\s.[\]]+){0,7}$/;
/** Segment that takes each item of a list. */
const EACH = "[]";
/** Items taken of one list. */
const MAX_EACH = 1_000;

const compiled = new WeakMap<readonly string[], readonly FieldPath[]>();

/** The paths of a profile's list, compiled once. */
export function fieldPaths(texts: readonly string[]): readonly FieldPath[] {
  let paths = compiled.get(texts);
  if (paths === undefined) compiled.set(texts, (paths = texts.map(fieldPath)));
  return paths;
}

export function fieldPath(text: string): FieldPath {
  return {
    text,
    segments: text === "$" ? [] : text.split(".").flatMap((name) => (name.endsWith(EACH) ? [name.slice(0, -2), EACH] : name)),
  };
}

/** Returns the value at a path, or undefined. Only own properties count, so `constructor` finds nothing. */
export function valueAt(value: Json | undefined, path: FieldPath): Json | undefined {
  return valueBelow(value, path.segments);
}

function valueBelow(value: Json | undefined, segments: readonly string[]): Json | undefined {
  let at: Json | undefined = value;
  let depth = 0;
  for (const segment of segments) {
    depth++;
    if (segment === EACH) return Array.isArray(at) ? eachBelow(at, segments.slice(depth)) : undefined;
    if (typeof at !== "object" || at === null) return undefined;
    if (Array.isArray(at)) at = /^\d{1,4}$/.test(segment) ? at[Number(segment)] : undefined;
    else if (isObject(at) && Object.hasOwn(at, segment)) at = at[segment];
    else return undefined;
  }
  return at;
}

function eachBelow(items: readonly Json[], segments: readonly string[]): Json[] {
  return items.slice(0, MAX_EACH).flatMap((item) => {
    const found = valueBelow(item, segments);
    return found === undefined ? [] : found;
  });
}

/** Returns the first value, over several paths, that `accept` takes. */
export function firstAt<T>(value: Json | undefined, paths: readonly FieldPath[], accept: (found: Json) => T | undefined): T | undefined {
  for (const path of paths) {
    const found = valueAt(value, path);
    const accepted = found === undefined || found === null ? undefined : accept(found);
    if (accepted !== undefined) return accepted;
  }
  return undefined;
}

/** The type of a JSON value as a word. It is safe to log, since it reveals nothing of the value. */
export function typeOf(value: Json | undefined): string {
  if (value === undefined) return "missing";
  if (value === null) return "null";
  return Array.isArray(value) ? "list" : typeof value;
}
