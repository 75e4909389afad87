/** Finds the people of a network by their values: the same ids and handles come back beside posts, beside jobs, and in lists of accounts. */
import type { ReadableRecord } from "../contract/reading/fields.ts";
import { readId } from "../contract/reading/values.ts";
import { defined } from "../core/defined.ts";
import { isObject, type Json, type JsonObject } from "../core/json.ts";
import { flatten, idRank, isWhen, LIKE_AN_ID } from "./guess-shapes.ts";

/** Objects of one kind, as their lists and they themselves show them. */
export interface Shown {
  readonly record: ReadableRecord;
  readonly items: readonly JsonObject[];
  /** The place of each field that is known. */
  readonly known: ReadonlyMap<string, string>;
}

/** A place that may hold a person: an object with an id or a handle, a plain id, or a list of either. */
export interface Place {
  readonly record: ReadableRecord;
  /** `soul`, `takers[]`, or nothing for the object itself. */
  readonly at: string;
  /** Values of each member that may be an id or a handle; under `at` itself where there is no object. */
  readonly members: ReadonlyMap<string, readonly string[]>;
  /** In each object of its kind. */
  readonly isEverywhere: boolean;
  readonly isList: boolean;
}

const KNOWN_PEOPLE = ["authorId", "authorHandle", "assigneeId", "assigneeHandle", "applicantIds", "likedBy"];
/** Longer texts name nobody. */
const MAX_NAME_LENGTH = 64;
/** Members that an object of the same kind shares with its record. */
const ALIKE = 3;

/** The places of people, and those of communities. */
export interface Found {
  /** The candidates that share the most values with others, and those of the same form; none if nothing tells people from other words. */
  readonly people: readonly Place[];
  readonly communities: readonly Place[];
}

export function peopleIn(shown: readonly Shown[]): Found {
  const all = linked(shown.flatMap(placesOf));
  const communities = all.find((group) => group.some(({ record }) => record === "community")) ?? [];
  const groups = all.filter((group) => group !== communities);
  const whole = groups.map((group) => [...group, ...groups.filter((other) => other !== group && isLike(other, group)).flat()]);
  const ranked = whole.map((group) => ({ group, rank: rankOf(group, shown) })).filter(({ rank }) => rank > 0);
  const people = ranked.toSorted((a, b) => b.rank - a.rank)[0]?.group ?? [];
  const named = new Set(people.flatMap(({ members }) => [...members.values()].flat()));
  const bare = groups.flat().filter((place) => isBareList(place) && !people.includes(place));
  return {
    people: [...people, ...bare.filter(({ members }) => [...members.values()].flat().every((value) => named.has(value)))],
    communities,
  };
}

/** `[7, 12]`: numbers that mean people if people have them. */
function isBareList({ at, members }: Place): boolean {
  return at.endsWith("[]") && members.has(at);
}

function isLike(one: readonly Place[], other: readonly Place[]): boolean {
  return one.some((place) => other.some((like) => isAlike(place, like)));
}

/** Objects of which one has each member of the other. */
function isAlike(one: Place, other: Place): boolean {
  const [few, many] = [one, other].map(({ members }) => [...members.keys()].map(lastOf)).toSorted((a, b) => a.length - b.length);
  return few !== undefined && many !== undefined && few.length > 1 && few.every((name) => many.includes(name));
}

function lastOf(path: string): string {
  return path.split(".").at(-1) ?? path;
}

function placesOf({ record, items, known }: Shown): readonly Place[] {
  const found = new Map<string, { readonly members: Map<string, readonly string[]>; count: number }>();
  const isAccount = record === "agent" || record === "community";
  const claimed = claimedBy(known, isAccount);
  for (const [path, values] of columnsIn(items)) {
    const names = values.map((value) => nameIn(value));
    if (claimed.has(path) || values.length === 0 || !names.every((name) => name !== undefined) || isWhen(values)) continue;
    const at = path.includes(".") ? path.slice(0, path.lastIndexOf(".")) : isAccount ? "" : path;
    const place = found.get(at) ?? { members: new Map<string, readonly string[]>(), count: 0 };
    place.members.set(path, names);
    place.count = Math.max(place.count, values.length);
    found.set(at, place);
  }
  return [...found].map(([at, { members, count }]) => ({
    record,
    at,
    members,
    isList: at.includes("[]"),
    isEverywhere: count >= items.length,
  }));
}

/** Places of other facts; those of people stay, since they show who people are. */
function claimedBy(known: ReadonlyMap<string, string>, isAccount: boolean): ReadonlySet<string> {
  const kept = [...KNOWN_PEOPLE, ...(isAccount ? ["id", "handle"] : ["community"])];
  return new Set([...known].flatMap(([field, path]) => (kept.includes(field) ? [] : [path])));
}

/** Values by place, also of the members of lists (`takers[].acc`); lists of objects of the same kind are left out. */
function columnsIn(items: readonly JsonObject[]): ReadonlyMap<string, readonly Json[]> {
  const columns = new Map<string, readonly Json[]>();
  const own = flatten(items);
  for (const [path, values] of own) {
    if (!values.some((value) => Array.isArray(value))) {
      columns.set(path, values);
      continue;
    }
    const inner = values.flatMap((value) => (Array.isArray(value) ? (value as readonly Json[]) : []));
    const objects = inner.filter((item): item is JsonObject => isObject(item));
    if (objects.length === 0) columns.set(`${path}[]`, inner);
    const below = [...flatten(objects)];
    if (below.filter(([member]) => own.has(member)).length < ALIKE)
      for (const [member, found] of below) columns.set(`${path}[].${member}`, found);
  }
  return columns;
}

function nameIn(value: Json): string | undefined {
  const id = readId(value);
  return id === undefined || id.length > MAX_NAME_LENGTH || /\s/.test(id) ? undefined : id;
}

/** Groups of places that share a value. A number means the same under the same name only. */
function linked(places: readonly Place[]): readonly (readonly Place[])[] {
  const groupOf = new Map<Place, Place[]>(places.map((place) => [place, [place]]));
  const first = new Map<string, Place>();
  for (const place of places)
    for (const [path, values] of place.members)
      for (const value of new Set(values)) {
        const key = /^\d+$/.test(value) ? `${lastOf(path)}:${value}` : value;
        const other = first.get(key);
        if (other === undefined) first.set(key, place);
        else join(groupOf, groupOf.get(other) ?? [], groupOf.get(place) ?? []);
      }
  return [...new Set(groupOf.values())];
}

function join(groupOf: Map<Place, Place[]>, one: Place[], other: Place[]): void {
  if (one === other) return;
  for (const place of other) {
    one.push(place);
    groupOf.set(place, one);
  }
}

/** More different values than languages, currencies or visibilities have. */
const MANY = 5;

/** 0: these may be any words that come twice, such as communities or languages. */
function rankOf(group: readonly Place[], shown: readonly Shown[]): number {
  const isKnown = group.some(
    ({ record, members }) =>
      record === "agent" ||
      shown.some((one) => one.record === record && KNOWN_PEOPLE.some((field) => [...members.keys()].includes(one.known.get(field) ?? ""))),
  );
  const kinds = new Set(group.map(({ record }) => record));
  if (group.length < 2) return 0;
  const isObject = group.some(({ at, members }) => !members.has(at) && members.size > 1);
  const isShared = kinds.has("post") && kinds.has("job");
  const isMany = new Set(group.flatMap(({ members }) => [...members.values()].flat())).size >= MANY;
  const rank =
    (isKnown ? 8 : 0) + (isObject ? 2 : 0) + (isShared ? 2 : 0) + (isMany ? 1 : 0) + (group.some(({ isList }) => isList) ? 1 : 0);
  return rank > 2 ? rank : 0;
}

/** The members that are the id and the handle of a place, by its own values, or by those of a place of the same form. */
export function namesAt(place: Place, people: readonly Place[]): { readonly id?: string; readonly handle?: string } {
  const others = people.filter((other) => other !== place);
  const alike = others.filter((other) => isAlike(place, other));
  const paths = sharedMembers(place, alike, others);
  for (const like of [place, ...alike]) {
    const found = toldBy(like, paths.map(lastOf));
    const at = (name: string | undefined): string | undefined => paths.find((path) => lastOf(path) === name);
    if (found !== undefined) return { ...defined({ id: at(found.id), handle: at(found.handle) }) };
  }
  return {};
}

/** The members that places of the same form have too, else those whose values come back elsewhere, else all. */
function sharedMembers({ members }: Place, alike: readonly Place[], others: readonly Place[]): readonly string[] {
  const paths = [...members.keys()];
  const names = new Set(alike.flatMap((other) => [...other.members.keys()].map(lastOf)));
  if (names.size > 0) return paths.filter((path) => names.has(lastOf(path)));
  const values = new Set(others.flatMap((other) => [...other.members.values()].flat()));
  const shared = paths.filter((path) => members.get(path)?.some((value) => values.has(value)));
  return shared.length > 0 ? shared : paths;
}

/** A plain value: the id or the handle of the accounts that it names, else by its look. */
export function roleOf({ members }: Place, people: readonly Place[]): "id" | "handle" {
  const values = [...members.values()].flat();
  const account = people.find(({ record, at }) => at === "" && record === "agent");
  const { id, handle } = account === undefined ? {} : namesAt(account, people);
  const isAmong = (path: string | undefined): boolean => values.some((value) => account?.members.get(path ?? "")?.includes(value) === true);
  if (isAmong(handle)) return "handle";
  return isAmong(id) || idRank(values) >= LIKE_AN_ID ? "id" : "handle";
}

function toldBy({ members }: Place, names: readonly string[]): { readonly id?: string; readonly handle?: string } | undefined {
  const named = [...members].map(([path, values]) => ({ name: lastOf(path), values })).filter(({ name }) => names.includes(name));
  const most = Math.max(0, ...named.map(({ values }) => new Set(values).size));
  // Two people may share a number in what was read.
  const telling = named.filter(({ values }) => new Set(values).size > most / 2);
  const ranked = telling
    .map((one) => ({
      name: one.name,
      rank: rankAmong(
        one.values,
        telling.filter((other) => other !== one).map(({ values }) => values),
      ),
    }))
    .toSorted((a, b) => b.rank - a.rank);
  const [first, last] = [ranked[0], ranked.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  if (ranked.length === 1) return first.rank >= LIKE_AN_ID ? { id: first.name } : { handle: first.name };
  return first.rank === last.rank ? undefined : { id: first.name, handle: last.name };
}

/** Values in which those of the other member stand, as `acc_ada` does `ada`, are ids. */
function rankAmong(values: readonly string[], others: readonly (readonly string[])[]): number {
  const holds = (other: readonly string[]): boolean => values.every((value, i) => value !== other[i] && value.includes(other[i] ?? value));
  return others.some(holds) ? HOLDS_A_HANDLE : idRank(values);
}

const HOLDS_A_HANDLE = 4;
