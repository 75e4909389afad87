/** The query of a request is read strictly. */
import { expect, test } from "vitest";
import { queryOf } from "../../src/console/query.ts";

test("texts, numbers and words are read, and an empty value is none", () => {
  const query = queryOf({ a: "x", n: "12", w: "csv", empty: "" });
  expect([query.text("a"), query.whole("n"), query.oneOf("w", ["csv", "jsonl"]), query.text("empty"), query.whole("none")]).toEqual([
    "x",
    12,
    "csv",
    undefined,
    undefined,
  ]);
});

test.each([
  [() => queryOf({ n: "-1" }).whole("n"), "a whole number"],
  [() => queryOf({ n: "1e3" }).whole("n"), "a whole number"],
  [() => queryOf({ n: "9999999999999999" }).whole("n"), "a whole number"],
  [() => queryOf({ a: ["x", "y"] }).text("a"), "one value"],
  [() => queryOf({ a: "x".repeat(501) }).text("a"), "at most 500"],
  [() => queryOf({ w: "xml" }).oneOf("w", ["csv"]), "one of csv"],
])("%s is refused", (read, expected) => {
  expect(read).toThrow(
    expect.objectContaining({ code: "query_invalid", details: expect.objectContaining({ expected: expect.stringContaining(expected) }) }),
  );
});
