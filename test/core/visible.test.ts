/** Hidden characters of a text are shown as escapes; everything that can be seen stays. */
import { expect, test } from "vitest";
import { visible } from "../../src/core/visible.ts";

test.each([
  ["a\u001B[2Jb", "a\\u001b[2Jb"],
  ["left\u202Eright", "left\\u202eright"],
  ["one\ntwo\r\tthree", "one\\ntwo\\r\\tthree"],
  ["half \uD800", "half \\ud800"],
  ["tag \u{E0041}", "tag \\udb40\\udc41"],
  ["", ""],
])("%j is shown as %s", (text, shown) => expect(visible(text)).toBe(shown));

test("letters, emoji and their joiners stay as they are", () => {
  const seen = "ä 漢字 עברית 👩‍🚀 ❤️ क्‍ष";
  expect(visible(seen)).toBe(seen);
});
