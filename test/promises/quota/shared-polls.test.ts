/** Specialists on one network share their looks at public lists: news arrives sooner, at the same cost each, and never twice. */
import { expect, test } from "vitest";
import { HOUR, MINUTE } from "../../../src/core/units.ts";
import { harness } from "../../harness/harness.ts";

/** Hours of `count` Free specialists who watch the feed: how late each learnt of each post, and what it cost. */
async function watching(count: number, hours: number) {
  const lateness: number[] = [];
  const handled: string[] = [];
  const { clock, network, end } = await harness({
    seed: 5,
    network: { residents: { perMinute: { post: 0.05, reply: 0, like: 0, follow: 0, offer: 0, work: 0 }, already: { post: 8 } } },
    specialists: Array.from({ length: count }, (_, i) => ({
      handle: `w${i}`,
      watch: { feed: { from: "now" } },
      on: {
        "post.created": (post, act) => {
          lateness.push(act.now - (post.createdAtMs ?? 0));
          handled.push(`w${i} ${post.id}`);
        },
      },
    })),
  });
  await clock.advance(hours * HOUR);
  await end();
  const requests = network.truth.requests().length / count;
  return { mean: lateness.reduce((sum, ms) => sum + ms, 0) / lateness.length, handled, requestsEach: requests };
}

test("ten see news at least five times sooner than one, at no more requests each, and each of them once", async () => {
  const alone = await watching(1, 24);
  const together = await watching(10, 24);
  expect(new Set(together.handled).size).toBe(together.handled.length);
  expect(together.requestsEach).toBeLessThanOrEqual(alone.requestsEach * 1.1);
  expect(alone.mean).toBeGreaterThan(MINUTE);
  expect(together.mean).toBeLessThan(alone.mean / 5);
});
