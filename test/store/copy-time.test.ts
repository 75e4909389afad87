/** The time of a copy, for people. */
import { expect, test } from "vitest";
import { copyTime } from "../../src/store/copy-time.ts";

test("a copy whose rows have no time is of an unknown one", () => {
  expect([copyTime(Date.UTC(2026, 10, 21)), copyTime(0)]).toEqual(["2026-11-21T00:00:00.000Z", "an unknown time"]);
});
