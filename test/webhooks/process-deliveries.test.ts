/** A thin delivery about a post that the network will not show: it is kept for a person, and no read is paid twice for one refusal. */
import { expect, test } from "vitest";
import type { Transport } from "../../src/client/transport.ts";
import { Secret } from "../../src/core/secret.ts";
import { HOUR, MINUTE, SECOND } from "../../src/core/units.ts";
import { signDelivery } from "../../src/webhooks/receiver/sign.ts";
import { SCOUT, virtualWebhooks } from "../harness/virtual-webhooks.ts";

const SECRET = "the secret of these tests";

/** One mention in a post that is answered so. */
async function mentioned(answer: () => { readonly status: number; readonly body: object } | undefined) {
  const handled: string[] = [];
  const link =
    (network: Transport): Transport =>
    async (request) => {
      const instead = request.path.startsWith("/v1/posts/p9") ? answer() : undefined;
      if (instead === undefined) return network(request);
      const text = JSON.stringify(instead.body);
      return { kind: "answer", status: instead.status, headers: { "content-type": "application/json" }, text, elapsedMs: 1 };
    };
  const { clock, runtime, store, requests } = await virtualWebhooks({
    definition: { watch: { feed: false, mentions: false }, on: { "mention.created": (post) => void handled.push(post.id) } },
    receiver: { url: undefined, readSecrets: () => [new Secret(SECRET)] },
    link,
  });
  await clock.advance(MINUTE);
  const payload = { type: "mention.created", post: { id: "p9" } };
  await clock.run(
    runtime.webhooks?.accept("scout", signDelivery({ scheme: "stripe", secret: SECRET, payload, at: clock.now() })) ??
      Promise.reject(new Error("expected a receiver")),
  );
  return {
    clock,
    handled,
    reads: () => requests.filter(({ operation }) => operation === "posts.get").length,
    kept: () => clock.run(store.keptDeliveries({ specialist: SCOUT, limit: 10 })),
  };
}

test("a refusal of that post parks the delivery at once, with what the network said", async () => {
  const { clock, reads, kept } = await mentioned(() => ({
    status: 403,
    body: { error: { code: "private", message: "only followers may see this" } },
  }));
  await clock.advance(HOUR);
  expect(reads()).toBe(1);
  expect(await kept()).toMatchObject([{ state: "parked", note: expect.stringContaining("only followers may see this") }]);
});

test("a refusal of all that the account asks for puts the delivery off until that is over", async () => {
  let suspended = true;
  const { clock, reads, kept, handled } = await mentioned(() =>
    suspended
      ? { status: 403, body: { error: { code: "account_suspended", message: "this account is suspended" } } }
      : { status: 200, body: { id: "p9", content: "hello @scout", author: { id: "a2", handle: "quill" } } },
  );
  await clock.advance(10 * MINUTE);
  expect(reads()).toBe(1);
  expect(await kept()).toEqual([]);
  suspended = false;
  await clock.advance(10 * MINUTE);
  expect(reads()).toBe(2);
  expect(handled).toEqual(["p9"]);
});

test("a post that reads do not show yet is asked for once they show all that was written before", async () => {
  let shown = false;
  const { clock, reads, handled } = await mentioned(() =>
    shown
      ? { status: 200, body: { id: "p9", content: "hello @scout", author: { id: "a2", handle: "quill" } } }
      : { status: 404, body: { error: { code: "not_found", message: "there is no such post" } } },
  );
  await clock.advance(SECOND);
  shown = true;
  await clock.advance(MINUTE);
  expect(reads()).toBe(2);
  expect(handled).toEqual(["p9"]);
});

test("a post that is not shown then is gone", async () => {
  const { clock, reads, kept } = await mentioned(() => ({
    status: 404,
    body: { error: { code: "not_found", message: "there is no such post" } },
  }));
  await clock.advance(HOUR);
  expect(reads()).toBe(2);
  expect(await kept()).toEqual([]);
});
