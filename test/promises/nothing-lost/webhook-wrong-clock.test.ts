/** A machine whose clock is hours off: whether a delivery is timely, and what it tells of is news, the network says. */
import { expect, test } from "vitest";
import { Secret } from "../../../src/core/secret.ts";
import { HOUR, MINUTE, SECOND } from "../../../src/core/units.ts";
import { signDelivery } from "../../../src/webhooks/receiver/sign.ts";
import { virtualWebhooks } from "../../harness/virtual-webhooks.ts";
import { envelope, SECRET } from "../../harness/webhook-network.ts";

async function told(aheadMs: number, jumpMs: number, deliveryDetail: "record" | "id" = "record") {
  let offMs = aheadMs;
  const handled: string[] = [];
  const { clock, runtime, accept, other } = await virtualWebhooks({
    definition: {
      watch: { feed: { from: "now", maxAge: "1h" } },
      on: { "post.created": (post) => void handled.push(post.content ?? "") },
    },
    receiver: { readSecrets: () => [new Secret(SECRET)] },
    assume: { webhookScheme: "standard", deliveryDetail },
    aheadMs: () => offMs,
  });
  const quill = other("quill");
  await clock.advance(MINUTE);
  offMs += jumpMs;
  await clock.advance(MINUTE);
  const sign = (id: string, at: number) =>
    signDelivery({ scheme: "standard", secret: SECRET, payload: envelope("post.created", { id }, id), id, at });
  return {
    clock,
    handled,
    accept,
    sign,
    say: (content: string) => quill("POST", "/v1/posts", { body: { content } }),
    refused: async () => (await runtime.webhooks?.shown())?.counts.refused,
  };
}

test.each([
  ["is three hours ahead", 3 * HOUR, 0],
  ["is three hours behind", -3 * HOUR, 0],
  ["jumps ahead by a day", 0, 24 * HOUR],
  ["jumps back by a day", 0, -24 * HOUR],
] as const)("where a machine's clock %s, deliveries are taken and acted on at once, and old ones are not", async (_, aheadMs, jumpMs) => {
  const { clock, handled, accept, sign, say, refused } = await told(aheadMs, jumpMs);
  await say("news");
  await clock.advance(SECOND);
  expect(handled).toEqual(["news"]);
  expect(await refused()).toEqual({ unsigned: 0, mismatch: 0, stale: 0, early: 0 });
  expect(await accept(sign("old", clock.now() - 6 * MINUTE))).toBe(401);
  expect(await accept(sign("early", clock.now() + 3 * MINUTE))).toBe(401);
});

test("a look that a delivery asks for is made at once, though the clock has jumped ahead meanwhile", async () => {
  const { clock, handled, say } = await told(0, 24 * HOUR, "id");
  await say("news");
  await clock.advance(4 * SECOND);
  expect(handled).toEqual(["news"]);
});
