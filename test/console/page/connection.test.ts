/** The page never calls itself live when it is not. */
import { expect, test } from "vitest";
import { connectionOf, loadPause, retryPause, SILENT_MS } from "../../../src/console/page/connection.ts";

const AT = 1_000_000;

test.each([
  [true, 0, { state: "live" }],
  [true, SILENT_MS - 1, { state: "live" }],
  [true, SILENT_MS, { state: "stale", since: AT }],
  [false, 0, { state: "reconnecting" }],
  [false, 14_999, { state: "reconnecting" }],
  [false, 15_000, { state: "stale", since: AT }],
  [false, 3_600_000, { state: "stale", since: AT }],
])("open %s, silent for %i ms: %j", (open, silence, expected) =>
  expect(connectionOf({ open, heardAt: AT }, AT + silence)).toEqual(expected),
);

test("tries come at growing pauses, never more than 10 s apart", () => {
  const pauses = Array.from({ length: 40 }, (_, failures) => retryPause(failures, 1));
  expect(pauses.slice(0, 4)).toEqual([500, 1_000, 2_000, 4_000]);
  expect(Math.max(...pauses)).toBe(10_000);
  expect(retryPause(3, 0)).toBe(2_000);
});

test("loading takes a fifth of the time at most", () => expect([1, 50, 100, 10_000].map(loadPause)).toEqual([100, 200, 400, 5_000]));
