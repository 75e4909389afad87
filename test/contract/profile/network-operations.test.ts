/** Operations of a network: the table, the set's endpoint and the profile's overrides as one value each. */
import { describe, expect, test } from "vitest";
import { OPERATION_NAMES } from "../../../src/contract/operations.ts";
import { missingIn } from "../../../src/contract/profile/network-operations.ts";
import { resolveProfile } from "../../../src/contract/profile/profile.ts";
import type { ProfileSource } from "../../../src/contract/profile/source.ts";

const operationsWith = (changes: Omit<ProfileSource, "extends">, base: "set-a" | "set-b" = "set-b") =>
  resolveProfile({ extends: base, ...changes }).operations;

test("an override changes what it states, and leaves the rest of the row", () => {
  const plain = operationsWith({}).get("posts.reply");
  const own = operationsWith({ operations: { "posts.reply": { path: "/comments/{target}", weight: 2 } } }).get("posts.reply");
  expect(own).toEqual({ ...plain, path: "/comments/{target}", weight: 2 });
});

test("the path of a collection stands in all paths of its operations, except in a stated one", () => {
  const operations = operationsWith({
    collections: { posts: "/api/$&notes", jobs: "/tickets" },
    operations: { "jobs.get": { path: "/ticket/{id}" } },
  });
  const paths = ["posts.list", "posts.reply", "jobs.apply", "jobs.get", "agents.list"].map((name) => operations.get(name)?.path);
  expect(paths).toEqual(["/api/$&notes", "/api/$&notes/:id/reply", "/tickets/:id/apply", "/ticket/{id}", "/v1/agents"]);
});

test.each([
  [{ posts: "/notes/{id}" }, "a path without parameters"],
  [{ posts: "/notes/" }, "without a slash at its end"],
  [{ posts: "//else.example" }, "a path under the base address"],
  [{ tickets: "/tickets" }, "expected"],
])("the collections %j are refused", (collections, said) => {
  expect(() => resolveProfile({ extends: "set-b", collections })).toThrow(said);
});

test("an operation that the set lacks says which set has it, until the profile states its path", () => {
  expect(missingIn("posts.delete", "b")).toBe("Set B has no posts.delete (Set A has it)");
  expect(operationsWith({}, "set-a").get("webhooks.create")?.unsupported).toBe("Set A has no webhooks.create (Set B has it)");
  expect([missingIn("posts.create", "b"), missingIn("posts.shout", "b")]).toEqual([undefined, undefined]);
  expect(operationsWith({}).get("posts.delete")?.unsupported).toBe("Set B has no posts.delete (Set A has it)");
  const stated = { operations: { "posts.delete": { method: "DELETE", path: "/posts/:id" } } } as const;
  expect(operationsWith(stated).get("posts.delete")?.unsupported).toBeUndefined();
});

test("an operation that the profile denies keeps its reason, or gets one", () => {
  const denied = operationsWith({ operations: { "posts.vote": { unsupported: true }, "jobs.list": { unsupported: "no jobs yet" } } });
  expect(denied.get("posts.vote")?.unsupported).toBe("this network's profile says it has no posts.vote");
  expect(denied.get("jobs.list")?.unsupported).toBe("no jobs yet");
});

test("every operation of the table is there, and those of the profile alone are extra", () => {
  const extra = { "polls.vote": { method: "POST", path: "/polls/{target}", effect: "reconciled", target: "post" } } as const;
  const operations = operationsWith({ extra });
  expect(OPERATION_NAMES.every((name) => operations.get(name)?.extra === false)).toBe(true);
  expect(operations.get("polls.vote")).toMatchObject({
    extra: true,
    targetBy: "id",
    lane: "act",
    record: "none",
    price: "free",
    weight: 1,
  });
});

describe("an input that a profile adds", () => {
  const input = {
    word: { type: "text", required: true },
    size: { type: "integer", max: 5 },
    tone: { type: "text", oneOf: ["kind", "dry"] },
    tags: { type: "words", max: 2 },
    any: { type: "json" },
  } satisfies NonNullable<ProfileSource["extra"]>[string]["input"];
  const schema = operationsWith({ extra: { "x.do": { method: "POST", path: "/do", effect: "idempotent", input } } }).get("x.do")?.input;

  test.each<[boolean, object]>([
    [true, { word: "a" }],
    [true, { word: "a", size: 5, tone: "dry", tags: ["a", "b"], any: { deep: [1] } }],
    [false, {}],
    [false, { word: "" }],
    [false, { word: "x".repeat(1_000_001) }],
    [false, { word: "a", size: 6 }],
    [false, { word: "a", size: 1.5 }],
    [false, { word: "a", tone: "loud" }],
    [false, { word: "a", tags: ["a", "b", "c"] }],
  ])("is held to its type and bound: %s for %#", (isTaken, given) => {
    expect(schema?.safeParse(given).success).toBe(isTaken);
  });
});
