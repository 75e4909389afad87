/** Webhooks from the network's socket to what a specialist does about them, over real HTTP. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it, onTestFinished } from "vitest";
import { asHandle } from "../../src/core/ids.ts";
import type { JsonObject } from "../../src/core/json.ts";
import { credits } from "../../src/core/units.ts";
import { Secret } from "../../src/core/secret.ts";
import { signDelivery } from "../../src/webhooks/receiver/sign.ts";
import { checkReceiver } from "../../src/webhooks/receiver-settings.ts";
import { MAX_EVENTS_WAITING } from "../../src/store/inbox.ts";
import { textAt } from "../harness/visitor.ts";
import { envelope, post, SECRET, webhookLab, type WebhookLab } from "../harness/webhook-network.ts";

const SCOUT = asHandle("scout");
const open: WebhookLab[] = [];
const lab = async (options: Parameters<typeof webhookLab>[0]): Promise<WebhookLab> => {
  const made = await webhookLab(options);
  open.push(made);
  return made;
};
afterEach(async () => {
  for (const one of open.splice(0)) await one.stop();
});

const registered = async ({ runtime }: WebhookLab): Promise<void> => {
  await expect.poll(async () => (await runtime.webhooks?.shown())?.specialists[0]?.registration.kind).toBe("registered");
};

describe("a delivery", () => {
  it("waits while a thousand events of its specialist do, and is worked on after them", async () => {
    const handled = new Set<string>();
    const first = Promise.withResolvers<void>();
    const one = await lab({
      register: false,
      definition: {
        deadline: "1m",
        on: {
          "post.created": async (seen) => {
            await first.promise;
            handled.add(seen.id);
          },
        },
      },
    });
    const count = MAX_EVENTS_WAITING + 50;
    const ids = Array.from({ length: count }, (_, n) => `p${n}`);
    const deliver = (id: string): Promise<unknown> => {
      const data = { id, content: "hello", author: { id: "a1", handle: "bob" } };
      const payload = envelope("post.created", data, `e-${id}`);
      return post(
        `${one.receiverUrl()}scout`,
        signDelivery({ scheme: "standard", secret: SECRET, payload, id: `d-${id}`, at: Date.now() }),
      );
    };
    for (let n = 0; n < count; n += 50) await Promise.all(ids.slice(n, n + 50).map(deliver));
    expect(await one.store.hasRoomForEvents(SCOUT)).toBe(false);
    expect((await one.store.dueDeliveries(SCOUT, Date.now(), 100)).length).toBeGreaterThan(0);
    first.resolve();
    await expect.poll(() => handled.size).toBe(count);
    expect(await one.store.dueDeliveries(SCOUT, Date.now(), 100)).toEqual([]);
  });

  it.each(["sha256-header", "standard", "github", "stripe", "in-body"] as const)(
    "signed as %s is acted on at once, without a poll",
    async (scheme) => {
      const handled: string[] = [];
      const one = await lab({
        scheme,
        definition: {
          may: ["posts.reply"],
          watch: { threads: false },
          on: {
            "reply.created": (reply, act) => {
              handled.push(reply.id);
              act.reply(reply, `thank you, ${reply.authorHandle ?? "friend"}`);
            },
          },
        },
      });
      await registered(one);
      const mine = await one.me("POST", "/v1/posts", { body: { content: "anyone?" } });
      await one.other("quill")("POST", `/v1/posts/${textAt(mine.json, "id")}/reply`, { body: { content: "me" } });
      await expect.poll(() => one.counts("posts.reply")).toBe(1);
      expect(handled).toHaveLength(1);
      const shown = await one.runtime.webhooks?.shown();
      expect(shown?.counts.stored).toBe(1);
      expect(shown?.counts.refused).toEqual({ unsigned: 0, mismatch: 0, stale: 0, early: 0 });
    },
  );

  it("that comes twice, and again under another id, is handled once", async () => {
    const handled: string[] = [];
    const one = await lab({ register: false, definition: { on: { "follower.new": (agent) => void handled.push(agent.id) } } });
    const url = `${one.receiverUrl()}scout`;
    const sign = (id: string) =>
      signDelivery({
        scheme: "sha256-header",
        secret: SECRET,
        payload: envelope("follower.new", { id: "agent_9" }, "evt_1"),
        id,
        at: Date.now(),
      });
    expect((await post(url, sign("d1"))).status).toBe(202);
    expect((await post(url, sign("d1"))).status).toBe(200);
    expect((await post(url, sign("forged-id"))).status).toBe(200);
    await expect.poll(() => handled).toEqual(["agent_9"]);
    expect((await one.runtime.webhooks?.shown())?.counts).toMatchObject({ stored: 1, known: 2 });
  });

  it("and a poll that find the same post make one event", async () => {
    const handled: string[] = [];
    const one = await lab({
      definition: { watch: { feed: { from: "start" } }, on: { "post.created": (created) => void handled.push(created.id) } },
    });
    await registered(one);
    const quill = one.other("quill");
    for (let i = 0; i < 3; i++) await quill("POST", "/v1/posts", { body: { content: `news ${i}` } });
    await expect.poll(() => handled.length).toBe(3);
    await one.store.nudge(SCOUT, [{ kind: "source", name: "feed", at: 0 }], Date.now());
    const [member] = one.runtime.members();
    if (member !== undefined) one.runtime.parts.wake(member, "sources");
    await expect.poll(async () => (await one.store.sources(SCOUT)).find(({ name }) => name === "feed")?.cursor["seen"]).toHaveLength(3);
    expect(handled).toHaveLength(3);
  });

  it("about a job makes the job's own standing count, so that webhook and watch handle it once", async () => {
    const handled: string[] = [];
    const one = await lab({
      definition: {
        may: ["jobs.apply"],
        watch: { jobs: { from: "start" } },
        on: {
          "job.listed": (job, act) => void act.apply(job),
          "job.assigned": (job) => void handled.push(job.id),
        },
      },
    });
    await registered(one);
    await one.other("quill")("POST", "/v1/jobs", { body: { title: "sum", description: "add", reward: 3, skills: [] } });
    await expect.poll(() => handled.length).toBe(1);
    await expect.poll(async () => (await one.runtime.webhooks?.shown())?.counts.stored).toBeGreaterThan(0);
    expect(handled).toHaveLength(1);
  });

  it("of an unknown kind is kept and shown, and handled as x:<name> where somebody does", async () => {
    const handled: unknown[] = [];
    const one = await lab({ register: false, definition: { on: { "x:badge.won": (event) => void handled.push(event.raw["data"]) } } });
    const url = `${one.receiverUrl()}scout`;
    const sign = (type: string, id: string) =>
      signDelivery({ scheme: "standard", secret: SECRET, payload: envelope(type, { id: "b1" }, id), id, at: Date.now() });
    expect((await post(url, sign("badge.won", "e1"))).status).toBe(202);
    expect((await post(url, sign("badge.lost", "e2"))).status).toBe(202);
    await expect.poll(() => handled).toEqual([{ id: "b1" }]);
    await expect
      .poll(async () => (await one.runtime.webhooks?.shown())?.specialists[0]?.deliveries)
      .toEqual([{ kind: "badge.lost", state: "unhandled", count: 1 }]);
  });

  it("that nobody can read is answered, kept and shown", async () => {
    const one = await lab({ register: false, definition: {} });
    const url = `${one.receiverUrl()}scout`;
    const deep = `${"[".repeat(5_000)}${"]".repeat(5_000)}`;
    for (const [i, payload] of ["no json", deep, Buffer.from([0xff, 0xfe, 0x00])].entries())
      expect((await post(url, signDelivery({ scheme: "standard", secret: SECRET, payload, id: `e${i}`, at: Date.now() }))).status).toBe(
        202,
      );
    await expect
      .poll(async () => (await one.runtime.webhooks?.shown())?.specialists[0]?.deliveries)
      .toEqual([{ kind: "", state: "parked", count: 3 }]);
  });
});

describe("a burst on one thread", () => {
  it("whose deliveries say little costs one read, and every reply is handled", async () => {
    const handled: string[] = [];
    const one = await lab({ register: false, definition: { on: { "reply.created": (reply) => void handled.push(reply.id) } } });
    const root = textAt((await one.me("POST", "/v1/posts", { body: { content: "anyone?" } })).json, "id");
    const later = Date.now() + 3_600_000;
    const follow = { specialist: SCOUT, kind: "thread", object: root, state: "open", data: { newsAt: Date.now() }, dueAt: later } as const;
    await one.store.putEvents({ events: [], watches: [follow] }, Date.now());
    let reads = 0;
    one.runtime.announcer.on("request", ({ operation }) => void (reads += operation === "posts.get" ? 1 : 0));
    const quill = one.other("quill");
    const replies = await Promise.all(
      Array.from({ length: 40 }, async (_, i) =>
        textAt((await quill("POST", `/v1/posts/${root}/reply`, { body: { content: `r${i}` } })).json, "id"),
      ),
    );
    await Promise.all(
      replies.map((id) =>
        post(
          `${one.receiverUrl()}scout`,
          signDelivery({
            scheme: "standard",
            secret: SECRET,
            payload: envelope("post.replied", { id, reply_to: root }, `e_${id}`),
            id,
            at: Date.now(),
          }),
        ),
      ),
    );
    await expect.poll(() => handled.length).toBe(40);
    expect(new Set(handled)).toEqual(new Set(replies));
    expect(reads).toBe(1);
  });

  it("without a followed thread reads each post once", async () => {
    const handled: string[] = [];
    const one = await lab({
      register: false,
      definition: { on: { "mention.created": (mention) => void handled.push(mention.content ?? "") } },
    });
    const id = textAt((await one.other("quill")("POST", "/v1/posts", { body: { content: "hi @scout" } })).json, "id");
    let reads = 0;
    one.runtime.announcer.on("request", ({ operation }) => void (reads += operation === "posts.get" ? 1 : 0));
    const deliver = (delivery: string) =>
      post(
        `${one.receiverUrl()}scout`,
        signDelivery({ scheme: "standard", secret: SECRET, payload: envelope("mention", { id }, delivery), id: delivery, at: Date.now() }),
      );
    expect((await Promise.all([deliver("e1"), deliver("e2")])).map(({ status }) => status)).toEqual([202, 202]);
    await expect.poll(async () => (await one.store.dueDeliveries(SCOUT, Number.MAX_SAFE_INTEGER, 10)).length).toBe(0);
    await expect.poll(() => handled).toEqual(["hi @scout"]);
    expect(reads).toBe(1);
  });
});

describe("the network's Guardian", () => {
  it.each([
    ["approval.approved", "confirmed", "intent.confirmed"],
    ["approval.rejected", "refused", "intent.refused"],
  ] as const)("decides by %s on an action that was pending", async (type, state, receipt) => {
    const receipts: string[] = [];
    const note = (kind: string) => (): void => void receipts.push(kind);
    const one = await lab({
      register: false,
      definition: {
        may: ["jobs.create"],
        spend: { total: credits(100) },
        on: {
          "follower.new": (_agent, act) => void act.createJob({ title: "sum", description: "add", reward: 5 }),
          "intent.pending": note("intent.pending"),
          "intent.confirmed": note("intent.confirmed"),
          "intent.refused": note("intent.refused"),
        },
      },
    });
    one.network.setSpending("scout", { perTransaction: 1 });
    const deliver = (kind: string, data: JsonObject, id: string) =>
      post(
        `${one.receiverUrl()}scout`,
        signDelivery({ scheme: "standard", secret: SECRET, payload: envelope(kind, data, id), id, at: Date.now() }),
      );
    await deliver("follower.new", { id: "agent_9" }, "e1");
    await expect.poll(() => receipts).toEqual(["intent.pending"]);
    const [asked] = one.network.approvals();
    await deliver(type, { approval: { id: asked?.id ?? "" } }, "e2");
    await expect.poll(() => receipts).toEqual(["intent.pending", receipt]);
    const [intent] = await one.store.intents({ operation: "jobs.create", limit: 1 });
    expect(intent?.state).toBe(state);
  });
});

it("how webhooks are doing is known to the next process", async () => {
  const folder = mkdtempSync(join(tmpdir(), "webhook-health-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const options = { register: false, file: join(folder, "store.sqlite"), definition: { on: { "follower.new": () => undefined } } };
  const first = await webhookLab(options);
  for (let i = 0; i < 4; i++) {
    const payload = envelope("follower.new", { id: `agent_${i}` }, `d${i}`);
    await post(`${first.receiverUrl()}scout`, signDelivery({ scheme: "github", secret: SECRET, payload, at: 0 }));
  }
  const health = (one: WebhookLab) => async () => (await one.runtime.webhooks?.shown())?.specialists[0]?.health;
  await expect.poll(health(first)).toMatchObject({ state: "healthy", reported: 4 });
  const before = await health(first)();
  await first.stop();
  const second = await lab(options);
  expect(await health(second)()).toEqual(before);
});

describe("the registration", () => {
  it("is refused for an address of this machine, unless that is asked for", async () => {
    await expect(lab({ definition: {}, receiver: { url: "http://localhost:8080", local: false } })).rejects.toMatchObject({
      code: "webhook_url_inner",
    });
    const one = await lab({ definition: {}, receiver: { url: "http://127.0.0.1:9/webhooks", local: false, allowPrivate: true } });
    await registered(one);
  });

  it("does not start while one specialist has no secret, and a secret of one does not serve another", async () => {
    const readSecrets = (handle: string) => (handle === "scout" ? [new Secret(SECRET)] : []);
    const one = await lab({ definition: {}, register: false, receiver: { readSecrets } });
    const signed = signDelivery({ scheme: "github", secret: SECRET, payload: envelope("mention", {}, "e1"), at: 0 });
    const forged = signDelivery({ scheme: "github", secret: "of-somebody-else", payload: envelope("mention", {}, "e2"), at: 0 });
    expect((await post(`${one.receiverUrl()}scout`, signed)).status).toBe(202);
    expect((await post(`${one.receiverUrl()}scout`, forged)).status).toBe(401);
    const settings = { port: 0, host: "127.0.0.1", url: undefined, allowUnsigned: false, readSecrets };
    expect(() => checkReceiver(settings, one.profile, ["scout"])).not.toThrow();
    expect(() => checkReceiver(settings, one.profile, ["scout", "quill"])).toThrow("deliveries to quill");
  });

  it("does not start without a secret, unless that is asked for", async () => {
    await expect(lab({ definition: {}, register: false, receiver: { readSecrets: () => [] } })).rejects.toMatchObject({
      code: "webhook_secret_missing",
    });
    const one = await lab({ definition: {}, register: false, receiver: { readSecrets: () => [], allowUnsigned: true } });
    expect((await one.runtime.webhooks?.shown())?.unsigned).toBe(true);
  });
});
