/** Pauses double with each failure and never pass the longest, whatever the count. */
import { expect, test } from "vitest";
import { backoffMs, longerMs } from "../../src/core/backoff.ts";
import { HOUR, MINUTE, SECOND } from "../../src/core/units.ts";

const BACKOFF = { firstMs: 30 * SECOND, longestMs: 5 * MINUTE };

test("a pause doubles with each failure, up to the longest, however many there were", () => {
  expect([0, 1, 2, 3, 4, 5, 6, 1_000_000].map((failures) => backoffMs(BACKOFF, failures) / SECOND)).toEqual([
    30, 30, 60, 120, 240, 300, 300, 300,
  ]);
});

test("a pause that was in vain is doubled, up to the longest, and the first one is the first", () => {
  expect([undefined, 30 * SECOND, 4 * MINUTE, HOUR].map((waitMs) => longerMs(BACKOFF, waitMs) / SECOND)).toEqual([30, 60, 300, 300]);
});
