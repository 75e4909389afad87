/** Learnt delays of a network's jobs, over restarts. */
import { expect, test } from "vitest";
import { HOUR, MINUTE } from "../../src/core/units.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { NOTHING_LEARNT } from "../../src/limits/learnt-delay.ts";
import { createJobTimings } from "../../src/polling/job-timings.ts";
import type { NetworkStateRow } from "../../src/store/network-state.ts";

function setUp() {
  const clock = virtualClock(1_000);
  const kept: NetworkStateRow[] = [];
  return { clock, kept, timings: createJobTimings(clock, ({ put }) => void kept.push(...put)) };
}
const SPAN = { afterMs: HOUR, byMs: 2 * HOUR };

test("each stage learns its own delay, and the first sightings count as news", () => {
  const { timings } = setUp();
  expect(Array.from({ length: 5 }, () => timings.saw("given", SPAN))).toEqual([true, false, true, false, false]);
  expect(timings.of("given")).not.toEqual(NOTHING_LEARNT);
  expect(timings.of("paid")).toEqual(NOTHING_LEARNT);
});

test("it is stored once a minute at most, and known after a restart", async () => {
  const { timings, kept, clock } = setUp();
  for (let i = 0; i < 10; i++) timings.saw("given", SPAN);
  expect(kept).toHaveLength(1);
  await clock.advance(MINUTE);
  timings.saw("given", SPAN);
  expect(kept).toHaveLength(2);
  const again = setUp().timings;
  again.restore([...kept.slice(-1), { kind: "job-delay", name: "unheard of", data: {} }, { kind: "stop", name: "given", data: {} }]);
  expect(again.of("given")).toEqual(timings.of("given"));
});
