/** Texts of others keep their lines, show what they hide, and are cut between characters. */
import { expect, test } from "vitest";
import { beginningOf, MAX_SHOWN, visibleLines } from "../../../src/console/page/foreign-text.ts";

test("lines stay, and what hides in them is shown", () => {
  expect(visibleLines("one\r\ntwo \u202Ethree\n\u001B[31mfour")).toBe("one\ntwo \\u202ethree\n\\u001b[31mfour");
});

test("a text that is little longer is shown whole, a long one is cut, and no character in two", () => {
  expect(beginningOf("x".repeat(MAX_SHOWN * 1.2))).toHaveLength(MAX_SHOWN * 1.2);
  expect(beginningOf("x".repeat(1_000_000))).toHaveLength(MAX_SHOWN);
  expect(beginningOf(`${"x".repeat(9)}😀${"x".repeat(20)}`, 10)).toBe("x".repeat(9));
});
