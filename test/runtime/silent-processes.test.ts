/** The time until which processes that lost shards may have sent what they had begun. */
import { expect, test } from "vitest";
import { SilentProcesses } from "../../src/runtime/silent-processes.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";

test("it has no end while one of them is silent, and ends as the last one is heard", async () => {
  const clock = virtualClock();
  const silent = new SilentProcesses(clock, [1, 2, 3], 3);
  expect([silent.numbers, silent.maySendUntil]).toEqual([[1, 2], Number.POSITIVE_INFINITY]);
  await clock.advance(1_000);
  silent.heard(1);
  silent.heard(7);
  expect(silent.maySendUntil).toBe(Number.POSITIVE_INFINITY);
  await clock.advance(1_000);
  silent.heard(2);
  const until = clock.monotonic();
  await clock.advance(1_000);
  silent.heard(2);
  expect([silent.numbers, silent.maySendUntil]).toEqual([[], until]);
});

test("a process alone has none", () => {
  expect(new SilentProcesses(virtualClock(), [3], 3).maySendUntil).toBe(Number.NEGATIVE_INFINITY);
});
