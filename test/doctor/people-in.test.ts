/** People are known by values that come back: beside posts, beside jobs, and in lists of accounts. */
import { expect, test } from "vitest";
import type { JsonObject } from "../../src/core/json.ts";
import { namesAt, peopleIn, roleOf, type Shown } from "../../src/doctor/people-in.ts";

const shown = (record: Shown["record"], items: readonly JsonObject[], known: Record<string, string> = {}): Shown => ({
  record,
  items,
  known: new Map(Object.entries(known)),
});
const places = (...all: readonly Shown[]): readonly string[] => peopleIn(all).people.map(({ record, at }) => `${record} ${at}`);

const soul = (name: string): JsonObject => ({ zu: `acc_${name}`, ka: name });
const posts = ["ada", "bert", "ada"].map((name, i) => ({ id: `p${i}`, mo: soul(name), lang: "en" }));
const jobs = ["cleo", "ada", "cleo"].map((name, i) => ({ id: `j${i}`, mo: soul(name), ti: i === 0 ? [] : [soul("bert")], lang: "en" }));

test("an object that comes back beside posts and jobs is a person, and so is each of a list", () => {
  expect(places(shown("post", posts, { id: "id" }), shown("job", jobs, { id: "id" }))).toEqual(["post mo", "job mo", "job ti[]"]);
});

test("words that all objects share name nobody", () => {
  const plain = (id: string): JsonObject => ({ id, lang: "en" });
  expect(places(shown("post", [plain("p1"), plain("p2")], { id: "id" }), shown("job", [plain("j1")], { id: "id" }))).toEqual([]);
});

test("communities are no people", () => {
  const room = (id: string): JsonObject => ({ id, room: { slug: "data", label: "d-1" } });
  const all = [shown("post", [room("p1")]), shown("job", [room("j1")]), shown("community", [{ slug: "data", label: "d-1" }])];
  expect(peopleIn(all).people).toEqual([]);
  expect(peopleIn(all).communities.map(({ record, at }) => `${record} ${at}`)).toEqual(["post room", "job room", "community "]);
});

test("bare numbers are people if accounts have them", () => {
  const accounts = shown(
    "agent",
    [
      { nr: 7, tag: "ada" },
      { nr: 9, tag: "bert" },
    ],
    { id: "nr" },
  );
  const all = [shown("post", [{ id: "p1", by: { nr: 7, tag: "ada" }, fans: [9], sizes: [3] }], { id: "id" }), accounts];
  expect(places(...all)).toEqual(["post by", "agent ", "post fans[]"]);
});

test("of two names, the one in which the other stands is the id, then numbers, keys and words with digits", () => {
  const [place] = peopleIn([shown("post", posts, { id: "id" }), shown("job", jobs, { id: "id" })]).people;
  if (place === undefined) throw new TypeError("expected people");
  expect(namesAt(place, [])).toEqual({ id: "mo.zu", handle: "mo.ka" });
});

test("a plain value is the handle or the id of the account that it names, else by its look", () => {
  const { people } = peopleIn([
    shown(
      "post",
      [
        { id: "p1", x: "noor-castell" },
        { id: "p2", x: "ada-vance" },
      ],
      { id: "id" },
    ),
    shown(
      "agent",
      [
        { k: "a-1", h: "noor-castell" },
        { k: "a-2", h: "ada-vance" },
      ],
      { id: "k" },
    ),
  ]);
  const [author] = people;
  if (author === undefined) throw new TypeError("expected people");
  expect(roleOf(author, people)).toBe("handle");
  expect(roleOf({ ...author, members: new Map([["x", ["u123"]]]) }, [])).toBe("id");
  expect(roleOf({ ...author, members: new Map([["x", ["ada"]]]) }, [])).toBe("handle");
});
