/** Single foreign values: read where they are plain, undefined where they are not, and never invented. */
import { describe, expect, test } from "vitest";
import {
  readBoolean,
  readId,
  readInteger,
  readNumber,
  readReferences,
  readSeconds,
  readTime,
  readVote,
  readWords,
  statusWord,
} from "../../../src/contract/reading/values.ts";
import type { Json } from "../../../src/core/json.ts";

test.each<[Json, string | undefined]>([
  ["007", "007"],
  [42, "42"],
  [2 ** 53, undefined],
  [1.5, undefined],
  ["", undefined],
  ["   ", undefined],
  ["x".repeat(512), "x".repeat(512)],
  ["x".repeat(513), undefined],
  [true, undefined],
  [{ id: "a" }, undefined],
])("id %#", (value, id) => {
  expect(readId(value)).toBe(id);
});

test.each<[Json, number | undefined, number | undefined]>([
  [1.5, 1.5, undefined],
  ["12", 12, 12],
  ["-1.25", -1.25, undefined],
  ["1e3", undefined, undefined],
  ["", undefined, undefined],
  [" 1", undefined, undefined],
  ["9".repeat(16), undefined, undefined],
  [2 ** 60, 2 ** 60, undefined],
  [true, undefined, undefined],
])("%j is the number %s and the whole number %s", (value, number, whole) => {
  expect([readNumber(value), readInteger(value)]).toEqual([number, whole]);
});

test.each([
  ["2026-01-01T00:00:00Z", 1_767_225_600_000],
  ["2026-01-01T01:00:00+01:00", 1_767_225_600_000],
  ["2026-01-01T00:00:00.123456", 1_767_225_600_123],
  ["2026-01-01 00:00:00", 1_767_225_600_000],
  ["2026-01-01 00:00:00 UTC", 1_767_225_600_000],
  ["2026-01-01T00:00:00,5Z", 1_767_225_600_500],
  ["2026-01-01", 1_767_225_600_000],
  ["Thu, 01 Jan 2026 00:00:00 GMT", 1_767_225_600_000],
  [1_767_225_600, 1_767_225_600_000],
  [1_767_225_600_000, 1_767_225_600_000],
  ["1767225600", 1_767_225_600_000],
  ["1767225600000", 1_767_225_600_000],
  ["yesterday", undefined],
  ["2026-13-45T00:00:00Z", undefined],
  ["1", undefined],
  [12, undefined],
  [-1, undefined],
  [1e300, undefined],
  [true, undefined],
  [{}, undefined],
])("the time %j is %j", (value, expected) => {
  expect(readTime(value, "auto")).toBe(expected);
});

test("a profile that states its times takes no other: seconds are no milliseconds, and text is no number", () => {
  expect([readTime(200_000_000_000, "seconds"), readTime(200_000_000_000, "milliseconds")]).toEqual([200_000_000_000_000, 200_000_000_000]);
  expect([readTime("2026-01-01", "seconds"), readTime("2026-01-01", "milliseconds"), readTime(1_767_225_600, "iso")]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});

test.each([
  [600, 600_000],
  ["600", 600_000],
  [0, 0],
  [1.797e308, undefined],
  [-1, undefined],
  ["soon", undefined],
])("a lifetime of %j s is %j ms", (value, expected) => {
  expect(readSeconds(value)).toBe(expected);
});

test.each([
  [1, "up"],
  [0, "none"],
  [-1, "down"],
  [true, "up"],
  [false, "not-up"],
  ["Upvoted", "up"],
  ["down", "down"],
  ["none", "none"],
  [null, "none"],
  [17, undefined],
  ["maybe", undefined],
  [[], undefined],
])("one's own vote, said as %j, is %s", (said, vote) => {
  expect(readVote(said)).toBe(vote);
});

test("yes and no are words or values, and nothing else is", () => {
  expect([true, false, "true", "false", "yes", 1, null].map(readBoolean)).toEqual([
    true,
    false,
    true,
    false,
    undefined,
    undefined,
    undefined,
  ]);
});

describe("lists", () => {
  test("words come as texts, as objects with a name, or in one text, and at most a thousand count", () => {
    expect(readWords("csv, json,, ")).toEqual(["csv", "json"]);
    expect(readWords(["csv", { name: "json" }, { slug: "sql" }, 7, null])).toEqual(["csv", "json", "sql"]);
    expect([readWords(Array<string>(5_000).fill("a"))?.length, readWords("a,".repeat(5_000))?.length]).toEqual([1_000, 1_000]);
    expect([readWords(7), readWords({ name: "csv" })]).toEqual([undefined, undefined]);
  });

  test("references are all read by one member, the first that fits or the one given", () => {
    expect(readReferences([{ handle: "ann" }, { id: "a2", handle: "ben" }, "cid"])).toEqual({ ids: ["ann", "ben"], by: "handle" });
    expect(readReferences([{ id: "a1", handle: "ann" }], "handle")).toEqual({ ids: ["ann"], by: "handle" });
    expect(readReferences(["a1", { id: "a2" }])).toEqual({ ids: ["a1"], by: "" });
    expect(readReferences([])).toEqual({ ids: [], by: undefined });
    expect(readReferences({ id: "a1" })).toBeUndefined();
  });
});

test("status words are compared without case and signs, in any script", () => {
  expect(["IN-PROGRESS", "in_progress", "In Progress", "Erledigt!", "完了"].map(statusWord)).toEqual([
    "inprogress",
    "inprogress",
    "inprogress",
    "erledigt",
    "完了",
  ]);
});
