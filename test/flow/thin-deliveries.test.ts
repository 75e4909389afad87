/** Deliveries that bring an id only: what a look then finds was told of. What no delivery told of was missed. */
import { expect, test } from "vitest";
import { seededRandom } from "../../src/core/random.ts";
import { Secret } from "../../src/core/secret.ts";
import { HOUR, MINUTE } from "../../src/core/units.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { isObject, parseJson, sha256 } from "../../src/core/json.ts";
import type { RawDelivery } from "../../src/intake/webhook/schemes.ts";
import { signDelivery } from "../../src/intake/webhook/sign.ts";
import { resolveProfile } from "../../src/contract/profile.ts";
import { createLocalNetwork } from "../../src/network/network.ts";
import { createSpecialist } from "../../src/specialist/specialist.ts";
import { asking, records, textAt } from "../network/visitor.ts";
import { plainLink } from "../network/plain-link.ts";
import { virtualRuntime } from "../runtime/virtual-runtime.ts";

const SECRET = "what the network signs with";

/** What happened, and not to what: as a network may sign it that says no more. */
function withoutIds(body: string): RawDelivery {
  const told = parseJson(body);
  const type = isObject(told) ? (told["type"] ?? null) : null;
  return signDelivery({ scheme: "github", secret: SECRET, payload: { type, nonce: sha256(body) }, id: textAt(told, "id"), at: 0 });
}

/** One specialist that watches everything, told of it by a network that names ids, or not even these. */
async function watching(tells: "id" | "kind") {
  const clock = virtualClock(Date.UTC(2026, 10, 22));
  const random = seededRandom(11);
  const network = createLocalNetwork({
    clock,
    random,
    assume: { deliveryDetail: "id" },
    webhooks: {
      async deliver({ headers, body }) {
        const delivery = tells === "id" ? { headers, body: Buffer.from(body) } : withoutIds(body);
        return (await runtime.webhooks?.accept("scout", delivery))?.status ?? 503;
      },
    },
  });
  const { key } = network.provision({ handle: "scout", tier: "pro" });
  const handled: string[] = [];
  const note = (kind: string) => (): void => void handled.push(kind);
  const runtime = virtualRuntime({
    specialists: [
      createSpecialist({
        handle: "scout",
        tier: "pro",
        may: ["posts.create"],
        watch: { feed: true, threads: true },
        schedules: {
          hello: {
            every: "1m",
            run(act) {
              if (act.state["said"] !== true) act.post("is anybody there?");
              act.state = { said: true };
            },
          },
        },
        on: {
          "post.created": note("post"),
          "mention.created": note("mention"),
          "reply.created": note("reply"),
          "post.liked": note("like"),
        },
      }),
    ],
    profile: resolveProfile({ extends: "set-b" }),
    transport: plainLink(network, "b"),
    keyOf: () => key,
    clock,
    random,
    receiver: {
      port: undefined,
      host: "",
      url: "https://receiver.example.net",
      allowUnsigned: false,
      readSecrets: () => [new Secret(SECRET)],
    },
  });
  const others = Array.from({ length: 12 }, (_, i) => asking(network, "b", network.provision({ handle: `other_${i}`, tier: "pro" }).key));
  let turn = 0;
  network.start();
  await clock.run(runtime.start());
  await clock.advance(2 * MINUTE);
  const [mine] = records(await asking(network, "b", key)("GET", "/v1/posts"));
  return {
    clock,
    network,
    handled,
    /** What `status` shows of the specialist's webhooks. */
    health: async () => (await runtime.webhooks?.shown())?.specialists[0]?.health,
    /** Each by another person, all at once. */
    async happen(...what: readonly ("post" | "mention" | "reply" | "like")[]) {
      for (const [i, one] of what.entries()) {
        const ask = others[turn++ % others.length];
        if (one === "like") await ask?.("POST", `/v1/posts/${textAt(mine, "id")}/vote`, { body: { direction: "up" } });
        else if (one === "reply") await ask?.("POST", `/v1/posts/${textAt(mine, "id")}/reply`, { body: { content: "me" } });
        else await ask?.("POST", "/v1/posts", { body: { content: one === "mention" ? `hi @scout ${i}` : `news ${i}` } });
      }
    },
    async stop() {
      await clock.run(runtime.stop());
      await network.stop();
    },
  };
}

test.each(["id", "kind"] as const)("deliveries that tell the %s only are relied on for what they make us find", async (tells) => {
  const { clock, handled, health, happen, stop } = await watching(tells);
  for (let round = 0; round < 4; round++) {
    await happen("post", "post", "post", "like", "reply", "mention");
    await clock.advance(5 * MINUTE);
  }
  expect(new Set(handled)).toEqual(new Set(["post", "mention", "reply", "like"]));
  expect(handled.filter((kind) => kind === "post")).toHaveLength(12);
  expect(await health()).toMatchObject({ state: "healthy", missed: 0 });
  await stop();
});

test.each(["id", "kind"] as const)("what no delivery told of is missed, where deliveries tell the %s only", async (tells) => {
  const { clock, network, handled, health, happen, stop } = await watching(tells);
  await happen("post", "post", "post", "like");
  await clock.advance(5 * MINUTE);
  expect(await health()).toMatchObject({ state: "healthy", told: 4, missed: 0 });
  network.faults.addDelivery({ mishap: { do: "lost" } });
  await happen("post", "post", "like", "post");
  await clock.advance(2 * HOUR);
  expect(handled).toHaveLength(8);
  expect(await health()).toMatchObject({ state: "unhealthy", told: 4, missed: 4 });
  await stop();
});

test("what was told of and cannot be read at once is not missed because a poll finds it first", async () => {
  const { clock, network, handled, health, happen, stop } = await watching("id");
  await happen("mention", "mention", "mention");
  await clock.advance(5 * MINUTE);
  const unreadable = network.faults.add({ mishap: { do: "status", status: 503, when: "before" }, match: { operation: "posts.get" } });
  await happen("mention");
  await clock.advance(2 * HOUR);
  expect(unreadable.hits).toBeGreaterThan(3);
  expect(handled).toHaveLength(4);
  expect(await health()).toMatchObject({ state: "healthy", missed: 0 });
  await stop();
});
