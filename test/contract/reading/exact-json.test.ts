/** No digit of a whole number is lost, and nothing an answer holds reaches a prototype. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { parseExactJson } from "../../../src/contract/reading/exact-json.ts";
import { MAX_JSON_DEPTH } from "../../../src/core/json.ts";

test("any whole number comes back digit for digit", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 90n), max: 2n ** 90n }), (number) => {
      const read = parseExactJson(`{"id": ${number}, "list": [${number}]}`) as { id: string | number; list: (string | number)[] };
      expect([String(read.id), String(read.list[0])]).toEqual([String(number), String(number)]);
    }),
    { numRuns: 1_000 },
  );
});

test("everything else is what JSON.parse makes of it", () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      fc.pre(!text.includes("__proto__") && !/\d{16}/.test(text));
      expect(parseExactJson(text)).toEqual(JSON.parse(text));
    }),
  );
});

test("digits inside a text stay a text, and fractions stay numbers", () => {
  expect(parseExactJson('{"a":"12345678901234567890","b":0.12345678901234567,"c":1e30}')).toEqual({
    a: "12345678901234567890",
    b: Number("0.12345678901234567"),
    c: 1e30,
  });
});

test.each([
  ["", undefined],
  ["{", undefined],
  ['{"id": 12345678901234567890', undefined],
  ["<html>", undefined],
  ["[".repeat(MAX_JSON_DEPTH + 1) + "1234567890123456" + "]".repeat(MAX_JSON_DEPTH + 1), undefined],
  ["\ufeff[12345678901234567890]", ["12345678901234567890"]],
])("%j is %j", (text, expected) => {
  expect(parseExactJson(text)).toEqual(expected);
});

test("a prototype cannot be slipped in, with or without long numbers", () => {
  for (const text of [
    '{"__proto__": {"id": 1}}',
    '{"__proto__": {"id": 1}, "n": 12345678901234567890}',
    '{"a": [{"__proto__": {"id": 1}}], "__proto__": 1, "__proto__": {"id": 1}}',
    '{"\\u005f_proto__": {"id": 1}, "a": [{"_\\u005Fpr\\u006fto__": {"id": 1}}]}',
  ]) {
    const read = parseExactJson(text) as Record<string, unknown>;
    expect(read["id"]).toBeUndefined();
    expect(Object.getPrototypeOf(read)).toBe(Object.prototype);
    expect(JSON.stringify(read)).not.toContain("__proto__");
  }
});
