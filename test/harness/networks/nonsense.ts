/** A network's bodies, and its profile, in words that nobody speaks: fields can be known by their values alone. */
import { resolveProfile } from "../../../src/contract/profile/profile.ts";
import type { ProfileSource } from "../../../src/contract/profile/source.ts";
import { asJson, isObject, type Json, type JsonObject } from "../../../src/core/json.ts";
import { seededRandom } from "../../../src/core/random.ts";

/** Another name for each name. */
export type Words = (name: string) => string;

const CONSONANTS = "bdfgjklmprstvwxz".split("");
const VOWELS = "aeiou".split("");
const BODY = "body:";

/** The same for the same seed; no two names become one. */
export function nonsense(seed: number): Words {
  const random = seededRandom(`words ${seed}`);
  const spoken = new Map<string, string>();
  const fresh = (): string => {
    const word = Array.from({ length: 2 + random.int(2) }, () => random.pick(CONSONANTS) + random.pick(VOWELS)).join("");
    return [...spoken.values()].includes(word) ? fresh() : word;
  };
  return (name) => {
    const word = spoken.get(name) ?? fresh();
    spoken.set(name, word);
    return word;
  };
}

/** A body whose fields have other names; its values stay. */
export function inWords(value: Json, words: Words): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).map((item) => inWords(item, words));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [words(key), inWords(item ?? null, words)]));
}

/** The same for the text of a body, whose numbers may be longer than a double holds. */
export function textInWords(text: string, words: Words): string {
  return text.replaceAll(/"((?:[^"\\]|\\.)*)"(\s*:)?/g, (token, name: string, colon: string | undefined) =>
    colon === undefined ? token : `"${words(name)}":`,
  );
}

/** A profile of such bodies: every place in answers, those of records in its set too, and the names of bodies. */
export function profileInWords(written: ProfileSource, words: Words): ProfileSource {
  const place = (path: string): string => path.replaceAll(/[^.[\]$]+/g, (name) => (/^\d+$/.test(name) ? name : words(name)));
  const places = (value: Json): Json => textsIn(value, place);
  const at = (part: keyof ProfileSource, change: (value: Json) => Json): object =>
    written[part] === undefined ? {} : { [part]: change(asJson({ part: written[part] })["part"] ?? null) };
  const pagingIn = (paging: Json): Json => changed(paging, "next", places);
  return {
    ...written,
    records: wholeRecords(written, place),
    ...at("lists", places),
    ...at("singles", places),
    ...at("errors", (errors) => (isObject(errors) ? { ...(places(errors) as JsonObject), ...pick(errors, "waitUnit") } : errors)),
    ...at("paging", pagingIn),
    ...at("limitHeaders", (headers) => textsIn(headers, (text) => (text.startsWith(BODY) ? BODY + place(text.slice(BODY.length)) : text))),
    ...at("operations", (operations) =>
      eachOf(operations, (operation, name) =>
        changed(changed(operation, "paging", pagingIn), "body", (body) => (name.startsWith("auth.") ? body : inWords(body, words))),
      ),
    ),
  };
}

/** Each field as its network's profile reads it, also by the names of its set. */
function wholeRecords(written: ProfileSource, place: (path: string) => string): NonNullable<ProfileSource["records"]> {
  return Object.fromEntries(
    Object.entries(resolveProfile(written).records).map(([record, fields]) => {
      const stated: Readonly<Record<string, string | readonly string[] | undefined>> = written.records?.[record as "post"] ?? {};
      const claimed = new Set(Object.values(stated).flat());
      const kept = Object.entries(fields ?? {}).map(([field, candidates = []]) => [
        field,
        candidates.filter((path) => stated[field] !== undefined || !claimed.has(path)).map(place),
      ]);
      return [record, Object.fromEntries(kept)];
    }),
  );
}

function eachOf(value: Json, change: (item: Json, key: string) => Json): Json {
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, change(item ?? null, key)]));
}

function changed(value: Json, at: string, change: (item: Json) => Json): Json {
  return eachOf(value, (item, key) => (key === at ? change(item) : item));
}

function pick(value: JsonObject, key: string): JsonObject {
  return value[key] === undefined ? {} : { [key]: value[key] };
}

function textsIn(value: Json, change: (text: string) => string): Json {
  if (typeof value === "string") return change(value);
  if (Array.isArray(value)) return (value as readonly Json[]).map((item) => textsIn(item, change));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, textsIn(item ?? null, change)]));
}
