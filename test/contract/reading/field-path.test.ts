/** Paths into foreign JSON: own members and list places only, and nothing is found where nothing is. */
import { expect, test } from "vitest";
import { FIELD_PATH, fieldPath, fieldPaths, firstAt, typeOf, valueAt } from "../../../src/contract/reading/field-path.ts";
import type { Json } from "../../../src/core/json.ts";

const answer: Json = { author: { handle: "ann" }, errors: [{ message: "no" }], none: null, "0": "zero", deep: { empty: "" } };

test.each<[string, Json | undefined]>([
  ["author.handle", "ann"],
  ["errors.0.message", "no"],
  ["errors.1.message", undefined],
  ["errors.-1", undefined],
  ["errors.length", undefined],
  ["errors.00000", undefined],
  ["0", "zero"],
  ["none", null],
  ["none.at", undefined],
  ["author.handle.0", undefined],
  ["constructor", undefined],
  ["author.__proto__", undefined],
  ["$", answer],
])("%s", (path, found) => {
  expect(valueAt(answer, fieldPath(path))).toEqual(found);
});

test("the first path whose value is accepted wins; null and refused values are passed over", () => {
  const paths = fieldPaths(["none", "author", "missing", "author.handle", "errors.0.message"]);
  expect(firstAt(answer, paths, (found) => (typeof found === "string" ? found : undefined))).toBe("ann");
  expect(firstAt(answer, paths, () => undefined)).toBeUndefined();
  expect(firstAt(undefined, paths, (found) => found)).toBeUndefined();
});

test("a list of paths is compiled once", () => {
  const texts = ["a.b", "c"];
  expect(fieldPaths(texts)).toBe(fieldPaths(texts));
});

test("a path of a profile is bounded and has no empty name", () => {
  const isPath = (text: string): boolean => FIELD_PATH.test(text);
  expect(["$", "a", "a.b", "errors.0.message", "a.b.c.d.e.f.g.h"].every(isPath)).toBe(true);
  expect(["", ".", "a.", ".a", "a..b", "a b", "$.a", "a.b.c.d.e.f.g.h.i"].some(isPath)).toBe(false);
});

test("a type is a word that reveals nothing of the value", () => {
  expect([undefined, null, [], {}, "x", 1, true].map((value) => typeOf(value))).toEqual([
    "missing",
    "null",
    "list",
    "object",
    "string",
    "number",
    "boolean",
  ]);
});
