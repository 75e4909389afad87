/** When lists are looked at: real runtime and rows, virtual time. */
import { expect, test } from "vitest";
import { resolveProfile } from "../../src/contract/profile/profile.ts";
import { seededRandom } from "../../src/core/random.ts";
import { HOUR } from "../../src/core/units.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { createSpecialist } from "../../src/specialist/specialist.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { virtualRuntime } from "../harness/harness.ts";

/** How long after its first look a specialist with two requests a day looks again. */
async function firstPause(seed: number): Promise<number> {
  const clock = virtualClock();
  const random = seededRandom(seed);
  const store = openSqliteStore({ path: ":memory:", clock, random });
  const specialist = createSpecialist({ handle: "scout", id: "agt_1", watch: { feed: true }, on: { "post.created": () => undefined } });
  const runtime = virtualRuntime({
    specialists: [specialist],
    profile: resolveProfile({ extends: "set-b", tiers: { free: { perHour: 2, perDay: 2 } } }),
    store,
    transport: async () => ({ kind: "answer", status: 200, headers: {}, text: "[]", elapsedMs: 1 }),
    keyOf: () => "sk_live_0123456789abcdef",
    clock,
    random,
  });
  await clock.run(runtime.start());
  await clock.advance(1_000);
  const due = store.nextDue(specialist.handle, []);
  await clock.run(runtime.stop());
  await clock.run(store.close());
  return (due ?? Infinity) - clock.now();
}

test("a first pause that chance makes longer stays within twelve hours, and those who begin together look apart", async () => {
  const pauses: number[] = [];
  for (let seed = 1; seed <= 20; seed++) pauses.push(await firstPause(seed));
  expect(Math.max(...pauses)).toBeLessThanOrEqual(12 * HOUR);
  expect(new Set(pauses).size).toBe(pauses.length);
});
