/** Templates: a placeholder takes its value with its type, and no value leads a path elsewhere. */
import { describe, expect, test } from "vitest";
import { fillTemplate, pathBuilder, pathFields, targetBy, templateFields } from "../../../src/contract/profile/template.ts";
import type { Json } from "../../../src/core/json.ts";

test("placeholders are found at any depth, and every name of the object acted on is the target", () => {
  expect(templateFields({ a: "{content}", list: ["x {limit}", { b: "{target}" }], n: 7, none: null })).toEqual([
    "content",
    "limit",
    "target",
  ]);
  expect(pathFields("/c/:handle/posts/{id}/votes/:direction")).toEqual(["target", "target", "direction"]);
  expect(["/posts/:id", "/agents/{handle}", "/c/:handle/posts/:id", "/posts", "/vote/:direction"].map(targetBy)).toEqual([
    "id",
    "handle",
    "handle",
    undefined,
    undefined,
  ]);
});

test.each<[Json, Json | undefined]>([
  ["{limit}", 5],
  ["at most {limit}", "at most 5"],
  ["{tags}", ["a", "b"]],
  ["tags {tags}", 'tags ["a","b"]'],
  ["{missing}", undefined],
  ["{none}", null],
  ["said {none}", undefined],
  ["said {missing}", undefined],
  [
    ["{limit}", "{missing}", 1],
    [5, 1],
  ],
  [
    { post: { body: "{content}", tag: "{missing}" }, type: "text" },
    { post: { body: "{curly}" }, type: "text" },
  ],
  [7, 7],
  [null, null],
])("%j is filled as %j", (template, filled) => {
  expect(fillTemplate(template, { limit: 5, tags: ["a", "b"], none: null, content: "{curly}" })).toEqual(filled);
});

describe("a path", () => {
  const build = pathBuilder("/v1/posts/:id/votes/{direction}");

  test("takes ids and safe numbers, encoded", () => {
    expect(build({ target: "a/b?c#d é", direction: "up" })).toBe("/v1/posts/a%2Fb%3Fc%23d%20%C3%A9/votes/up");
    expect(build({ target: 12, direction: "..." })).toBe("/v1/posts/12/votes/...");
    expect(build({ target: "x".repeat(512), direction: "up" })).toContain("x".repeat(512));
  });

  test.each<[string, Json | undefined]>([
    ["nothing", undefined],
    ["an empty text", ""],
    ["this folder", "."],
    ["the folder above", ".."],
    ["half a character", "\ud800"],
    ["a text that is too long", "x".repeat(513)],
    ["a rounded number", 2 ** 53],
    ["a fraction", 1.5],
    ["yes", true],
    ["an object", { id: "a" }],
  ])("refuses %s before anything is sent", (_what, target) => {
    expect(() => build(target === undefined ? { direction: "up" } : { target, direction: "up" })).toThrow(
      expect.objectContaining({ code: "target_invalid" }),
    );
  });
});
