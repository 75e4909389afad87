/**
 * Where every id of a reading comes from. Each leaf of a generated answer is unique and known by its place, so that a
 * returned id tells the place it was taken from; which places are plausible is said here, not asked of the reader.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseExactJson } from "../../../src/contract/reading/exact-json.ts";
import { createPins, pinsAsData, restorePins, type Pins } from "../../../src/contract/reading/pinned-fields.ts";
import { shippedProfile } from "../../../src/contract/profile/profile.ts";
import { readList, readRecord } from "../../../src/contract/reading/read-answer.ts";
import type { NetworkRecord } from "../../../src/contract/records.ts";
import type { JsonObject } from "../../../src/core/json.ts";

/** A shape without values: leaves say only of what kind they are. */
type Shape = "text" | "whole" | "huge" | "fraction" | "flag" | "nothing" | readonly Shape[] | { readonly [key: string]: Shape };
type Place = readonly (string | number)[];

const LEAVES = ["text", "whole", "huge", "fraction", "flag", "nothing"] as const;
const OWN_IDS = ["id", "_id", "uuid", "post_id", "reply_id", "comment_id", "job_id", "agent_id", "application_id"];
const PERSONS = ["author", "agent", "user", "creator", "poster", "client", "owner", "assignee", "worker"];
const PEOPLE = ["liked_by", "voters", "applicants", "applications"];
const PROSE = [
  "content",
  "text",
  "body",
  "title",
  "name",
  "bio",
  "created_at",
  "request",
  "trace",
  "meta",
  "glitter",
  "secret",
  "toString",
];
const BETWEEN = ["data", "result", "items", "results", "posts", "post", "reply", "job", "jobs", "agent", "agents", "replies", "comments"];

const leaf: fc.Arbitrary<Shape> = fc.constantFrom(...LEAVES, "text", "text", "whole", "huge");
const person: fc.Arbitrary<Shape> = fc.oneof(
  leaf,
  fc.record({ id: leaf, handle: leaf, name: leaf, agent_id: leaf, username: leaf }, { requiredKeys: [] }),
);
const plain = (inner: fc.Arbitrary<Shape>): fc.Arbitrary<{ readonly [key: string]: Shape }> =>
  fc
    .tuple(
      fc.dictionary(fc.oneof(fc.constant("id"), fc.constantFrom(...OWN_IDS)), leaf, { minKeys: 1, maxKeys: 3 }),
      fc.dictionary(fc.constantFrom(...PERSONS, ...PERSONS.map((who) => `${who}_id`), "author_handle", "handle", "parent_id"), person, {
        maxKeys: 3,
      }),
      fc.dictionary(fc.constantFrom(...PEOPLE), fc.array(person, { maxLength: 3 }), { maxKeys: 1 }),
      fc.dictionary(fc.constantFrom(...PROSE), leaf, { maxKeys: 3 }),
      fc.dictionary(fc.constantFrom(...BETWEEN), inner, { maxKeys: 1 }),
    )
    .map((parts) => Object.assign({}, ...parts) as { readonly [key: string]: Shape });
/** Things with things in them, such as posts with replies. */
const thing = plain(fc.oneof(leaf, fc.array(plain(leaf), { maxLength: 3 }), plain(leaf)));
const listed = fc.oneof(
  fc.array(thing, { maxLength: 4 }),
  thing.map((one): Shape => [one, one, one]),
);
/** Answers: bare, wrapped once or twice, with other things beside. */
const answer: fc.Arbitrary<Shape> = fc.oneof(
  thing,
  listed,
  fc
    .tuple(fc.constantFrom(...BETWEEN), fc.oneof(thing, listed), plain(leaf))
    .map(([key, held, beside]): Shape => ({ ...beside, [key]: held })),
  fc
    .tuple(fc.constantFrom("data", "result"), fc.constantFrom(...BETWEEN), fc.oneof(thing, listed), plain(leaf))
    .map(([outer, key, held, beside]): Shape => ({ ...beside, [outer]: { ...beside, [key]: held } })),
);

/** A way a network may change what it says from one answer to the next. */
const change: fc.Arbitrary<(shape: Shape) => Shape> = fc.oneof(
  fc.constant((shape: Shape) => shape),
  fc
    .tuple(
      fc.constantFrom(...OWN_IDS, ...PERSONS, "author_id", "posts", "items", "data", "replies"),
      fc.constantFrom(...OWN_IDS, ...BETWEEN, "user_id"),
    )
    .map(
      ([from, to]) =>
        (shape: Shape) =>
          everywhere(shape, (object) => renamed(object, from, to)),
    ),
  fc.tuple(fc.constantFrom(...OWN_IDS, ...PERSONS), leaf).map(
    ([key, to]) =>
      (shape: Shape) =>
        everywhere(shape, (object) => (Object.hasOwn(object, key) ? { ...object, [key]: to } : object)),
  ),
  fc
    .constantFrom(...PERSONS, ...PEOPLE)
    .map(
      (key) => (shape: Shape) =>
        everywhere(shape, (object) => (Object.hasOwn(object, key) ? { ...object, [key]: flat(object[key]) } : object)),
    ),
  fc.constantFrom(...BETWEEN).map((key) => (shape: Shape) => ({ [key]: shape, id: "text" as const })),
  fc.constantFrom(...BETWEEN).map((key) => (shape: Shape) => (isThing(shape) ? (shape[key] ?? shape) : shape)),
);

function isThing(shape: Shape): shape is { readonly [key: string]: Shape } {
  return typeof shape === "object" && !Array.isArray(shape);
}

function everywhere(shape: Shape, mend: (object: { readonly [key: string]: Shape }) => { readonly [key: string]: Shape }): Shape {
  if (Array.isArray(shape)) return shape.map((item: Shape) => everywhere(item, mend));
  if (!isThing(shape)) return shape;
  return mend(Object.fromEntries(Object.entries(shape).map(([key, item]) => [key, everywhere(item, mend)])));
}

function renamed(object: { readonly [key: string]: Shape }, from: string, to: string): { readonly [key: string]: Shape } {
  return Object.fromEntries(Object.entries(object).map(([key, item]) => [key === from ? to : key, item]));
}

/** A person who was an object is a word now, or the other way round. */
function flat(shape: Shape | undefined): Shape {
  if (shape === undefined) return "text";
  if (Array.isArray(shape)) return shape.map((item: Shape) => flat(item));
  return isThing(shape) ? "text" : { id: "text", handle: "text" };
}

/** The answer as text, each leaf unlike any other; and where each of those stands. */
function spell(shape: Shape, from: number): { readonly text: string; readonly places: ReadonlyMap<string, Place> } {
  const places = new Map<string, Place>();
  let count = from;
  const value = (kind: (typeof LEAVES)[number], place: Place): string => {
    const n = ++count;
    const known = (spoken: string, text: string): string => {
      places.set(spoken, place);
      return text;
    };
    switch (kind) {
      case "text":
        return known(` w${n}é `, JSON.stringify(` w${n}é `));
      case "whole":
        return known(`${n}`, `${n}`);
      case "huge":
        return known(`${HUGE + BigInt(n)}`, `${HUGE + BigInt(n)}`);
      case "fraction":
        return `${n}.5`;
      case "flag":
        return "true";
      case "nothing":
        return "null";
    }
  };
  const write = (one: Shape, place: Place): string => {
    if (Array.isArray(one)) return `[${one.map((item: Shape, i) => write(item, [...place, i])).join(",")}]`;
    if (!isThing(one)) return value(one as (typeof LEAVES)[number], place);
    return `{${Object.entries(one)
      .map(([key, item]) => `${JSON.stringify(key)}:${write(item, [...place, key])}`)
      .join(",")}}`;
  };
  return { text: write(shape, []), places };
}

/** Past what a double holds, within 64 bits without a sign. */
const HUGE = 18_446_744_073_709_000_000n;

interface Taken {
  readonly field: string;
  readonly place: Place;
}

/** The last name on the way to a value, and the one before it: places in lists have none. */
const names = (place: Place): string =>
  place
    .filter((step) => typeof step === "string")
    .slice(-2)
    .join(".");
/** What an id of each field may be called, as a person would say. */
const PLAUSIBLE: { readonly [field: string]: RegExp } = {
  id: /(^|[._])(id|uuid|handle)$|(^|\.)agent$/,
  authorId: /(author|agent|user|creator|poster|client|owner)(_id|\.id)$/,
  authorHandle: /(author|agent|user|creator|poster|client|owner)(\.name|\.handle|\.username|_handle)?$|(^|\.)username$/,
  assigneeId: /(assignee|worker)(_id|\.id)$/,
  assigneeHandle: /(assignee|worker)(\.handle)?$/,
  parentId: /parent_id$|parent\.id$/,
  jobId: /job_id$|job\.id$|(^|\.)job$/,
  handle: /(^|\.)(handle|username|slug)$/,
  likedBy: /(liked_by|voters)(\.(id|agent_id|handle|username))?$/,
  applicantIds: /(applicants|applications)(\.(id|agent_id|handle|username))?$/,
};
const TEXTS = ["content", "title", "description", "name", "bio", "snippet"];

/** Every identity that a record holds, each traced to where it stands; fails where it stands nowhere. */
function traced(record: NetworkRecord, places: ReadonlyMap<string, Place>, within = ""): Taken[] {
  const read = record as unknown as Readonly<Record<string, unknown>>;
  const trace = (field: string, id: unknown): Taken => {
    const place = typeof id === "string" ? places.get(id) : undefined;
    if (place === undefined) throw new Error(`${within}${field} is ${JSON.stringify(id)}, which stands nowhere in the answer`);
    if (PLAUSIBLE[field]?.test(names(place)) !== true) throw new Error(`${within}${field} was taken from ${place.join(".")}`);
    return { field: `${within}${field}`, place };
  };
  const own = Object.keys(PLAUSIBLE).flatMap((field): Taken[] => {
    const value = read[field];
    if (value === undefined) return [];
    return Array.isArray(value) ? value.map((id: unknown) => trace(field, id)) : [trace(field, value)];
  });
  for (const field of TEXTS) {
    const text = read[field];
    if (typeof text === "string" && !places.has(text)) throw new Error(`${field} was altered: ${JSON.stringify(text)}`);
  }
  const [id] = own;
  const root = id?.field === `${within}id` ? id.place.slice(0, -1) : undefined;
  for (const { field, place } of own)
    if (root !== undefined && root.some((step, i) => place[i] !== step) && !isStats(record))
      throw new Error(`${field} at ${place.join(".")} stands outside of the object of ${root.join(".")}`);
  const replies = record.kind === "post" ? (record.replies ?? []) : [];
  return [...own, ...replies.flatMap((reply) => traced(reply, places, `${within}replies.`))];
}

/** Statistics may be named by the agent beside them. */
const isStats = (record: NetworkRecord): boolean => record.kind === "stats" || record.kind === "application";

/** Where each field was read so far, with places in lists left out: it must not move while the same pins are held. */
function settleOn(seen: Map<string, string>, taken: readonly Taken[]): void {
  for (const { field, place } of taken) {
    const where = place.map((step) => (typeof step === "number" ? "*" : step)).join(".");
    const before = seen.get(field);
    if (before !== undefined && before !== where) throw new Error(`${field} was read at ${before}, and then at ${where}`);
    seen.set(field, where);
  }
}

const profiles = { a: shippedProfile("a"), b: shippedProfile("b") };
const KINDS = ["post", "job", "agent", "community", "webhook", "stats", "result", "application"] as const;
const RUNS = 4_000;

type Kind = (typeof KINDS)[number];

function read(set: "a" | "b", kind: Kind, as: "record" | "list", text: string, pins?: Pins): readonly NetworkRecord[] {
  const body = parseExactJson(text);
  // Search results come in lists only.
  if (as === "list" || kind === "result") return readList(profiles[set], kind, body, pins).items ?? [];
  const { record } = readRecord(profiles[set], kind, body, pins);
  return record === undefined ? [] : [record];
}

const asked = fc.record({
  set: fc.constantFrom("a" as const, "b" as const),
  kind: fc.constantFrom<Kind>("post", "post", "job", ...KINDS),
  as: fc.constantFrom("record" as const, "list" as const),
});

/** What a restart leaves of pins, through a row's text. */
function restarted(pins: Pins): Pins {
  const restored = createPins();
  restorePins(restored, JSON.parse(JSON.stringify(pinsAsData(pins))) as JsonObject);
  return restored;
}

describe("an id is taken as it stands, from a place it can stand at, within its own object", () => {
  test("in whatever answer: bare, wrapped, nested, with 64-bit numbers", () => {
    let ids = 0;
    let huge = 0;
    fc.assert(
      fc.property(answer, asked, (shape, { set, kind, as }) => {
        const { text, places } = spell(shape, 1_000);
        const records = read(set, kind, as, text);
        const taken = records.flatMap((record) => traced(record, places));
        ids += taken.length;
        huge += [...places].filter(([spoken, place]) => spoken.startsWith("184467") && taken.some((one) => one.place === place)).length;
        // Items come in the order of the list, each from an entry of its own.
        const entries = records.flatMap((record) => traced(record, places).filter(({ field }) => field === "id"));
        expect(new Set(entries.map(({ place }) => place.slice(0, -1).join("."))).size).toBe(entries.length);
      }),
      { numRuns: RUNS },
    );
    expect(ids).toBeGreaterThan(RUNS / 2);
    expect(huge).toBeGreaterThan(RUNS / 10);
  });

  test("and, once settled, from no other place, however the answers change, also over a restart", () => {
    let ids = 0;
    let turns = 0;
    fc.assert(
      fc.property(answer, fc.array(change, { minLength: 1, maxLength: 4 }), asked, (first, changes, { set, kind, as }) => {
        let pins = createPins();
        const seen = new Map<string, string>();
        let shape = first;
        for (const [turn, alter] of [(same: Shape) => same, ...changes].entries()) {
          shape = alter(shape);
          const { text, places } = spell(shape, 1_000 + 10_000 * turn);
          const taken = read(set, kind, as, text, pins).flatMap((record) => traced(record, places));
          settleOn(seen, taken);
          pins = restarted(pins);
          ids += taken.length;
          if (turn > 0 && taken.length > 0) turns++;
        }
      }),
      { numRuns: RUNS },
    );
    expect(ids).toBeGreaterThan(RUNS);
    expect(turns).toBeGreaterThan(RUNS / 10);
  });
});
