/** A profile drafted from findings: every doubt is listed under `guesses`, for a person to settle. */
import { FIELDS, type ReadableRecord } from "../contract/reading/fields.ts";
import type { Profile } from "../contract/profile/profile.ts";
import type { ProfileSource } from "../contract/profile/source.ts";
import { asJson, isObject, type Json } from "../core/json.ts";
import type { Finding, Proposal } from "./finding.ts";

/** The source of a profile that says what was found, on top of the set that `profile` extends. */
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

/** What a person wrote, with what was found on top of it. */
export function addDraft(written: ProfileSource, draft: ProfileSource): ProfileSource {
  const guesses = [...new Set([...(written.guesses ?? []), ...(draft.guesses ?? [])])];
  const { guesses: _theirs, ...found } = draft;
  const merged = merge(asJson(written), asJson(found));
  return { ...(isObject(merged) ? merged : {}), extends: draft.extends, ...(guesses.length === 0 ? {} : { guesses }) };
}

/** A place in two sources that says different things, as JSON; undefined where one of them says nothing. */
export interface Difference {
  /** As `paging.style`. */
  readonly path: string;
  readonly was: string | undefined;
  readonly is: string | undefined;
}

/** Names of what is drafted, and which of it is a guess, do not count. */
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

/** A place that was found to be one field is no longer a candidate of the record's other fields. */
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
      return kept.length === paths.length || kept.length === 0
        ? []
        : [{ path: ["records", record, field], value: kept, isDoubtful: false }];
    });
  });
}

function isRecord(name: string): name is ReadableRecord {
  return Object.hasOwn(FIELDS, name);
}
