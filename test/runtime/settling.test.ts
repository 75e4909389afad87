/** Changes that come together are one. */
import { expect, test } from "vitest";
import type { Clock } from "../../src/core/clock.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { Settling } from "../../src/runtime/settling.ts";

test("a change is over once nobody has come, gone or begun to drain for a while", async () => {
  const clock = virtualClock();
  const settling = new Settling(clock);
  const [one, two] = [
    { number: 1, draining: false },
    { number: 2, draining: false },
  ];
  settling.note([one]);
  await clock.advance(1_000);
  settling.note([one, two]);
  await clock.advance(1_000);
  expect(settling.isOver).toBe(false);
  settling.note([one, two]);
  await clock.advance(500);
  expect(settling.isOver).toBe(true);
  settling.note([one, { ...two, draining: true }]);
  expect(settling.isOver).toBe(false);
});

test("a pause is short until all is settled or taken, and tells by how much a stop made it longer", async () => {
  const clock = virtualClock();
  const paused: number[] = [];
  let stoppedMs = 0;
  const stopped: Clock = {
    ...clock,
    after(delayMs, run) {
      paused.push(delayMs);
      return clock.after(delayMs + stoppedMs, run);
    },
  };
  const settling = new Settling(stopped);
  const { signal } = new AbortController();
  settling.note([{ number: 1, draining: false }]);
  expect(await clock.run(settling.pause(false, signal))).toBe(0);
  await clock.advance(2_000);
  expect(await clock.run(settling.pause(true, signal))).toBe(0);
  stoppedMs = 12_000;
  expect(await clock.run(settling.pause(false, signal))).toBe(12_000);
  expect(paused).toEqual([250, 250, 1_000]);
  expect(await settling.pause(false, AbortSignal.abort())).toBe(0);
});
