/** When an intent was sent, where a clock that was ahead may have dated it. */
import { expect, test } from "vitest";
import { dateOf, knownSentAt, lastWentOnAt } from "../../src/outbox/sent-at.ts";
import { UNDATED } from "../../src/outbox/intent.ts";

const at = (sentAt: number | undefined, settledAt?: number) => ({ createdAt: 1_000, sentAt, settledAt });

test("a sent action is dated by its sending, another by its decision", () => {
  expect([at(2_000), at(undefined)].map(dateOf)).toEqual([2_000, 1_000]);
  expect([at(2_000, 3_000), at(2_000), at(undefined)].map(lastWentOnAt)).toEqual([3_000, 2_000, 1_000]);
});

test("an action dated by a wrong clock lies before everything, and is shown to nobody as of 1970", () => {
  expect(dateOf(at(UNDATED))).toBeLessThan(1_000);
  expect(knownSentAt(at(UNDATED))).toBeUndefined();
  expect(lastWentOnAt(at(UNDATED))).toBe(1_000);
});
