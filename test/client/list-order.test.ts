/** The order of a list: called oldest first only where every item says so. */
import { expect, test } from "vitest";
import { isOldestFirst } from "../../src/client/list-order.ts";
import type { NetworkRecord } from "../../src/contract/records.ts";
import { DAY } from "../../src/core/units.ts";
import { postOf } from "../harness/builders.ts";

const listed = (days: readonly (number | undefined)[]): readonly NetworkRecord[] =>
  days.map((day, i) => postOf(`p${i}`, day === undefined ? {} : { createdAtMs: day * DAY }));

test.each<[string, readonly (number | undefined)[], boolean]>([
  ["oldest first", [1, 2, 3, 4, 5], true],
  ["oldest first, two of one day", [1, 2, 2, 3, 4], true],
  ["newest first", [5, 4, 3, 2, 1], false],
  ["all of one day", [3, 3, 3, 3, 3], false],
  ["in no order", [1, 2, 4, 3, 5], false],
  ["with an item that has no date", [1, 2, undefined, 4, 5], false],
  ["too short to tell", [1, 2, 3, 4], false],
  ["empty", [], false],
])("a list %s: %#", (_name, days, isRising) => {
  expect(isOldestFirst(listed(days))).toBe(isRising);
});

test("records without any time have no order", () => {
  expect(isOldestFirst(Array.from({ length: 9 }, (_, i) => ({ kind: "agent", id: `a${i}`, raw: {} })))).toBe(false);
});
