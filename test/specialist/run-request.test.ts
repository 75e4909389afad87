/** Values that leave a handling: as they will be read back, as JSON, and not too long. */
import { expect, test } from "vitest";
import { MAX_VALUE_BYTES, storable } from "../../src/specialist/run-request.ts";

const circular: { itself?: unknown } = {};
circular.itself = circular;

test("a value is what its row will give back", () => {
  expect(storable("x", { a: 1, left: undefined, at: new Date(0) })).toEqual({ a: 1, at: "1970-01-01T00:00:00.000Z" });
  expect([storable("x", null), storable("x", "text"), storable("x", [1, undefined])]).toEqual([null, "text", [1, null]]);
});

test.each<[string, unknown, string]>([
  ["nothing", undefined, "expected x to be JSON, got undefined"],
  ["a function", () => 1, "expected x to be JSON, got function"],
  ["a symbol", Symbol("x"), "expected x to be JSON, got symbol"],
  ["not a number", { a: [Number.NaN] }, "expected x to be JSON, got NaN in 0 in a"],
  ["a map", new Map(), "expected x to be JSON, got a Map"],
  ["a circle", circular, "expected x to be JSON: Converting circular structure to JSON"],
  ["a whole number beyond JSON", 2n, "expected x to be JSON: Do not know how to serialize a BigInt"],
  ["a long value", "x".repeat(MAX_VALUE_BYTES), `expected x to be at most ${MAX_VALUE_BYTES} bytes of JSON, got ${MAX_VALUE_BYTES + 2}`],
  [
    "a long value of wide characters",
    "ü".repeat(MAX_VALUE_BYTES / 2),
    `expected x to be at most ${MAX_VALUE_BYTES} bytes of JSON, got ${MAX_VALUE_BYTES + 2}`,
  ],
])("%s is refused", (_what, value, message) => {
  expect(() => storable("x", value)).toThrow(expect.objectContaining({ code: "value_invalid", message }));
});

test("a value of the longest length is stored", () => {
  expect(storable("x", "x".repeat(MAX_VALUE_BYTES - 2))).toHaveLength(MAX_VALUE_BYTES - 2);
});
