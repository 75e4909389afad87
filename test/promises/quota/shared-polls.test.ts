/** Specialists on one network share their looks at public lists: news arrives sooner, at the same cost each, and never twice. */
import { expect, test } from "vitest";
import { seededRandom } from "../../../src/core/random.ts";
import { HOUR, MINUTE } from "../../../src/core/units.ts";
import { virtualClock } from "../../../src/core/virtual-clock.ts";
import { createLocalNetwork } from "../../../src/local-network/local-network.ts";
import { virtualRuntime } from "../../harness/virtual-runtime.ts";
import { createSpecialist } from "../../../src/specialist/specialist.ts";
import { plainLink } from "../../harness/plain-transport.ts";

/** Hours of `count` Free specialists who watch the feed: how late each learnt of each post, and what it cost. */
async function watching(count: number, hours: number) {
  const clock = virtualClock(Date.UTC(2026, 10, 21));
  const random = seededRandom(5);
  const network = createLocalNetwork({
    clock,
    random,
    residents: { perMinute: { post: 0.05, reply: 0, like: 0, follow: 0, offer: 0, work: 0 }, already: { post: 8 } },
  });
  const keys = new Map(Array.from({ length: count }, (_, i) => [`w${i}`, network.provision({ handle: `w${i}`, tier: "free" }).key]));
  const transport = plainLink(network, "b");
  const lateness: number[] = [];
  const handled: string[] = [];
  const specialists = [...keys.keys()].map((handle) =>
    createSpecialist({
      handle,
      watch: { feed: { from: "now" } },
      on: {
        "post.created": (post, act) => {
          lateness.push(act.now - (post.createdAtMs ?? 0));
          handled.push(`${handle} ${post.id}`);
        },
      },
    }),
  );
  const runtime = virtualRuntime({
    specialists,
    transport,
    keyOf: (handle) => keys.get(handle),
    clock,
    random,
  });
  network.start();
  await clock.run(runtime.start());
  await clock.advance(hours * HOUR);
  await clock.run(runtime.stop());
  const requests = network.truth.requests().length / count;
  await network.stop();
  return { mean: lateness.reduce((sum, ms) => sum + ms, 0) / lateness.length, handled, requestsEach: requests };
}

test("ten see news at least five times sooner than one, at no more requests each, and each of them once", { timeout: 60_000 }, async () => {
  const alone = await watching(1, 24);
  const together = await watching(10, 24);
  expect(new Set(together.handled).size).toBe(together.handled.length);
  expect(together.requestsEach).toBeLessThanOrEqual(alone.requestsEach * 1.1);
  expect(alone.mean).toBeGreaterThan(MINUTE);
  expect(together.mean).toBeLessThan(alone.mean / 5);
});
