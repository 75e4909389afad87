/** The parts of a profile fit together, or each problem is refused at its place, with the names that were perhaps meant. */
import { expect, test } from "vitest";
import { ProfileInvalid, type ProfileProblem } from "../../../src/contract/profile/profile-problem.ts";
import { resolveProfile } from "../../../src/contract/profile/profile.ts";

function problemsOf(over: object): readonly ProfileProblem[] {
  try {
    resolveProfile({ extends: "set-b", ...over });
  } catch (error) {
    if (error instanceof ProfileInvalid) return error.problems;
    throw error;
  }
  return [];
}

test.each([
  ["an unknown operation", { operations: { "posts.shout": { path: "/x" } } }, ["operations", "posts.shout"]],
  [
    "a path parameter without source",
    { operations: { "posts.create": { path: "/v1/boards/:board/posts" } } },
    ["operations", "posts.create", "path"],
  ],
  ["a target that appears nowhere", { operations: { "posts.reply": { path: "/v1/replies" } } }, ["operations", "posts.reply", "path"]],
  [
    "a template of a missing field",
    { operations: { "posts.reply": { body: { text: "{contents}" } } } },
    ["operations", "posts.reply", "body"],
  ],
  [
    "a template that drops what is required",
    { operations: { "posts.reply": { body: { text: "hello" } } } },
    ["operations", "posts.reply", "body"],
  ],
  ["a word map for no input", { operations: { "posts.vote": { values: { way: { up: 1 } } } } }, ["operations", "posts.vote", "values"]],
  ["a price by no input", { operations: { "posts.reply": { price: { input: "fee" } } } }, ["operations", "posts.reply", "price"]],
  ["a body with GET", { operations: { "posts.get": { body: { a: 1 } } } }, ["operations", "posts.get", "body"]],
  ["candidates that conflict", { records: { post: { id: ["x"], parentId: ["x"] } } }, ["records", "post", "parentId"]],
  ["a candidate of two shipped fields", { records: { job: { title: ["description"] } } }, ["records", "job", "description"]],
  ["one word for two statuses", { statuses: { open: ["In-Progress"] } }, ["statuses", "assigned"]],
  ["a limit on nothing", { limits: [{ name: "x", operations: ["posts.shout"], max: 1, per: "1h" }] }, ["limits", 0, "operations", 0]],
  ["an event kind that is not ours", { webhooks: { kinds: { hi: "hello.world" } } }, ["webhooks", "kinds", "hi"]],
  [
    "an extra that is a known operation",
    { extra: { "posts.reply": { method: "POST", path: "/x", effect: "read" } } },
    ["extra", "posts.reply"],
  ],
  [
    "a write that is called a read, which halts and dry runs let through",
    { operations: { "posts.create": { effect: "read" } } },
    ["operations", "posts.create", "effect"],
  ],
  [
    "an input of another type than its own",
    { operations: { "posts.create": { input: { content: { type: "boolean" } } } } },
    ["operations", "posts.create", "input", "content", "type"],
  ],
  ["paging of a single record", { operations: { "posts.get": { paging: { style: "page" } } } }, ["operations", "posts.get", "paging"]],
  [
    "the key in an address, which is logged",
    { operations: { "auth.token": { method: "GET", path: "/t/{key}" } } },
    ["operations", "auth.token", "path"],
  ],
  ["a fixed header that carries the key", { auth: { header: "x-key" }, headers: { "x-key": "1" } }, ["headers", "x-key"]],
  ["a fixed header that every request sets", { headers: { host: "a.example" } }, ["headers", "host"]],
  ["an idempotency key in the place of the key", { auth: { header: "x-key" }, idempotencyHeader: "x-key" }, ["idempotencyHeader"]],
  ["one trust tier under two spellings", { trust: { "brand-new": {}, "Brand New": {} } }, ["trust", "Brand New"]],
  ["two trust tiers of one reputation", { trust: { a: { reputation: 5 }, b: { reputation: 5 } } }, ["trust", "b", "reputation"]],
  ["a tier that nobody has", { tiers: { gold: { perHour: 1, perDay: 2 } } }, ["tiers", "gold"]],
  ["a guess about nothing", { guesses: ["pageing.style"] }, ["guesses", 0]],
  ["a guess about an unknown operation", { guesses: ["operations.posts.shout"] }, ["guesses", 0]],
  [
    "a price of an unknown operation",
    { tiers: { free: { prices: { "posts.shout": "free" } } } },
    ["tiers", "free", "prices", "posts.shout"],
  ],
  [
    "an answer of an unknown operation",
    { answers: [{ status: 409, operations: ["posts.shout"], means: "done" }] },
    ["answers", 0, "operations", 0],
  ],
])("refused: %s", (_what, over, path) => {
  expect(problemsOf(over).map((problem) => problem.path)).toContainEqual(path);
});

test("an unknown name comes with those that may be meant", () => {
  const [unknown] = problemsOf({ operations: { "posts.creat": {} } });
  expect(unknown?.mistyped).toMatchObject({ name: "posts.creat", known: expect.arrayContaining(["posts.create"]) as string[] });
});

test("an operation that the network lacks is not checked further", () => {
  expect(problemsOf({ operations: { "posts.reply": { unsupported: true, body: { text: "{nope}" } } } })).toEqual([]);
});

test("one place may be read as a person's id and handle, and kinds of one's own are kinds", () => {
  expect(problemsOf({ records: { post: { authorId: ["by"], authorHandle: ["by"] } } })).toEqual([]);
  expect(problemsOf({ webhooks: { kinds: { hi: "x:hello" } } })).toEqual([]);
});

test("the account's own id stands anywhere but in the operations before which it is not known", () => {
  const post = { path: "/agents/{me}/posts", body: { by: "{me}", text: "{content}" } };
  expect(problemsOf({ operations: { "posts.create": post, "posts.list": { query: { not: "{me}" } } } })).toEqual([]);
  expect(
    problemsOf({
      operations: { "agents.list": { path: "/agents/{me}" }, "auth.token": { method: "POST", path: "/t", body: { id: "{me}" } } },
    }),
  ).toMatchObject([
    { path: ["operations", "agents.list", "path"], message: expect.stringContaining("not known before agents.list") as unknown },
    { path: ["operations", "auth.token", "body"], message: expect.stringContaining("not known before auth.token") as unknown },
  ]);
});
