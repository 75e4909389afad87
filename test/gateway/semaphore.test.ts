/** Nothing that was admitted waits for a socket, and no more handlers are at work than may be. */
import { describe, expect, test } from "vitest";
import { CONNECTIONS, type Transport } from "../../src/client/transport.ts";
import { seededRandom } from "../../src/core/random.ts";
import { MINUTE, SECOND } from "../../src/core/units.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { createSemaphore } from "../../src/gateway/semaphore.ts";
import { DEFAULT_HANDLERS } from "../../src/runtime/runtime.ts";
import { virtualRuntime } from "../harness/harness.ts";
import { createSpecialist } from "../../src/specialist/specialist.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";

describe("places", () => {
  test("are given in the order of asking, and never more of them than there are", async () => {
    const places = createSemaphore(2);
    const order: number[] = [];
    expect([places.take(), places.take()]).toEqual([undefined, undefined]);
    const later = [3, 4, 5].map(async (number) => {
      await places.take();
      order.push(number);
    });
    await Promise.resolve();
    expect(order).toEqual([]);
    for (const taken of later) {
      places.leave();
      await taken;
    }
    expect(order).toEqual([3, 4, 5]);
  });

  test("that were all given back can all be taken again", async () => {
    const places = createSemaphore(3);
    for (let round = 0; round < 3; round++) {
      expect([1, 2, 3].map(() => places.take())).toEqual([undefined, undefined, undefined]);
      for (let n = 0; n < 3; n++) places.leave();
    }
  });
});

test("a crowd of keys never has more requests admitted than there are sockets", async () => {
  const clock = virtualClock(Date.parse("2026-11-21T00:00:00Z"));
  const store = openSqliteStore({ path: ":memory:", clock, random: seededRandom("places") });
  let most = 0;
  const slow: Transport = async () => {
    most = Math.max(most, (await store.openAttempts()).length);
    await new Promise<void>((resolve) => void clock.after(SECOND, resolve));
    return { kind: "answer", status: 200, headers: { "content-type": "application/json" }, text: '{"posts":[]}', elapsedMs: SECOND };
  };
  const runtime = virtualRuntime({
    specialists: Array.from({ length: 3 * CONNECTIONS }, (_, i) =>
      createSpecialist({ handle: `reader-${i}`, tier: "pro", watch: { feed: true }, on: { "post.created": () => undefined } }),
    ),
    store,
    transport: slow,
    keyOf: (handle) => `sk_live_0123456789-${handle}`,
    clock,
    random: seededRandom("crowd"),
  });
  await clock.run(runtime.start());
  await clock.advance(MINUTE);
  await clock.run(runtime.stop());
  expect(most).toBe(CONNECTIONS);
  await clock.run(store.close());
});

test("a crowd due at one moment never has more handlers at work than there are places, and each has its turn", async () => {
  const clock = virtualClock(Date.parse("2026-11-21T00:00:00Z"));
  let working = 0;
  let most = 0;
  let done = 0;
  const slow = async (): Promise<void> => {
    most = Math.max(most, ++working);
    await new Promise<void>((resolve) => void clock.after(SECOND, resolve));
    working--;
    if (++done === 1) throw new Error("a failure gives its place back as well");
  };
  const runtime = virtualRuntime({
    specialists: Array.from({ length: 3 * DEFAULT_HANDLERS }, (_, i) =>
      createSpecialist({ handle: `clerk-${i}`, id: `agt_${i}`, schedules: { minute: { cron: "* * * * *", run: slow } } }),
    ),
    transport: () => Promise.reject(new Error("schedules ask nobody")),
    keyOf: (handle) => `sk_live_0123456789-${handle}`,
    clock,
    random: seededRandom("crowd"),
  });
  await clock.run(runtime.start());
  await clock.advance(MINUTE + 4 * SECOND);
  expect(most).toBe(DEFAULT_HANDLERS);
  expect(done).toBe(3 * DEFAULT_HANDLERS);
  await clock.run(runtime.stop());
});
