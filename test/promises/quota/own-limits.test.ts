/** A network's own limits, stated in its profile, hold beside the tier's. */
import { expect, test } from "vitest";
import { MINUTE } from "../../../src/core/units.ts";
import { harness } from "../../harness/harness.ts";

test.each([
  { what: "a restart", aheadMs: 0 },
  { what: "a restart with the clock ahead", aheadMs: 25 * MINUTE },
])("one post in thirty minutes is one post in thirty minutes, also in bursts and over $what", async ({ aheadMs }) => {
  let isAhead = false;
  const { clock, network, restart, end } = await harness({
    seed: 11,
    specialists: [
      {
        handle: "poster",
        tier: "pro",
        may: ["posts.create"],
        schedules: { burst: { every: "1h", run: (act) => [1, 2, 3].map((n) => act.post(`${act.now} ${n}`)) } },
      },
    ],
    profile: { limits: [{ name: "posts", operations: ["posts.create"], max: 1, per: "30m" }] },
    aheadMs: () => (isAhead ? aheadMs : 0),
  });
  await clock.advance(100 * MINUTE);
  isAhead = true;
  await restart();
  await clock.advance(140 * MINUTE);
  await end();
  const posted = network.truth.effects({ operation: "posts.create" }).map(({ at }) => at);
  expect(posted.length).toBeGreaterThanOrEqual(6);
  const gaps = posted.slice(1).map((at, i) => at - (posted[i] ?? 0));
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(30 * MINUTE);
});
