/** Changes that come together are one. */
import { expect, test } from "vitest";
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
