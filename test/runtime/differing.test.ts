/** Definitions that differ for a moment move nothing. */
import { expect, test } from "vitest";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { Differing } from "../../src/runtime/differing.ts";

test("shards of which another can run more should move once that has lasted for five seconds", async () => {
  const clock = virtualClock();
  const differing = new Differing(clock);
  const part = { shards: [3, 4, 5] };
  differing.note(new Set([4, 9]));
  await clock.advance(4_000);
  differing.note(new Set([9]));
  differing.note(new Set([4, 9]));
  await clock.advance(4_000);
  expect([differing.isLasting(part), differing.isLasting({ shards: [9] })]).toEqual([false, true]);
  await clock.advance(1_000);
  expect([differing.isLasting(part), differing.isLasting({ shards: [3] })]).toEqual([true, false]);
});
