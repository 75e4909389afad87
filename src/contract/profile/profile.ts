/** Resolves a profile, the data that describes one network's interface, from a shipped one and a user's overrides. */
import type { z } from "zod";
import { asJson, isObject, type Json, type JsonObject } from "../../core/json.ts";
import { expectation } from "./expectation.ts";
import { checkProfile } from "./consistency.ts";
import { ProfileInvalid, type ProfileProblem } from "./profile-problem.ts";
import { namedBy, profileOperations, type ProfileOperation } from "./network-operations.ts";
import { profileData, profileSource, type ProfileData } from "./source.ts";
import { SET_A } from "./shipped/set-a.ts";
import { SET_B } from "./shipped/set-b.ts";
import type { EndpointSet } from "../operations.ts";

/** Description of one network's interface. Plain data, except that every operation's inputs are compiled to a schema. */
export interface Profile extends Omit<ProfileData, "operations" | "extra"> {
  /** The endpoint listing it builds on. */
  readonly set: EndpointSet;
  /** Every known operation, including those this network lacks. */
  readonly operations: ReadonlyMap<string, ProfileOperation>;
  /** Paths that a user stated: they count as facts, even where the shipped profile guessed. */
  readonly settled: readonly string[];
  /** Time after an attempt in which reading back proves nothing. */
  readonly quietMs: number;
  /** The whole profile as data. */
  readonly data: ProfileData;
}

const BASES = { "set-a": ["a", SET_A], "set-b": ["b", SET_B] } as const;
/** Tables in which null takes back a word of the profile below. */
const WORD_TABLES: ReadonlySet<string> = new Set(["kinds", "decisions"]);
/** Keys that are replaced rather than merged: half an old template (or price) and half a new one would be neither. */
const WHOLE_KEYS: ReadonlySet<string> = new Set(["body", "query", "values", "input", "price"]);

/** The shipped profile of a set, without overrides. */
export function shippedProfile(set: EndpointSet): Profile {
  return resolveProfile({ extends: set === "a" ? "set-a" : "set-b" });
}

/**
 * Resolves overrides (or a shipped set: `{ extends: "set-b" }`) on top of the profile they extend, or on top of `base`. Throws
 * `ProfileInvalid` (`profile_invalid`) with the path of every problem.
 */
export function resolveProfile(source: unknown, base?: Profile): Profile {
  const parsed = profileSource.safeParse(source);
  if (!parsed.success) throw new ProfileInvalid(problemsOf(parsed.error));
  const { extends: extended, ...over } = parsed.data;
  const [baseSet, shipped] = BASES[extended];
  const set = base?.set ?? baseSet;
  const written = asJson(over);
  const stated = leaves(written);
  const own = over.guesses ?? [];
  const below: object = base?.data ?? shipped;
  const settled = [...(base?.settled ?? []), ...stated].filter((path) => !own.some((guess) => covers(guess, path)));
  const guesses = (base?.data.guesses ?? shipped.guesses).filter((guess) => !stated.some((path) => covers(path, guess)));
  // The user's guesses come first, so that the place of a problem is the one in their file.
  const merged = profileData.safeParse({ ...asObject(merge(asJson(below), written)), guesses: [...own, ...guesses] });
  if (!merged.success) throw new ProfileInvalid(problemsOf(merged.error));
  const data = merged.data;
  const { operations: _overrides, extra: _extra, ...rest } = data;
  const operations = profileOperations(data, set);
  const problems = checkProfile(data, operations);
  if (problems.length > 0) throw new ProfileInvalid(problems);
  const { deadlineMs, lateLandingMs, readLagMs, quietMs } = data.timing;
  const limits = data.limits.map((limit) => ({ ...limit, operations: namedBy(limit.operations, operations) }));
  return { ...rest, limits, set, operations, settled, quietMs: quietMs ?? deadlineMs + lateLandingMs + readLagMs, data };
}

/** Returns true if the value at a path of the profile is an assumption. The most precise statement about the path wins. */
export function isGuess(profile: Profile, path: string): boolean {
  const length = (paths: readonly string[]): number =>
    paths.reduce((longest, stated) => (covers(stated, path) ? Math.max(longest, stated.length) : longest), -1);
  return length(profile.data.guesses) > length(profile.settled);
}

function problemsOf(error: z.ZodError): ProfileProblem[] {
  return error.issues.flatMap((issue) => {
    const path = issue.path.map((part) => (typeof part === "symbol" ? part.toString() : part));
    if (issue.code === "unrecognized_keys")
      return issue.keys.map((key) => ({ path: [...path, key], message: "expected a key that a profile has, got an unknown one" }));
    return [{ path, message: `expected ${expectation(issue)}` }];
  });
}

/** `operations.posts.reply` covers itself and every path below it. */
function covers(above: string, path: string): boolean {
  return path === above || path.startsWith(`${above}.`);
}

function asObject(value: Json): JsonObject {
  return isObject(value) ? value : {};
}

function merge(below: Json, over: Json, key = ""): Json {
  if (!isObject(below) || !isObject(over) || WHOLE_KEYS.has(key)) return over;
  const merged: Record<string, Json | undefined> = { ...below };
  for (const [name, value] of Object.entries(over)) {
    const under = merged[name];
    if (value === null && WORD_TABLES.has(key)) delete merged[name];
    else if (value !== undefined) merged[name] = under === undefined ? value : merge(under, value, name);
  }
  return merged;
}

function leaves(value: Json, path = ""): string[] {
  if (!isObject(value) || WHOLE_KEYS.has(path.split(".").at(-1) ?? "")) return path === "" ? [] : [path];
  return Object.entries(value).flatMap(([key, item]) =>
    item === undefined || key === "guesses" ? [] : leaves(item, path === "" ? key : `${path}.${key}`),
  );
}
