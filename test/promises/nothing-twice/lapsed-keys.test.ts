/** An action that rests on an idempotency key is read back once the key has lapsed: a network that forgot it would do it again. */
import { expect, test } from "vitest";
import { HOUR, MINUTE } from "../../../src/core/units.ts";
import { harness } from "../../harness/harness.ts";

test.each([
  ["within the key's life it is sent again, and happens once", HOUR],
  ["after it the post is found, and not sent again", 4 * HOUR],
])("%s", async (_what, outageMs) => {
  let outageEnds = 0;
  let posted = 0;
  const { clock, network } = await harness({
    specialists: [
      {
        handle: "scout",
        tier: "pro",
        may: ["posts.create"],
        schedules: { once: { cron: "1 0 * * *", run: (act) => void (posted++ === 0 && act.post("only one of these")) } },
      },
    ],
    profile: { operations: { "posts.create": { effect: "idempotent", keyLifetimeMs: "2h" } } },
    network: { assume: { idempotencyKeys: "honoured", idempotencyKeyMs: 2 * HOUR } },
    link:
      (plain, { clock: now }) =>
      async (request) => {
        if (now.now() < outageEnds) return { kind: "unknown", reason: "ECONNRESET" };
        const answer = await plain(request);
        if (request.method !== "POST" || outageEnds > 0) return answer;
        outageEnds = now.now() + outageMs;
        return { kind: "unknown", reason: "ECONNRESET" };
      },
  });
  await clock.advance(5 * MINUTE);
  expect(outageEnds).toBeGreaterThan(0);
  await clock.advance(outageMs + 3 * HOUR);
  expect(network.truth.effects().filter(({ operation }) => operation === "posts.create")).toHaveLength(1);
});
