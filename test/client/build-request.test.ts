/** A request: every input in its place, the network's words for ours, and refusals before anything leaves. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { requestBuilder, type BuiltRequest } from "../../src/client/build-request.ts";
import { supported } from "../../src/client/client.ts";
import { parseBaseAddress } from "../../src/contract/base-address.ts";
import type { EndpointSet } from "../../src/contract/operations.ts";
import { resolveProfile, shippedProfile, type Profile } from "../../src/contract/profile/profile.ts";
import { Refused } from "../../src/core/errors.ts";
import type { JsonObject } from "../../src/core/json.ts";
import { Secret } from "../../src/core/secret.ts";

const KEY = new Secret("sk_live_0123456789");
const profileB = shippedProfile("b");

function build(profile: Profile, operation: string, target: string | undefined, input: JsonObject, me?: string): BuiltRequest {
  const make = requestBuilder(profile, supported(profile, operation), parseBaseAddress("http://net.test/v1"));
  return make({ operation, input, ...(target === undefined ? {} : { target }) }, KEY, me);
}

test("a write carries its inputs in the body, a read in the query, and pages by the profile's names within its bound", () => {
  const profile = resolveProfile({ extends: "set-b", paging: { parameter: "after", limitParameter: "per page" } });
  expect(build(profile, "posts.reply", "p1", { content: "hi" })).toEqual({ path: "/v1/posts/p1/reply", body: '{"content":"hi"}' });
  expect(build(profile, "posts.list", undefined, { author: "a&b", limit: 5_000, cursor: "c=1" })).toEqual({
    path: "/v1/posts?author=a%26b&per%20page=100&after=c%3D1",
    body: undefined,
  });
});

test("a search carries its paging in the body", () => {
  expect(build(shippedProfile("a"), "search.jobs", undefined, { query: "csv", limit: 5, cursor: "c1" })).toEqual({
    path: "/v1/search/jobs",
    body: '{"query":"csv","limit":5,"cursor":"c1"}',
  });
});

test("a next page's link is followed by its query alone, without the parameter that repeated the key", () => {
  const cursor = "link:http://elsewhere.test/other?cursor=c2&key=[secret]&limit=5";
  expect(build(profileB, "posts.list", undefined, { cursor, limit: 50 }).path).toBe("/v1/posts?cursor=c2&limit=5");
});

test("a form is a form, and a body that the profile denies is none", () => {
  const profile = resolveProfile({
    extends: "set-b",
    operations: {
      "posts.reply": { encoding: "form", body: { text: "{content}", tags: ["a", "b"], none: null } },
      "posts.vote": { body: null, query: { way: "{direction}" } },
    },
  });
  expect(build(profile, "posts.reply", "p1", { content: "a b&c" }).body).toBe("text=a+b%26c&tags=%5B%22a%22%2C%22b%22%5D");
  expect(build(profile, "posts.vote", "p1", { direction: "up" }).body).toBeUndefined();
});

test("the key stands in a body only where an exchange asks for it", () => {
  const path = { method: "POST", path: "/v1/token" } as const;
  const named = resolveProfile({ extends: "set-b", operations: { "auth.token": { ...path, body: { secret: "{key}" } } } });
  expect(build(named, "auth.token", undefined, {}).body).toBe('{"secret":"sk_live_0123456789"}');
  const silent = resolveProfile({ extends: "set-b", operations: { "auth.token": { ...path, body: { grant: "key" } } } });
  expect(build(silent, "auth.token", undefined, {}).body).toBe('{"grant":"key"}');
});

describe("refused before anything is sent:", () => {
  test.each<[string, EndpointSet, string, string | undefined, JsonObject, string, string]>([
    [
      "a down-vote where there are likes only",
      "a",
      "posts.vote",
      "p1",
      { direction: "down" },
      "input_unsupported",
      'does not accept direction "down"',
    ],
    ["a missing target", "b", "posts.reply", undefined, { content: "x" }, "target_missing", "post"],
    ["a target where there is none", "b", "posts.create", "p1", { content: "x" }, "target_unexpected", "no object"],
    ["a missing input", "b", "posts.reply", "p1", {}, "input_invalid", "content"],
    ["an empty content", "b", "posts.reply", "p1", { content: "" }, "input_invalid", "content"],
    ["an unknown input", "b", "posts.reply", "p1", { content: "x", colour: "red" }, "input_unknown", "colour"],
    ["a target that walks up the path", "b", "posts.reply", "..", { content: "x" }, "target_invalid", "id"],
    ["a target that is a dot", "b", "posts.get", ".", {}, "target_invalid", "id"],
    ["an empty target", "b", "posts.get", "", {}, "target_invalid", "id"],
    ["an endless target", "b", "posts.get", "x".repeat(600), {}, "target_invalid", "id"],
    ["half a character", "b", "posts.get", "\ud800", {}, "target_invalid", "id"],
    ["an unknown input where there is none at all", "b", "posts.get", "p1", { content: "x" }, "input_unknown", "content"],
  ])("%s (Set %s)", (_name, set, operation, target, input, code, says) => {
    const attempt = (): BuiltRequest => build(shippedProfile(set), operation, target, input);
    expect(attempt).toThrow(Refused);
    expect(attempt).toThrow(expect.objectContaining({ code, message: expect.stringContaining(says) as string }));
  });
});

test("whatever the target, a request stays at its endpoint and names exactly that target", () => {
  let built = 0;
  const target = fc.oneof(
    fc.string(),
    fc.string({ unit: "binary" }),
    fc.constantFrom("..", ".", "../..", "a/../b", "%2e%2e", "a?b#c", "\\", "a b", "é"),
  );
  fc.assert(
    fc.property(target, (id) => {
      let path: string;
      try {
        ({ path } = build(profileB, "posts.reply", id, { content: "x" }));
      } catch (error) {
        return error instanceof Refused && error.code === "target_invalid";
      }
      built++;
      const url = new URL(path, "http://net.test");
      const [, version, posts, named = "", reply, ...more] = url.pathname.split("/");
      expect([version, posts, decodeURIComponent(named), reply, more, url.search, url.hash]).toEqual([
        "v1",
        "posts",
        id,
        "reply",
        [],
        "",
        "",
      ]);
      return true;
    }),
    { numRuns: 2_000 },
  );
  expect(built).toBeGreaterThan(1_000);
});

test("the account's own id is one encoded segment of a path, or a value, and nothing is built without it", () => {
  const profile = resolveProfile({
    extends: "set-b",
    operations: {
      "posts.create": { path: "/agents/{me}/posts", body: { by: "{me}", text: "{content}" } },
      "posts.list": { query: { not: "{me}" } },
    },
  });
  const create = (me?: string): BuiltRequest => build(profile, "posts.create", undefined, { content: "hi" }, me);
  expect(create("a/b ?")).toEqual({ path: "/v1/agents/a%2Fb%20%3F/posts", body: '{"by":"a/b ?","text":"hi"}' });
  expect(build(profile, "posts.list", undefined, {}, "a&b").path).toBe("/v1/posts?not=a%26b");
  expect(() => create()).toThrow(expect.objectContaining({ code: "account_unknown" }));
  expect(() => create("..")).toThrow(expect.objectContaining({ code: "target_invalid" }));
  expect(build(profileB, "posts.create", undefined, { content: "hi" }).path).toBe("/v1/posts");
});

test("an input named like the account's own id is that input", () => {
  const input = { me: { type: "text", required: true } };
  const profile = resolveProfile({ extends: "set-b", operations: { "posts.create": { input, body: { text: "{content}", me: "{me}" } } } });
  expect(build(profile, "posts.create", undefined, { content: "hi", me: "x" }).body).toBe('{"text":"hi","me":"x"}');
});
