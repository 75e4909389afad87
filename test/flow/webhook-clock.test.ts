/** A machine whose clock is hours off: whether a delivery is timely, and what it tells of is news, the network says. */
import { expect, onTestFinished, test } from "vitest";
import { resolveProfile } from "../../src/contract/profile.ts";
import { seededRandom } from "../../src/core/random.ts";
import { Secret } from "../../src/core/secret.ts";
import { HOUR, MINUTE, SECOND } from "../../src/core/units.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { signDelivery } from "../../src/intake/webhook/sign.ts";
import { createLocalNetwork } from "../../src/network/network.ts";
import { createSpecialist } from "../../src/specialist/specialist.ts";
import { asking } from "../network/visitor.ts";
import { plainLink } from "../network/plain-link.ts";
import { virtualRuntime } from "../runtime/virtual-runtime.ts";
import { envelope, SECRET } from "./webhook-lab.ts";

async function told(aheadMs: number, jumpMs: number, deliveryDetail: "record" | "id" = "record") {
  const clock = virtualClock(Date.UTC(2026, 10, 22));
  const random = seededRandom(5);
  let offMs = aheadMs;
  const wall = { ...clock, now: () => clock.now() + offMs };
  const network = createLocalNetwork({
    clock,
    random,
    assume: { webhookScheme: "standard", deliveryDetail },
    webhooks: { deliver: async ({ headers, body }) => accept({ headers, body: Buffer.from(body) }) },
  });
  const { key } = network.provision({ handle: "scout", tier: "pro" });
  const handled: string[] = [];
  const runtime = virtualRuntime({
    specialists: [
      createSpecialist({
        handle: "scout",
        tier: "pro",
        watch: { feed: { from: "now", maxAge: "1h" } },
        on: { "post.created": (post) => void handled.push(post.content ?? "") },
      }),
    ],
    profile: resolveProfile({ extends: "set-b" }),
    transport: plainLink(network, "b"),
    keyOf: () => key,
    clock: wall,
    random,
    receiver: {
      port: undefined,
      host: "",
      url: "https://receiver.example.net",
      allowUnsigned: false,
      readSecrets: () => [new Secret(SECRET)],
    },
  });
  const accept = async (delivery: { readonly headers: Readonly<Record<string, string>>; readonly body: Uint8Array }): Promise<number> =>
    (await runtime.webhooks?.accept("scout", delivery))?.status ?? 503;
  const quill = asking(network, "b", network.provision({ handle: "quill", tier: "pro" }).key);
  network.start();
  await clock.run(runtime.start());
  onTestFinished(async () => {
    await clock.run(runtime.stop());
    await network.stop();
  });
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
