/** The halt of an original is told apart from every other one. */
import { expect, test } from "vitest";
import { copiedTo, isCopied } from "../../src/store/copied.ts";

test("the reason names the copy, and no reason of a person is taken for it", () => {
  expect(copiedTo("elsewhere")).toBe("its rows were copied to elsewhere");
  expect(isCopied(copiedTo("elsewhere"))).toBe(true);
  expect(isCopied("the Guardian ordered it")).toBe(false);
});
