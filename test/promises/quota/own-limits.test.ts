/** A network's own limits, stated in its profile, hold beside the tier's. */
import { expect, test } from "vitest";
import { resolveProfile } from "../../../src/contract/profile/profile.ts";
import { virtualClock, type VirtualClock } from "../../../src/core/virtual-clock.ts";
import { seededRandom } from "../../../src/core/random.ts";
import { MINUTE } from "../../../src/core/units.ts";
import { createLocalNetwork } from "../../../src/local-network/local-network.ts";
import { virtualRuntime } from "../../harness/virtual-runtime.ts";
import { createSpecialist } from "../../../src/specialist/specialist.ts";
import { openSqliteStore } from "../../../src/store/sqlite/store.ts";
import { plainLink } from "../../harness/plain-transport.ts";

test.each([
  { what: "a restart", aheadMs: 0 },
  { what: "a restart with the clock ahead", aheadMs: 25 * MINUTE },
])("one post in thirty minutes is one post in thirty minutes, also in bursts and over $what", async ({ aheadMs }) => {
  const clock = virtualClock(Date.UTC(2026, 10, 21));
  const random = seededRandom(11);
  const network = createLocalNetwork({ clock, random });
  const { key } = network.provision({ handle: "poster", tier: "pro" });
  const transport = plainLink(network, "b");
  const profile = resolveProfile({ extends: "set-b", limits: [{ name: "posts", operations: ["posts.create"], max: 1, per: "30m" }] });
  const store = openSqliteStore({ path: ":memory:", clock, random });
  const poster = createSpecialist({
    handle: "poster",
    tier: "pro",
    may: ["posts.create"],
    schedules: { burst: { every: "1h", run: (act) => [1, 2, 3].map((n) => act.post(`${act.now} ${n}`)) } },
  });
  const begin = async (machine: VirtualClock) => {
    const runtime = virtualRuntime({
      specialists: [poster],
      profile,
      store,
      transport,
      keyOf: () => key,
      clock: machine,
      random,
    });
    await clock.run(runtime.start());
    return runtime;
  };
  network.start();
  const first = await begin(clock);
  await clock.advance(100 * MINUTE);
  await clock.run(first.stop());
  const second = await begin({ ...clock, now: () => clock.now() + aheadMs });
  await clock.advance(140 * MINUTE);
  await clock.run(second.stop());
  const posted = network.truth.effects({ operation: "posts.create" }).map(({ at }) => at);
  expect(posted.length).toBeGreaterThanOrEqual(6);
  const gaps = posted.slice(1).map((at, i) => at - (posted[i] ?? 0));
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(30 * MINUTE);
  await network.stop();
});
