import { expect, test } from "vitest";
import { countText } from "../../src/cli/format-values.ts";

test("the number of a list that is cut is exact", () => {
  expect(countText(100, 1_002_431)).toBe("100 of 1,002,431");
});
