/** Profiles: what is shipped works, what is written on top wins, and what cannot work is refused with its place. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ENDPOINT_ROWS, OPERATION_NAMES } from "../../../src/contract/operations.ts";
import { isGuess, resolveProfile, shippedProfile } from "../../../src/contract/profile/profile.ts";
import { ProfileInvalid, type ProfileProblem } from "../../../src/contract/profile/profile-problem.ts";

function problemsOf(source: unknown): readonly ProfileProblem[] {
  try {
    resolveProfile(source);
  } catch (error) {
    if (error instanceof ProfileInvalid) return error.problems;
    throw error;
  }
  return [];
}

test("the shipped profiles have all 45 published rows, as published", () => {
  const rows = (["a", "b"] as const).flatMap((set) =>
    [...shippedProfile(set).operations.values()]
      .filter((operation) => operation.unsupported === undefined)
      .map(({ name, method, path }) => ({ set, operation: name, method, path })),
  );
  expect(rows).toHaveLength(45);
  for (const { set, operation, method, path } of ENDPOINT_ROWS) expect(rows).toContainEqual({ set, operation, method, path });
});

test("a value that nobody published is marked as a guess, a published one is not", () => {
  const b = shippedProfile("b");
  expect(isGuess(b, "operations.posts.reply.body")).toBe(true);
  expect(isGuess(b, "records.post.authorId")).toBe(true);
  expect(isGuess(b, "webhooks.scheme")).toBe(true);
  expect(isGuess(b, "operations.posts.reply.path")).toBe(false);
  expect(isGuess(b, "operations.posts.create.body")).toBe(false);
  expect(isGuess(b, "tiers.free.perDay")).toBe(false);
  expect(isGuess(shippedProfile("a"), "tiers.free.perDay")).toBe(true);
});

test("a value that a user states is a fact, unless the user calls it a guess", () => {
  const stated = resolveProfile({ extends: "set-b", records: { post: { id: "post_id" } }, paging: { style: "page" } });
  expect(isGuess(stated, "records.post.id")).toBe(false);
  expect(isGuess(stated, "records.post.content")).toBe(true);
  const doubted = resolveProfile({ extends: "set-b", paging: { style: "page" }, guesses: ["paging.style"] });
  expect(isGuess(doubted, "paging.style")).toBe(true);
});

test("a network with comments, submolts and bids is joined without code", () => {
  const profile = resolveProfile({
    extends: "set-b",
    name: "other",
    operations: {
      "posts.create": {
        path: "/api/posts",
        input: { title: { type: "text", required: true } },
        body: { title: "{title}", text: "{content}", submolt: "{community}" },
      },
      "posts.reply": { path: "/api/posts/{id}/comments", body: { text: "{content}" } },
      "jobs.apply": { path: "/api/tasks/:id/bids", body: { pitch: "{message}", kind: "bid" } },
      "communities.join": { path: "/api/submolts/:handle/subscribe", effect: "at-most-once", weight: 2, price: { micros: 5_000_000 } },
      "webhooks.create": { unsupported: true },
      "agents.stats": { method: "GET", path: "/api/agents/:id/stats" },
    },
    extra: { "bids.withdraw": { method: "DELETE", path: "/api/bids/:id", target: "job", effect: "idempotent" } },
    limits: [{ name: "one post per half hour", operations: ["posts.create"], max: 1, per: "30m" }],
    records: { post: { content: ["text"], parentId: ["post_id"], id: ["comment_id", "id"] } },
  });
  expect(profile.operations.get("communities.join")).toMatchObject({ weight: 2, price: { micros: 5_000_000 }, effect: "at-most-once" });
  expect(profile.operations.get("webhooks.create")?.unsupported).toContain("profile says");
  expect(profile.operations.get("agents.stats")?.unsupported).toBeUndefined();
  expect(profile.operations.get("bids.withdraw")).toMatchObject({ extra: true, lane: "act", targetBy: "id" });
  expect(profile.limits[0]?.per).toBe(1_800_000);
});

test.each([
  [{ extends: "set-b", trust: { "New-Comer": {}, new_comer: {} } }, "trust.new_comer", "same word"],
  [{ extends: "set-b", trust: { low: { reputation: 5 }, high: { reputation: 5 } } }, "trust.high.reputation", "begins where"],
  [{ extends: "set-b", trust: { low: { lacks: ["posts.fly"] } } }, "trust.low.lacks.0", "not an operation"],
])("trust tiers that cannot be told apart, or lack what there is not, are refused with their place", (source, at, says) => {
  const [problem, ...others] = problemsOf(source);
  expect(others).toEqual([]);
  expect(problem?.path.join(".")).toBe(at);
  expect(problem?.message).toContain(says);
});

test("a profile extends another that was resolved before", () => {
  const below = resolveProfile({ extends: "set-a", records: { post: { content: ["text"] } } });
  const above = resolveProfile({ extends: "set-a", records: { post: { id: ["uid"] } } }, below);
  expect(above.records["post"]).toMatchObject({ content: ["text"], id: ["uid"] });
});

test("the quiet period is the deadline, the late landing and the read lag, or what is stated", () => {
  expect(shippedProfile("b").quietMs).toBe(210_000);
  expect(resolveProfile({ extends: "set-b", timing: { quietMs: "2s" } }).quietMs).toBe(2_000);
});

describe("a profile that cannot work is refused at its place", () => {
  test.each([
    ["an unknown key", { pagin: {} }, ["pagin"]],
    ["an unknown key within", { paging: { styl: "page" } }, ["paging", "styl"]],
    ["an unknown record field", { records: { post: { colour: ["x"] } } }, ["records", "post", "colour"]],
    ["a wrong type", { timing: { deadlineMs: true } }, ["timing", "deadlineMs"]],
    ["a wrong duration", { timing: { deadlineMs: "soon" } }, ["timing", "deadlineMs"]],
    ["a path with a query", { operations: { "posts.list": { path: "/v1/posts?x=1" } } }, ["operations", "posts.list", "path"]],
    ["a header that is none", { headers: { "x y": "1" } }, ["headers", "x y"]],
    ["no base", { extends: "set-c" }, ["extends"]],
  ])("%s", (_, over, path) => {
    const problems = problemsOf({ extends: "set-b", ...over });
    expect(problems.map((problem) => problem.path)).toContainEqual(path);
  });

  test("and every problem is told at once", () => {
    const source = { extends: "set-b", operations: { "posts.shout": {}, "posts.reply": { body: { text: "{nope}" } } } };
    expect(problemsOf(source).length).toBeGreaterThanOrEqual(2);
  });

  test.each([null, undefined, 7, "set-b", [], { extends: 1 }])("anything but an object that extends a set: %j", (source) => {
    expect(() => resolveProfile(source)).toThrow(ProfileInvalid);
  });
});

test("a stated price takes the place of one that an input states", () => {
  const price = { micros: 5_000_000, currency: "credits" };
  expect(shippedProfile("b").operations.get("jobs.create")?.price).toEqual(expect.objectContaining({ input: "reward" }));
  const stated = resolveProfile({ extends: "set-b", operations: { "jobs.create": { price } } });
  expect(stated.operations.get("jobs.create")?.price).toEqual(price);
  expect(isGuess(stated, "operations.jobs.create.price")).toBe(false);
});

test("all 29 operations are in every profile", () => {
  expect(OPERATION_NAMES).toHaveLength(29);
  for (const set of ["a", "b"] as const) for (const name of OPERATION_NAMES) expect(shippedProfile(set).operations.has(name)).toBe(true);
});

test("whatever a file holds, it is a profile or is refused with places, never a crash", () => {
  const key = fc.constantFrom(
    ..."operations extra limits records lists statuses paging errors auth webhooks timing tiers guesses".split(" "),
    ..."posts.reply posts.list jobs.create post job id content path body query values method style per kinds deadlineMs __proto__ constructor".split(
      " ",
    ),
  );
  const leaf = fc.oneof(
    fc.string(),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.constantFrom("/v1/x/:id", "{content}", "{nope}", "GET", "30m", "$", "a.b"),
  );
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: "medium" },
      leaf,
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(key, tie("value"), { maxKeys: 4 }),
    ),
  }));
  let resolved = 0;
  fc.assert(
    fc.property(fc.dictionary(key, value, { maxKeys: 4 }), fc.constantFrom("set-a", "set-b"), (source, base) => {
      const problems = problemsOf({ ...source, extends: base });
      if (problems.length === 0) resolved++;
      return problems.every(({ path, message }) => path.length > 0 && message !== "");
    }),
    { numRuns: 500 },
  );
  expect(resolved).toBeGreaterThan(0);
});

test("the tiers of a shipped profile are those that its set publishes", () => {
  expect(Object.keys(shippedProfile("a").tiers)).toEqual(["free", "pro"]);
  expect(shippedProfile("b").tiers["growth"]).toEqual({ perHour: 1_000, perDay: 20_000 });
});
