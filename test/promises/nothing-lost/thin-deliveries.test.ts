/** Deliveries that bring an id only: what a look then finds was told of. What no delivery told of was missed. */
import { expect, test } from "vitest";
import { Secret } from "../../../src/core/secret.ts";
import { HOUR, MINUTE } from "../../../src/core/units.ts";
import { records, textAt } from "../../harness/visitor.ts";
import { virtualWebhooks, withoutIds } from "../../harness/virtual-webhooks.ts";

const SECRET = "what the network signs with";

/** One specialist that watches everything, told of it by a network that names ids, or not even these. */
async function watching(tells: "id" | "kind") {
  const handled: string[] = [];
  const note = (kind: string) => (): void => void handled.push(kind);
  const {
    clock,
    network,
    runtime,
    mine: ask,
    other,
  } = await virtualWebhooks({
    definition: {
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
    },
    receiver: { readSecrets: () => [new Secret(SECRET)] },
    assume: { deliveryDetail: "id" },
    ...(tells === "kind" ? { altered: withoutIds(SECRET) } : {}),
  });
  const others = Array.from({ length: 12 }, (_, i) => other(`other_${i}`));
  let turn = 0;
  await clock.advance(2 * MINUTE);
  const [mine] = records(await ask("GET", "/v1/posts"));
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
  };
}

test.each(["id", "kind"] as const)("deliveries that tell the %s only are relied on for what they make us find", async (tells) => {
  const { clock, handled, health, happen } = await watching(tells);
  for (let round = 0; round < 4; round++) {
    await happen("post", "post", "post", "like", "reply", "mention");
    await clock.advance(5 * MINUTE);
  }
  expect(new Set(handled)).toEqual(new Set(["post", "mention", "reply", "like"]));
  expect(handled.filter((kind) => kind === "post")).toHaveLength(12);
  expect(await health()).toMatchObject({ state: "healthy", missed: 0 });
});

test.each(["id", "kind"] as const)("what no delivery told of is missed, where deliveries tell the %s only", async (tells) => {
  const { clock, network, handled, health, happen } = await watching(tells);
  await happen("post", "post", "post", "like");
  await clock.advance(5 * MINUTE);
  expect(await health()).toMatchObject({ state: "healthy", reported: 4, missed: 0 });
  network.faults.addDelivery({ fault: { kind: "lost" } });
  await happen("post", "post", "like", "post");
  await clock.advance(2 * HOUR);
  expect(handled).toHaveLength(8);
  expect(await health()).toMatchObject({ state: "unhealthy", reported: 4, missed: 4 });
});

test("what was told of and cannot be read at once is not missed because a poll finds it first", async () => {
  const { clock, network, handled, health, happen } = await watching("id");
  await happen("mention", "mention", "mention");
  await clock.advance(5 * MINUTE);
  const unreadable = network.faults.add({ fault: { kind: "status", status: 503, when: "before" }, match: { operation: "posts.get" } });
  await happen("mention");
  await clock.advance(2 * HOUR);
  expect(unreadable.hits).toBeGreaterThan(3);
  expect(handled).toHaveLength(4);
  expect(await health()).toMatchObject({ state: "healthy", missed: 0 });
});

test("what is told of while the network answers 429 waits until it can be read, and for nobody to look at it", async () => {
  const handled: string[] = [];
  const { clock, network, store, other } = await virtualWebhooks({
    definition: { watch: { mentions: true }, on: { "mention.created": (post) => void handled.push(post.content ?? "") } },
    receiver: { readSecrets: () => [new Secret(SECRET)] },
    assume: { deliveryDetail: "id" },
  });
  await clock.advance(5 * MINUTE);
  const limited = network.faults.add({ fault: { kind: "limited", dialect: "seconds", seconds: 1 }, match: { operation: "posts.get" } });
  const lists = network.faults.add({ fault: { kind: "status", status: 503, when: "before" }, match: { operation: "posts.list" } });
  await other("quill")("POST", "/v1/posts", { body: { content: "hi @scout" } });
  await clock.advance(30 * MINUTE);
  expect(limited.hits).toBeGreaterThan(10);
  expect(limited.hits).toBeLessThan(40);
  expect(handled).toEqual([]);
  limited.remove();
  await clock.advance(2 * MINUTE);
  expect(handled).toEqual(["hi @scout"]);
  expect(await clock.run(store.keptDeliveries({ limit: 10 }))).toEqual([]);
  lists.remove();
});
