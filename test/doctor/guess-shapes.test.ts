/** Guesses of shapes: by name before value, never one place for two fields, never another object's id, within bounds. */
import { describe, expect, test } from "vitest";
import { findList, findSingle, guessEmpty, guessFields, pathFor, unitIn } from "../../src/doctor/guess-shapes.ts";
import type { Json, JsonObject } from "../../src/core/json.ts";

test.each<[Json | undefined, string | undefined]>([
  [[{ id: 1 }], "$"],
  [{ data: { posts: [{ id: 1 }], total: 1 } }, "data.posts"],
  [{ few: [{ a: 1 }], many: [{ a: 1 }, { a: 2 }] }, "many"],
  [{ empty: [], deep: { full: [{ a: 1 }] } }, "deep.full"],
  [{ errors: [{ a: 1 }, { a: 2 }], posts: [{ a: 1 }] }, "posts"],
  [{ words: ["a", "b"] }, undefined],
  [{ a: { b: { c: { d: { e: [{ id: 1 }] } } } } }, undefined],
  [{ "with space": [{ id: 1 }] }, undefined],
  ["text", undefined],
  [undefined, undefined],
])("the list in %j is at %s", (body, path) => {
  expect(findList(body)).toBe(path);
});

test.each<[Json, string | undefined]>([
  [{ id: "p1" }, "$"],
  [{ id: "request-9", data: { post: { id: "p1" } } }, "data.post"],
  [{ data: { id: 7 } }, undefined],
  [{ meta: { id: "p1" } }, undefined],
  [[{ id: "p1" }], undefined],
])("the object of the asked id in %j is at %s", (body, path) => {
  expect(findSingle(body, "id", "p1")).toBe(path);
});

const posts = (...items: readonly JsonObject[]): readonly JsonObject[] => items;
const guessed = (items: readonly JsonObject[], fields: readonly string[], known: readonly string[] = []) =>
  Object.fromEntries(guessFields("post", items, fields, known).map(({ field, path, by }) => [field, `${path} by ${by}`]));

describe("fields", () => {
  test("are found by name in any style, the plain one before the nested one", () => {
    const items = posts(
      { PostUuid: "a", Body: "x", creator: { userName: "ann" }, createdOn: "2026-01-01" },
      { PostUuid: "b", Body: "y", creator: { userName: "ben" }, createdOn: "2026-01-02" },
    );
    expect(guessed(items, ["id", "content", "authorHandle", "createdAtMs"])).toEqual({
      id: "PostUuid by name",
      content: "Body by name",
      authorHandle: "creator.userName by name",
      createdAtMs: "createdOn by name",
    });
  });

  test("share no place, and leave known places alone", () => {
    const items = posts({ id: "a", text: "x" }, { id: "b", text: "y" });
    expect(guessed(items, ["content", "title"], ["text"])).toEqual({});
    expect(guessFields("job", [{ name: "csv" }, { name: "json" }], ["title", "description"])).toEqual([
      { field: "title", path: "name", by: "name", seen: 2 },
    ]);
  });

  test("an id is unique in all items, short, and no other object's", () => {
    expect(guessed(posts({ author_id: "a", x: 1 }, { author_id: "b", x: 1 }), ["id"])).toEqual({});
    expect(guessed(posts({ id: "a" }, { id: "a" }), ["id"])).toEqual({});
    expect(guessed(posts({ id: "a" }, {}), ["id"])).toEqual({});
    expect(guessed(posts({ id: "two words" }, { id: "b" }), ["id"])).toEqual({});
    expect(guessed(posts({ zz: "a" }, { zz: "b" }), ["id"])).toEqual({ id: "zz by value" });
  });

  test("a long text passes for the content, a short one does not", () => {
    expect(guessed(posts({ zz: "some words of a post, long enough" }), ["content"])).toEqual({ content: "zz by value" });
    expect(guessed(posts({ zz: "short" }), ["content"])).toEqual({});
  });

  test("a value of another kind is none, whatever its name", () => {
    expect(guessed(posts({ created_at: "soon", votes: "many", content: 7 }), ["createdAtMs", "votes", "content"])).toEqual({});
  });

  test("an unknown field and endless members cost nothing", () => {
    const wide = Object.fromEntries(Array.from({ length: 2_000 }, (_, i) => [`n${i}`, "x"]));
    expect(guessed(posts({ ["k".repeat(100)]: "long words that could be the content", ...wide }), ["colour", "content"])).toEqual({});
  });
});

test("a place that is always empty is a candidate by its name, for a person with the places within", () => {
  const jobs = posts({ id: "a", worker: null, due: null }, { id: "b", worker: null, due: null });
  expect(guessEmpty(jobs, "deadlineMs")).toEqual(["due"]);
  expect(guessEmpty(jobs, "assigneeId").slice(0, 2)).toEqual(["worker.id", "worker.uid"]);
  expect(guessEmpty(jobs, "assigneeHandle").at(-1)).toBe("worker");
  expect(guessEmpty([{ Worker: null }], "assigneeId")[0]).toBe("Worker.Id");
  expect([guessEmpty(jobs, "title"), guessEmpty(jobs, "deadlineMs", ["due"])]).toEqual([[], []]);
});

test("the best of several names wins", () => {
  expect(pathFor("replies", ["thread", "comments", "data.comments", "x"])).toBe("thread");
  expect(pathFor("replies", ["x", "y"])).toBeUndefined();
});

test("the id of a post is its own, also where its author's stands below the same layer", () => {
  const items = [1, 2].map((n) => ({ ref: `p${n}`, attributes: { agent_key: `a${n}`, content: "x" } }));
  expect(guessFields("post", items, ["id"])).toMatchObject([{ path: "ref", by: "name" }]);
});

test("the worker of a job is never its author", () => {
  expect(guessFields("job", [{ taker: { login: "ann" } }, { taker: { login: "bob" } }], ["authorHandle"])).toEqual([]);
});

test("a list of objects holds ids by the member that names a person", () => {
  const items = [{ bids: [{ bidder: { key: "u1" }, stake: 2 }] }, { bids: [] }];
  expect(guessFields("job", items, ["applicantIds"])).toEqual([{ field: "applicantIds", path: "bids[].bidder.key", by: "name", seen: 1 }]);
});

test("of times without a name that says so, the earliest is the making, and small numbers are no times", () => {
  const items = [1, 2].map((n) => ({ zork: 1_767_603_600 + n, blob: 1_767_690_000 + n, count: n }));
  expect(guessFields("post", items, ["createdAtMs"])).toEqual([{ field: "createdAtMs", path: "zork", by: "value", seen: 2 }]);
  expect(guessFields("post", [{ count: 1 }], ["createdAtMs"])).toEqual([]);
});

test.each([
  ["12.50 EUR", "EUR"],
  ["3 credits", "credits"],
  ["12.50", undefined],
  ["about 3", undefined],
])("%s names %s", (text, unit) => expect(unitIn(text)).toBe(unit));

test("a time in words is no description", () => {
  const items = [1, 2].map((n) => ({ sent: `Mon, 0${n + 4} Jan 2026 09:00:00 GMT`, zork: `carry box ${n}` }));
  expect(guessFields("job", items, ["description"])).toMatchObject([{ path: "zork" }]);
});
