/** Foreign JSON within its bounds, whatever it counts. */
import { expect, test } from "vitest";
import { MAX_JSON_DEPTH, parseJson } from "../../src/core/json.ts";

const nested = (depth: number, inner: string): string => `${'{"a":'.repeat(depth)}${inner}${"}".repeat(depth)}`;

test.each<readonly [what: string, text: string, isRead: boolean]>([
  ["lists at the deepest", "[".repeat(MAX_JSON_DEPTH) + "]".repeat(MAX_JSON_DEPTH), true],
  ["lists one deeper", "[".repeat(MAX_JSON_DEPTH + 1) + "]".repeat(MAX_JSON_DEPTH + 1), false],
  ["objects and lists that are too deep together", nested(MAX_JSON_DEPTH - 1, "[[]]"), false],
  ["objects and lists at the deepest", nested(MAX_JSON_DEPTH - 1, "[]"), true],
  ["many objects side by side", `[${Array.from({ length: 1_000 }, () => "{}").join()}]`, true],
  ["brackets in a text", JSON.stringify("[{".repeat(1_000)), true],
])("%s: %#", (_what, text, isRead) => {
  expect(parseJson(text)).toEqual(isRead ? JSON.parse(text) : undefined);
});
