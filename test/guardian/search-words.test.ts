import { expect, test } from "vitest";
import { wordsIn } from "../../src/guardian/search-words.ts";

test("a search is a few words, and anything else is a mistake", () => {
  expect([wordsIn(undefined), wordsIn(" two\nwords ")]).toEqual([undefined, ["two", "words"]]);
  for (const bad of ["", "  ", "a ".repeat(11), "x".repeat(201)])
    expect(() => wordsIn(bad)).toThrow(expect.objectContaining({ code: "option_invalid" }));
});
