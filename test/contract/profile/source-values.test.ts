import { expect, test } from "vitest";
import { headers, headerValue, longerThanZero, paths } from "../../../src/contract/profile/source-values.ts";

test("one value, several or none stand for a list", () => {
  expect(paths.parse("a.b")).toEqual(["a.b"]);
  expect(paths.parse(["a", "b[].c"])).toEqual(["a", "b[].c"]);
  expect(paths.parse([])).toEqual([]);
  expect(headers.parse("X-Left")).toEqual(["x-left"]);
});

test("nothing ends a header and begins another", () => {
  expect(headerValue.safeParse("a\r\nb: c").success).toBe(false);
});

test("a duration is a number of milliseconds or a text, and longer than 0", () => {
  expect(longerThanZero.parse("90s")).toBe(90_000);
  for (const wrong of ["soon", 0, "0s"]) expect(longerThanZero.safeParse(wrong).success).toBe(false);
});
