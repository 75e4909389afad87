/** Places of handlers: no more of their promises are awaited at once than there are places. Real runtime and rows, virtual time. */
import { expect, test } from "vitest";
import { seededRandom } from "../../src/core/random.ts";
import { HOUR, MINUTE } from "../../src/core/units.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { createSpecialist } from "../../src/specialist/specialist.ts";
import { virtualRuntime } from "../harness/harness.ts";

/** Specialists whose hourly handler does this, with two places for all of them. */
async function crowded(count: number, run: () => unknown): Promise<void> {
  const clock = virtualClock(Date.UTC(2026, 10, 21));
  const runtime = virtualRuntime({
    specialists: Array.from({ length: count }, (_, n) =>
      createSpecialist({
        handle: `s${n}`,
        id: `agt_${n}`,
        watch: { feed: false, threads: false },
        schedules: { hourly: { every: "1h", run } },
      }),
    ),
    transport: () => Promise.reject(new Error("nothing is sent here")),
    keyOf: () => "sk_live_0123456789abcdef",
    clock,
    random: seededRandom(1),
    handlers: 2,
  });
  await clock.run(runtime.start());
  await clock.advance(HOUR + 10 * MINUTE);
  await clock.run(runtime.stop());
}

test("handlers whose promises are awaited are never more than there are places, and all have their turn", async () => {
  let awaited = 0;
  let most = 0;
  let ended = 0;
  await crowded(6, async () => {
    most = Math.max(most, ++awaited);
    for (let turns = 0; turns < 5; turns++) await new Promise((resolve) => void setImmediate(resolve));
    awaited--;
    ended++;
  });
  expect({ most, ended }).toEqual({ most: 2, ended: 6 });
});

test("handlers that return no promise need no place", async () => {
  let ended = 0;
  await crowded(6, () => void ended++);
  expect(ended).toBe(6);
});
