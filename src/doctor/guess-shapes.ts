/** Guesses an unknown network's shapes from a few answers: the place of the list, and the meaning of fields. */
import { fieldPath, valueAt } from "../contract/reading/field-path.ts";
import { FIELDS, type FieldKind, type ReadableRecord } from "../contract/reading/fields.ts";
import {
  readBoolean,
  readId,
  readInteger,
  readNumber,
  readReferences,
  readSeconds,
  readText,
  readTime,
  readVote,
  readWords,
} from "../contract/reading/values.ts";
import { isObject, type Json, type JsonObject } from "../core/json.ts";
import { HINTS, ID, NAME, WHO, WORKER } from "./field-names.ts";

const MAX_DEPTH = 4;
const MAX_PATHS = 300;
/** Longer keys are data, not names. */
const MAX_KEY_LENGTH = 64;
/** Items examined for each guess. */
const MAX_ITEMS = 50;
/** Names of lists that never hold the requested items. */
const ASIDE = /error|warning|link|meta|facet|include|notice|filter/i;

/** The path of the list in an answer: the longest list of objects at the least depth, or undefined. */
export function findList(body: Json | undefined): string | undefined {
  const lists: { readonly path: string; readonly depth: number; readonly length: number }[] = [];
  const visit = (value: Json | undefined, path: readonly string[]): void => {
    if (Array.isArray(value)) {
      if (value.every((item: Json) => isObject(item)))
        lists.push({ path: path.length === 0 ? "$" : path.join("."), depth: path.length, length: value.length });
      return;
    }
    if (!isObject(value) || path.length >= MAX_DEPTH) return;
    for (const [key, item] of Object.entries(value)) if (!ASIDE.test(key) && /^[^\s.$]+$/.test(key)) visit(item, [...path, key]);
  };
  visit(body, []);
  return lists.sort((a, b) => Number(b.length > 0) - Number(a.length > 0) || a.depth - b.depth || b.length - a.length)[0]?.path;
}

/** The path of the single object with this id among its own values, or undefined. */
export function findSingle(body: Json | undefined, idPath: string, id: string): string | undefined {
  const visit = (value: Json | undefined, path: readonly string[]): string | undefined => {
    if (!isObject(value) || path.length > MAX_DEPTH) return undefined;
    const found = valueAt(value, fieldPath(idPath));
    if (found !== undefined && found !== null && readId(found) === id) return path.length === 0 ? "$" : path.join(".");
    for (const [key, item] of Object.entries(value)) {
      const below = ASIDE.test(key) ? undefined : visit(item, [...path, key]);
      if (below !== undefined) return below;
    }
    return undefined;
  };
  return visit(body, []);
}

/** Names of ids of other objects: the author's, the parent's, the community's. */
const FOREIGN_ID = new RegExp(
  `^(?:${WHO}|${WORKER}|applicant|bidder|candidate|signing|secret|api|access|parent|thread|root|in_reply_to|reply_to|community|group|channel|board)_`,
);

/** Places that name whoever does a job, and so never its author. */
const WORKERS_PLACE = new RegExp(`^(?:[a-z]+_)?${WORKER}(?:_|$)`);

export interface FieldGuess {
  readonly field: string;
  readonly path: string;
  /** Matched by its name, or only because nothing else fits. */
  readonly by: "name" | "value";
  /** Number of objects that hold it. */
  readonly seen: number;
}

/** Guesses for those `fields` of a record that the profile found in no item; `known` places are taken. */
export function guessFields(
  record: ReadableRecord,
  items: readonly JsonObject[],
  fields: readonly string[],
  known: readonly string[] = [],
): FieldGuess[] {
  const seen = flatten(items.slice(0, MAX_ITEMS));
  const taken = new Set<string>(known);
  const kinds: Readonly<Record<string, FieldKind>> = FIELDS[record];
  return fields.flatMap((field): FieldGuess[] => {
    const kind = kinds[field];
    if (kind === undefined) return [];
    const fits = [...seen].filter(
      ([path, values]) =>
        !taken.has(path) &&
        fitsKind(kind, values) &&
        (!field.startsWith("author") || !WORKERS_PLACE.test(snake(path))) &&
        (field !== "id" || isOwnId(record, path, values, items.length)) &&
        (field !== "handle" || isIdentity(values, items.length)),
    );
    const named = byName(
      HINTS[field] ?? [],
      fits.map(([path]) => path),
    );
    const path = named ?? foreignId(field, seen, taken, items.length) ?? byValue(field, fits, items.length);
    if (path === undefined) return [];
    taken.add(path);
    return [{ field, path: eachId(path, items), by: named === undefined ? "value" : "name", seen: filled(seen.get(path)) }];
  });
}

/** Number of values that show something: an empty list does not tell what will be in it. */
function filled(values: readonly Json[] = []): number {
  return values.filter((value) => !Array.isArray(value) || value.length > 0).length;
}

/** The ids in a list of objects: `bids` as `bids[].bidder.key`, if no item says its id by a common name. */
function eachId(path: string, items: readonly JsonObject[]): string {
  const lists = items.map((item) => valueAt(item, fieldPath(path))).filter((value) => Array.isArray(value));
  const inner = lists.flatMap((list) => (list as readonly Json[]).filter((item): item is JsonObject => isObject(item)));
  if (inner.length === 0 || (readReferences(inner)?.ids.length ?? 0) > 0) return path;
  const paths = [...flatten(inner)].filter(([, values]) => fitsKind("id", values)).map(([name]) => name);
  const id = byName([`(?:${WHO}|applicant|bidder|candidate)_${ID}`, ID], paths);
  return id === undefined ? path : `${path}[].${id}`;
}

/** The id or handle of a person whose other name is known: `who.nr` beside `who.tag`. */
export function besideOf(known: string, field: "id" | "handle", items: readonly JsonObject[]): string | undefined {
  const above = known.split(".").slice(0, -1).join(".");
  if (above === "") return undefined;
  const beside = [...flatten(items.slice(0, MAX_ITEMS))].filter(
    ([path, values]) => path.startsWith(`${above}.`) && path !== known && fitsKind("id", values),
  );
  return byName(
    [field === "id" ? `[a-z_]+_${ID}` : `[a-z_]+_${NAME}`],
    beside.map(([path]) => path),
  );
}

/** Places for a field, by name, that were in every item and always empty: candidates at best, because their future content is unknown. */
export function guessEmpty(items: readonly JsonObject[], field: string, known: readonly string[] = []): readonly string[] {
  const full = flatten(items.slice(0, MAX_ITEMS));
  const empty = [...emptyPaths(items.slice(0, MAX_ITEMS))].filter((path) => !known.includes(path) && ![...full.keys()].includes(path));
  const plain = byName(HINTS[field] ?? [], empty);
  const person = byName(PERSONS[field] ?? [], empty);
  if (person === undefined) return plain === undefined ? [] : [plain];
  const inner = field.endsWith("Id") ? INNER_IDS : INNER_NAMES;
  const isPascal = /^[A-Z]/.test(person.split(".").at(-1) ?? "");
  const within = inner.map((name) => `${person}.${isPascal ? name.slice(0, 1).toUpperCase() + name.slice(1) : name}`);
  return field.endsWith("Id") ? within : [...within, person];
}

/** A name alone, such as `worker`, may later hold an object. */
const PERSONS: Readonly<Record<string, readonly string[]>> = { assigneeId: [WORKER], assigneeHandle: [WORKER] };
const INNER_IDS = ["id", "uid", "key", "uuid", "agent_id", "user_id"];
const INNER_NAMES = ["handle", "username", "name", "login", "nick", "slug"];

function emptyPaths(items: readonly JsonObject[]): ReadonlySet<string> {
  const found = new Set<string>();
  const visit = (value: Json | undefined, path: string, depth: number): void => {
    if (value === null && path !== "" && !/[\s$]/.test(path)) found.add(path);
    if (!isObject(value) || depth >= 2 || found.size >= MAX_PATHS) return;
    for (const [key, item] of Object.entries(value))
      if (key.length <= MAX_KEY_LENGTH && !key.includes(".")) visit(item, path === "" ? key : `${path}.${key}`, depth + 1);
  };
  for (const item of items) visit(item, "", 0);
  return found;
}

/** The best name for a field among some paths. */
export function pathFor(field: string, paths: readonly string[]): string | undefined {
  return byName(HINTS[field] ?? [], paths);
}

function byName(hints: readonly string[], paths: readonly string[]): string | undefined {
  for (const hint of hints) {
    const pattern = new RegExp(`^(?:[a-z]+_)?${hint}$`);
    const exact = new RegExp(`^${hint}$`);
    const hits = paths.filter((path) => exact.test(snake(path)) || (path.includes(".") && pattern.test(snake(path))));
    const best = hits.sort((a, b) => a.split(".").length - b.split(".").length || a.length - b.length)[0];
    if (best !== undefined) return best;
  }
  return undefined;
}

/** The id of a post that is called a thread or a topic, where nothing else is named like an id, and each item has one of its own. */
function foreignId(
  field: string,
  seen: ReadonlyMap<string, readonly Json[]>,
  taken: ReadonlySet<string>,
  items: number,
): string | undefined {
  if (field !== "id") return undefined;
  const own = [...seen].filter(([path, values]) => !path.includes(".") && !taken.has(path) && isIdentity(values, items));
  return byName(
    [`(?:thread|topic|root)_${ID}`],
    own.map(([path]) => path),
  );
}

/** No older time is when a post was made, and no later one. */
const [EARLIEST_MS, LATEST_MS] = [Date.UTC(2015, 0, 1), Date.UTC(2100, 0, 1)];

type Fits = readonly (readonly [path: string, values: readonly Json[]])[];

function byValue(field: string, fits: Fits, items: number): string | undefined {
  switch (field) {
    case "id":
      return ownId(fits.filter(([candidate, values]) => !candidate.includes(".") && !isWhen(values)));
    case "content":
      return longest(fits, 20);
    case "description":
      return longest(
        fits.filter(([, values]) =>
          values.every((value) => typeof value === "string" && /\s/.test(value) && readTime(value, "auto") === undefined),
        ),
        10,
      );
    case "createdAtMs":
      return earliest(fits.filter(([, values]) => values.length >= Math.min(items, MAX_ITEMS)));
    case "reward":
      return fits.length === 1 ? fits[0]?.[0] : undefined;
    default:
      return undefined;
  }
}

function longest(fits: Fits, least: number): string | undefined {
  const lengthOf = (values: readonly Json[]): number =>
    values.reduce<number>((sum, value) => sum + (typeof value === "string" ? value.length : 0), 0) / values.length;
  const [most] = fits.toSorted((a, b) => lengthOf(b[1]) - lengthOf(a[1]));
  return most === undefined || lengthOf(most[1]) < least ? undefined : most[0];
}

/** The first values that look like ids; the first of all if none do. */
function ownId(fits: Fits): string | undefined {
  const isLike = ([, values]: Fits[number]): boolean => idRank(values.flatMap((value) => readId(value) ?? [])) >= LIKE_AN_ID;
  return (fits.find(isLike) ?? fits[0])?.[0];
}

/** Least rank of values that are ids rather than names. */
export const LIKE_AN_ID = 2;

/** Measures if values look like ids rather than names: numbers and long keys, then words with digits, then words of several parts. */
export function idRank(values: readonly string[]): number {
  const all = (pattern: RegExp): boolean => values.every((value) => pattern.test(value));
  if (all(/^\d+$/) || all(/^[\da-f-]{16,}$/i)) return 3;
  return all(/\d/) ? 2 : Number(all(/[_:-]/));
}

const timesOf = (values: readonly Json[]): readonly number[] => values.map((value) => readTime(value, "auto") ?? 0);

/** True for values that are all times of a network's life. */
export function isWhen(values: readonly Json[]): boolean {
  return timesOf(values).every((ms) => ms > EARLIEST_MS && ms < LATEST_MS);
}

/** The place of the earliest times: a deadline comes after the making. */
function earliest(fits: Fits): string | undefined {
  const timed = fits.filter(([, values]) => isWhen(values));
  return timed.toSorted((a, b) => Math.min(...timesOf(a[1])) - Math.min(...timesOf(b[1])))[0]?.[0];
}

/** `createdAt` and `author.handle` as `created_at` and `author_handle`. */
function snake(path: string): string {
  return path
    .replaceAll(/([a-z\d])([A-Z])/g, "$1_$2")
    .replaceAll(/[.\-\s]+/g, "_")
    .toLowerCase();
}

/** All paths to plain values and lists in some objects, with the values found there. */
export function flatten(items: readonly JsonObject[]): Map<string, Json[]> {
  const found = new Map<string, Json[]>();
  const visit = (value: Json | undefined, path: string, depth: number): void => {
    if (value === undefined || value === null || /[\s$]/.test(path)) return;
    if (isObject(value)) {
      if (depth < 3)
        for (const [key, item] of Object.entries(value))
          if (key.length <= MAX_KEY_LENGTH && !key.includes(".")) visit(item, path === "" ? key : `${path}.${key}`, depth + 1);
      return;
    }
    const values = found.get(path);
    if (values !== undefined) values.push(value);
    else if (found.size < MAX_PATHS) found.set(path, [value]);
  };
  for (const item of items) visit(item, "", 0);
  return found;
}

function isOwnId(record: ReadableRecord, path: string, values: readonly Json[], items: number): boolean {
  // A layer such as `attributes` names nobody.
  const names = [path, path.split(".").at(-1) ?? path];
  const isForeign = record !== "agent" && record !== "community" && names.some((name) => FOREIGN_ID.test(snake(name)));
  return !isForeign && isIdentity(values, items);
}

function isIdentity(values: readonly Json[], items: number): boolean {
  const ids = values.map((value) => readId(value));
  return (
    values.length === Math.min(items, MAX_ITEMS) &&
    new Set(ids).size === values.length &&
    ids.every((id) => id !== undefined && id.length <= 128 && !/\s/.test(id))
  );
}

const READERS: { readonly [kind in FieldKind]?: (value: Json) => unknown } = {
  id: readId,
  text: readText,
  prose: readText,
  number: readNumber,
  money: (value) => readNumber(value) ?? (typeof value === "string" && unitIn(value) !== undefined ? 1 : undefined),
  integer: readInteger,
  boolean: readBoolean,
  time: (value) => readTime(value, "auto"),
  words: (value) => (Array.isArray(value) ? readWords(value) : undefined),
  refs: readReferences,
  status: readText,
  vote: readVote,
  seconds: readSeconds,
  secret: readText,
};

/** The unit that an amount in a text names: `12.50 EUR`. */
export function unitIn(text: string): string | undefined {
  return /^\s*\d{1,15}(?:[.,]\d{1,6})?\s*([A-Za-z€$£]{1,12})\s*$/.exec(text)?.[1];
}

function fitsKind(kind: FieldKind, values: readonly Json[]): boolean {
  const read = READERS[kind];
  return read !== undefined && values.every((value) => read(value) !== undefined);
}
