/** Foreign data is JSON within its bytes, and no text in it can end its mark. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { parseJson } from "../../src/core/json.ts";
import { foreignData } from "../../src/model/foreign-data.ts";

test("it stays JSON within its bytes, without a character that opens a tag", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), fc.integer({ min: 64, max: 5_000 }), (value, most) => {
      const text = foreignData(JSON.parse(JSON.stringify(value)), most);
      if (text === undefined) return;
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(most);
      expect(text).not.toMatch(/[<>]/);
      expect(parseJson(text)).toBeDefined();
    }),
  );
});

test("long texts are cut before a member is lost, between characters, and raw fields are left out", () => {
  const text = foreignData({ id: "p1", content: "ß".repeat(10_000), raw: { a: 1 } }, 600) ?? "";
  expect(JSON.parse(text)).toMatchObject({ id: "p1", content: expect.stringMatching(/^ß+ \[cut\]$/) as string });
  expect(text).not.toContain("raw");
});

test("a value that cannot be cut is none", () => {
  expect(
    foreignData(
      Array.from({ length: 100 }, (_, i) => ({ number: i, more: i })),
      300,
    ),
  ).toBeUndefined();
});
