/** Drafts a profile from findings: every doubt is listed under `guesses`, for a person to decide. */
import { FIELDS, type ReadableRecord } from "../contract/reading/fields.ts";
import { resolveProfile, type Profile } from "../contract/profile/profile.ts";
import { ProfileInvalid } from "../contract/profile/profile-problem.ts";
import type { ProfileSource } from "../contract/profile/source.ts";
import { asJson, isObject, type Json } from "../core/json.ts";
import type { Finding, Proposal } from "./finding.ts";

/** Builds a profile source from the findings, on top of the set that `profile` extends. */
export function draftProfile(profile: Profile, findings: readonly Pick<Finding, "proposals">[], name = "drafted"): ProfileSource {
  const proposals = findings.flatMap((found) => found.proposals);
  const draft: Record<string, Json> = {};
  for (const { path, value } of [...withoutConflicts(profile, proposals), ...proposals]) put(draft, path, value);
  const guesses = proposals.filter(({ isDoubtful }) => isDoubtful).map(({ path }) => path.join("."));
  return {
    extends: profile.set === "a" ? "set-a" : "set-b",
    name,
    ...draft,
    ...(guesses.length === 0 ? {} : { guesses: [...new Set(guesses)] }),
  };
}

/** Rounds in which proposals that contradict each other are left out. */
const MAX_ROUNDS = 20;

/** The profile with the findings' proposals, without those that make it invalid. Throws `ProfileInvalid` if the profile itself is. */
export function applied<Some extends Pick<Finding, "proposals">>(
  profile: Profile,
  findings: readonly Some[],
): { readonly profile: Profile; readonly findings: readonly Some[]; readonly left: readonly string[] } {
  let kept = findings;
  const left: string[] = [];
  for (let round = 0; ; round++) {
    try {
      return { profile: resolveProfile(draftProfile(profile, kept), profile), findings: kept, left };
    } catch (error) {
      if (!(error instanceof ProfileInvalid) || round >= MAX_ROUNDS) throw error;
      const wrong = (path: readonly string[]): boolean =>
        error.problems.some((problem) => path.every((name, at) => at >= problem.path.length || name === problem.path[at]));
      const before = left.length;
      kept = kept.map((found) => {
        for (const { path } of found.proposals.filter((one) => wrong(one.path))) left.push(path.join("."));
        return { ...found, proposals: found.proposals.filter(({ path }) => !wrong(path)) };
      });
      if (left.length === before) throw error;
    }
  }
}

/** Adds a draft to a profile that a person wrote: nothing that it states changes. */
export function addDraft(written: ProfileSource, draft: ProfileSource): ProfileSource {
  const added = addable(written, draft);
  const stated = leaves(asJson(written));
  const marked = (draft.guesses ?? []).filter((guess) => !stated.has(guess) && valueOf(added, guess) !== undefined);
  const guesses = [...new Set([...(written.guesses ?? []), ...marked])];
  const merged = merge(asJson(added), asJson(written));
  const whole = { ...(isObject(merged) ? merged : {}), extends: draft.extends, ...(guesses.length === 0 ? {} : { guesses }) };
  return sound(whole, stated);
}

/** Leaves out added parts that contradict stated ones. */
function sound(source: ProfileSource, stated: ReadonlyMap<string, string>): ProfileSource {
  let present = source;
  for (let round = 0; ; round++) {
    try {
      resolveProfile(present);
      return present;
    } catch (error) {
      if (!(error instanceof ProfileInvalid) || round >= MAX_ROUNDS) throw error;
      const wrong = error.problems.map(({ path }) => path.join("."));
      const isWrong = (at: string): boolean =>
        !stated.has(at) && wrong.some((path) => at === path || at.startsWith(`${path}.`) || path.startsWith(`${at}.`));
      const kept = without(asJson(present), isWrong);
      if (JSON.stringify(kept) === JSON.stringify(asJson(present))) return present; // the stated parts contradict each other
      present = { ...(isObject(kept) ? kept : {}), extends: source.extends };
    }
  }
}

function without(value: Json, isWrong: (path: string) => boolean, path = ""): Json {
  if (!isObject(value)) return value;
  const kept = Object.entries(value).flatMap(([key, item]): [string, Json][] => {
    const at = path === "" ? key : `${path}.${key}`;
    if (item === undefined || (!isObject(item) && isWrong(at))) return [];
    return [[key, without(item, isWrong, at)]];
  });
  return Object.fromEntries(kept);
}

/** The profile as the network was seen: findings replace what a person wrote, to show where they differ. */
export function asSeen(written: ProfileSource, draft: ProfileSource): ProfileSource {
  const merged = merge(asJson(written), asJson(draft));
  return { ...(isObject(merged) ? merged : {}), extends: draft.extends };
}

/** The parts of a draft that fit what is written: no other way to page, no verdict on a stated operation, no field at a stated place. */
function addable(written: ProfileSource, draft: ProfileSource): ProfileSource {
  const { guesses: _guesses, paging, operations, records, ...rest } = draft;
  const pagesAlike = written.paging?.style === undefined || written.paging.style === (paging?.style ?? written.paging.style);
  const fresh = Object.entries(operations ?? {}).flatMap(([name, found]) => {
    const parts = addableParts(written.operations?.[name], found);
    return Object.keys(parts).length === 0 ? [] : [[name, parts] as const];
  });
  const fields = Object.entries(records ?? {}).flatMap(([record, found]) => {
    const stated = isRecord(record) ? (written.records?.[record] ?? {}) : {};
    const claimed = new Set(Object.values(stated).flat());
    const free = Object.entries(found ?? {}).flatMap(([field, paths]) => {
      const kept = [paths ?? []].flat().filter((path) => !claimed.has(path));
      return Object.hasOwn(stated, field) || kept.length === 0 ? [] : [[field, kept]];
    });
    return free.length === 0 ? [] : [[record, Object.fromEntries(free)]];
  });
  return {
    ...rest,
    ...(paging === undefined || !pagesAlike ? {} : { paging }),
    ...(fresh.length === 0 ? {} : { operations: Object.fromEntries(fresh) }),
    ...(fields.length === 0 ? {} : { records: Object.fromEntries(fields) }),
  };
}

type OperationPart = NonNullable<ProfileSource["operations"]>[string];

/** The parts of an operation that a person left open; none if it is stated to be elsewhere, or missing. */
function addableParts(stated: OperationPart | undefined, found: OperationPart): OperationPart {
  if (stated === undefined) return found;
  const isElsewhere = stated.path !== undefined && found.path !== undefined && stated.path !== found.path;
  if (isElsewhere || stated.unsupported !== undefined) return {};
  return Object.fromEntries(Object.entries(found).filter(([key]) => key !== "unsupported" && !Object.hasOwn(stated, key)));
}

/** The value that a guess points at; names of operations contain a dot. */
function valueOf(source: ProfileSource, guess: string): Json | undefined {
  return [...leaves(asJson(source))].find(([path]) => path === guess || path.startsWith(`${guess}.`))?.[1];
}

/** A path at which two sources differ, with both values as JSON; undefined if one of them has none. */
export interface Difference {
  /** For example `paging.style`. */
  readonly path: string;
  readonly was: string | undefined;
  readonly is: string | undefined;
}

/** Lists the differences. The draft's name and its guesses do not count. */
export function differences(one: ProfileSource, other: ProfileSource): readonly Difference[] {
  const [before, after] = [leaves(asJson(one)), leaves(asJson(other))];
  return [...new Set([...before.keys(), ...after.keys()])]
    .filter((path) => path !== "name" && path !== "guesses" && before.get(path) !== after.get(path))
    .sort((a, b) => a.localeCompare(b))
    .map((path) => ({ path, was: before.get(path), is: after.get(path) }));
}

function merge(below: Json, over: Json): Json {
  if (!isObject(below) || !isObject(over)) return over;
  const merged: Record<string, Json | undefined> = { ...below };
  for (const [key, value] of Object.entries(over)) {
    const under = merged[key];
    if (value !== undefined) merged[key] = under === undefined ? value : merge(under, value);
  }
  return merged;
}

function leaves(value: Json, path = ""): Map<string, string> {
  if (!isObject(value)) return new Map([[path, JSON.stringify(value)]]);
  return new Map(
    Object.entries(value).flatMap(([key, item]) => (item === undefined ? [] : [...leaves(item, path === "" ? key : `${path}.${key}`)])),
  );
}

function put(draft: Record<string, Json>, path: readonly string[], value: Json): void {
  let at = draft;
  for (const key of path.slice(0, -1)) {
    const below = at[key];
    const next: Record<string, Json> = isObject(below) ? (below as Record<string, Json>) : {};
    at[key] = next;
    at = next;
  }
  const last = path.at(-1);
  if (last !== undefined) at[last] = value;
}

/** Drops proposals in conflict: a place found to be one field is no candidate for the record's other fields. */
function withoutConflicts(profile: Profile, proposals: readonly Proposal[]): Proposal[] {
  const claimed = new Map<ReadableRecord, Map<string, string>>();
  for (const { path, value } of proposals) {
    const [section, record = "", field = ""] = path;
    if (section !== "records" || !isRecord(record)) continue;
    const places = claimed.get(record) ?? new Map<string, string>();
    for (const place of Array.isArray(value) ? value : [value]) if (typeof place === "string") places.set(place, field);
    claimed.set(record, places);
  }
  return [...claimed].flatMap(([record, places]) => {
    const candidates: Readonly<Record<string, readonly string[] | undefined>> = profile.records[record] ?? {};
    return Object.entries(candidates).flatMap(([field, paths = []]): Proposal[] => {
      const kept = paths.filter((path) => (places.get(path) ?? field) === field);
      return kept.length === paths.length || kept.length === 0 ? [] : [{ path: ["records", record, field], value: kept, isDoubtful: true }];
    });
  });
}

function isRecord(name: string): name is ReadableRecord {
  return Object.hasOwn(FIELDS, name);
}
