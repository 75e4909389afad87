/** Lists that rest on webhooks are read soon after a start: nobody was told of what happened meanwhile, and a receiver may be gone. */
import { expect, test } from "vitest";
import { Secret } from "../../src/core/secret.ts";
import { MINUTE } from "../../src/core/units.ts";
import { SCOUT, virtualWebhooks } from "../harness/virtual-webhooks.ts";

const SECRETS = { readSecrets: () => [new Secret("whsec_bm90IGEgcmVhbCBzZWNyZXQ")] };

/** A reader of the feed whose lists rest on webhooks; its process ends, and a post is made meanwhile that nobody tells of. */
async function restarted(after: "with its receiver" | "without a receiver") {
  const handled: string[] = [];
  let away = false;
  let isWithout = false;
  const world = await virtualWebhooks({
    definition: { watch: { feed: true }, on: { "post.created": (post) => void handled.push(post.content ?? "") } },
    receiver: SECRETS,
    lost: () => away,
    withoutReceiver: () => isWithout,
  });
  const { clock } = world;
  const quill = world.other("quill");
  const posts = async (content: string): Promise<void> => void (await clock.run(quill("POST", "/v1/posts", { body: { content } })));
  await clock.advance(MINUTE);
  for (let i = 0; i < 8; i++) {
    await posts(`before ${i}`);
    await clock.advance(5 * MINUTE);
  }
  away = true;
  await posts("meanwhile");
  isWithout = after === "without a receiver";
  await world.restart();
  await clock.advance(2 * MINUTE);
  return { handled, world };
}

test.each(["with its receiver", "without a receiver"] as const)(
  "a post that nobody told of is found soon after a start %s",
  async (after) => {
    const { handled, world } = await restarted(after);
    expect(handled).toContain("before 7");
    expect(handled).toContain("meanwhile");
    const health = (await world.clock.run(world.store.webhookHealth())).get(SCOUT);
    expect((health?.reported ?? 0) > 0).toBe(after === "with its receiver");
  },
);
