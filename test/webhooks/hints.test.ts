/** What a hint asks for is looked at soon and never dropped, however many come; a thin delivery that comes again is such a hint. */
import { describe, expect, test } from "vitest";
import { Secret } from "../../src/core/secret.ts";
import { DAY, HOUR, MINUTE, SECOND } from "../../src/core/units.ts";
import type { RawDelivery } from "../../src/webhooks/receiver/signatures.ts";
import { signDelivery } from "../../src/webhooks/receiver/sign.ts";
import { textAt } from "../harness/visitor.ts";
import { SCOUT, virtualWebhooks, type VirtualWebhooksOptions } from "../harness/virtual-webhooks.ts";

const SECRET = "the secret of these tests";
const UNSIGNED = { url: undefined, allowUnsigned: true, readSecrets: () => [] };
const SIGNED = { url: undefined, readSecrets: () => [new Secret(SECRET)] };

/** A specialist whose thread nobody would look at for hours. */
async function following(options: VirtualWebhooksOptions) {
  const liked: string[] = [];
  const lab = await virtualWebhooks({
    tier: "starter",
    definition: { on: { "post.liked": (like) => void liked.push(like.postId), "reply.created": () => undefined } },
    ...options,
  });
  const { clock, runtime, store, mine, requests } = lab;
  await clock.advance(MINUTE);
  const root = textAt((await mine("POST", "/v1/posts", { body: { content: "anyone?" } })).json, "id");
  const now = clock.now();
  const data = { newsAt: now - 12 * HOUR, votes: 0, seen: [] };
  const watch = { specialist: SCOUT, kind: "thread", object: root, state: "open", data, dueAt: now + 6 * HOUR } as const;
  await clock.run(store.putEvents({ events: [], watches: [watch] }, now));
  const deliver = async (delivery: RawDelivery): Promise<number> =>
    (await clock.run(runtime.webhooks?.accept("scout", delivery) ?? Promise.reject(new Error("expected a receiver")))).status;
  return {
    ...lab,
    root,
    liked,
    deliver,
    hint: (type: string) => deliver({ headers: {}, body: Buffer.from(JSON.stringify({ type })) }),
    sign: (payload: object) => deliver(signDelivery({ scheme: "stripe", secret: SECRET, payload, at: clock.now() })),
    like: async (name: string): Promise<void> =>
      void (await lab.other(name)("POST", `/v1/posts/${root}/vote`, { body: { direction: "up" } })),
    reads: () => requests.filter(({ operation }) => operation === "posts.get").map(({ at }) => (at - now) / SECOND),
  };
}

/** Of 5,000 requests a day, every second one at most. */
const GAP_S = (2 * DAY) / 5_000 / SECOND;

describe("hints", () => {
  test("that come soon after one that was followed are followed by one look more", async () => {
    const { clock, hint, reads } = await following({ receiver: UNSIGNED });
    await hint("post.liked");
    await clock.advance(5 * SECOND);
    expect(reads()).toEqual([2]);
    for (let i = 0; i < 50; i++) expect(await hint("post.liked")).toBe(202);
    await clock.advance((GAP_S - 3 - 1) * SECOND);
    expect(reads()).toEqual([2]);
    await clock.advance(2 * SECOND);
    expect(reads()).toEqual([2, 2 + GAP_S]);
    await clock.advance(10 * SECOND);
    expect(reads()).toHaveLength(2);
  });

  test("that say nothing we could look at leave the next one its look", async () => {
    const { clock, hint, reads } = await following({ receiver: UNSIGNED });
    await hint("follower.new");
    await clock.advance(3 * SECOND);
    await hint("post.liked");
    await clock.advance(3 * SECOND);
    expect(reads()).toEqual([5]);
  });
});

describe("a signed delivery that comes again in the same words", () => {
  test("is looked after again where it may tell of something else, and answered as known", async () => {
    const { clock, sign, like, root, liked, reads } = await following({ receiver: SIGNED });
    const thin = { type: "post.liked", data: { id: root } };
    await like("quill");
    expect(await sign(thin)).toBe(202);
    await clock.advance(MINUTE);
    expect(liked).toEqual([root]);
    await like("mara");
    expect(await sign(thin)).toBe(200);
    const before = reads().length;
    await clock.advance(3 * SECOND);
    expect(liked).toEqual([root, root]);
    expect(reads()).toHaveLength(before + 1);
  });

  test("costs no more than hints do, and makes nothing happen twice", async () => {
    const { clock, sign, like, root, liked, reads } = await following({ receiver: SIGNED });
    await like("quill");
    for (let i = 0; i < 600; i++) {
      await sign({ type: "post.liked", data: { id: root } });
      await clock.advance(SECOND / 10);
    }
    await clock.advance(MINUTE);
    expect(liked).toEqual([root]);
    expect(reads().length).toBeLessThanOrEqual(8);
  });

  test.each([
    ["which says which delivery it is", { id: "evt_1", type: "post.liked", data: { id: "POST" } }],
    ["which says all", { type: "post.liked", data: { id: "POST", votes: 1 } }],
  ])("is not looked after where it says so: one %s", async (_which, payload) => {
    const { clock, sign, root, reads } = await following({ receiver: SIGNED });
    const body = JSON.parse(JSON.stringify(payload).replace("POST", root)) as object;
    expect(await sign(body)).toBe(202);
    await clock.advance(MINUTE);
    const before = reads().length;
    expect(await sign(body)).toBe(200);
    await clock.advance(MINUTE);
    expect(reads()).toHaveLength(before);
  });
});
