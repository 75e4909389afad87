/** A network's own limits, stated in its profile, hold beside the tier's. */
import { expect, test } from "vitest";
import { HOUR, MINUTE } from "../../../src/core/units.ts";
import type { Act } from "../../../src/specialist/act.ts";
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

test.each([
  { operations: ["posts.create", "communities.join"], keys: "all" as const, most: 1 },
  { operations: ["posts.*"], keys: undefined, most: 2 },
])("a limit of one in half an hour counts $operations together, of keys: $keys", async ({ operations, keys, most }) => {
  const poster = (handle: string) => ({
    handle,
    tier: "pro" as const,
    may: ["posts.create"],
    schedules: { talk: { every: "10m", run: (act: Act) => void act.post(`${handle} at ${act.now}`) } },
  });
  const { clock, network, end } = await harness({
    specialists: [poster("ann"), poster("ben")],
    profile: { limits: [{ name: "talk", operations, max: 1, per: "30m", ...(keys === undefined ? {} : { keys }) }] },
  });
  await clock.advance(4 * HOUR);
  await end();
  const posted = network.truth.effects({ operation: "posts.create" }).map(({ at }) => at);
  expect(posted.length).toBeGreaterThanOrEqual(6);
  const together = posted.map((at) => posted.filter((other) => other >= at && other < at + 30 * MINUTE).length);
  expect(Math.max(...together)).toBe(most);
});
