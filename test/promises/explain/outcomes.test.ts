/** P8, explain: what was refused, is in doubt, parked or stopped says by which rule, and what a person can do. */
import { describe, expect, test } from "vitest";
import { credits, HOUR } from "../../../src/core/units.ts";
import { createGuardian } from "../../../src/guardian/guardian.ts";
import type { Act } from "../../../src/specialist/act.ts";
import type { Explanation } from "../../../src/guardian/explanation.ts";
import { whyLab, type WhyLab } from "../../harness/explained-specialist.ts";

const A_TIME = expect.any(Number);
const post = (act: Act): void => void act.post("words");
const offer =
  (reward: number) =>
  (act: Act): void =>
    void act.createJob({ title: "a job", description: "do it", reward, skills: [] });
const whyLast = async (lab: WhyLab): Promise<Explanation> => lab.why((await lab.decided()).at(-1)?.id);

describe("what was refused says the rule, and in words what is wrong", () => {
  test("an operation that the definition may not do", async () => {
    const lab = await whyLab(post, { may: [] });
    expect(await whyLast(lab)).toMatchObject({
      state: "refused",
      since: A_TIME,
      reasons: [{ rule: "not_allowed", message: expect.stringContaining("posts.create"), lane: "act" }],
    });
  });

  test("a price that nobody stated", async () => {
    const lab = await whyLab(post, { may: ["posts.create"] }, { profile: { operations: { "posts.create": { price: "unknown" } } } });
    expect(await whyLast(lab)).toMatchObject({
      state: "refused",
      reasons: [{ rule: "price_unknown", message: expect.stringContaining("does not state the price of posts.create") }],
    });
  });

  test.each([
    ["no cap", 4, {}, "spend_no_cap", "no cap allows spending credits: set one under spend"],
    [
      "a price above a cap",
      4,
      { perAction: credits(3), perDay: credits(9) },
      "spend_over_cap",
      "4 credits is more than the 3 credits allowed for one action",
    ],
  ] as const)("%s", async (_name, reward, spend, rule, message) => {
    const lab = await whyLab(offer(reward), { may: ["jobs.create"], spend });
    expect(await whyLast(lab)).toMatchObject({ state: "refused", reasons: [{ rule, message: `scout: ${message}`, lane: "act" }] });
  });

  test("the last of what may be spent in all", async () => {
    const lab = await whyLab(
      async (act) => {
        offer(4)(act);
        act.createJob({ title: "another", description: "do it", reward: 2, skills: [] });
      },
      { may: ["jobs.create"], spend: { total: credits(5) } },
    );
    await lab.clock.advance(HOUR);
    expect(await whyLast(lab)).toMatchObject({
      state: "refused",
      reasons: [{ rule: "spend_total", message: "scout: 4 credits of the 5 credits allowed in all are spent or held" }],
    });
  });

  test.each([
    ["the same words to somebody else", {}, "brake_same_text", "the same text was posted a short while ago"],
    ["a reply too many", { sameTextWithin: 0, repliesPerHour: 1 }, "brake_hour", "replies in an hour: at most 1"],
  ] as const)("%s", async (_name, brakes, rule, message) => {
    const lab = await whyLab(
      async (act) => {
        for (const one of await act.read.posts()) act.reply(one, "hello");
      },
      { may: ["posts.reply"], brakes },
      {
        before: async ({ other }) => {
          for (const content of ["news", "more news"]) await other("POST", "/v1/posts", { body: { content } });
        },
      },
    );
    expect(await whyLast(lab)).toMatchObject({ state: "refused", reasons: [{ rule, message, lane: "reply" }] });
  });

  test("a no of the Guardian, with the reason given", async () => {
    const lab = await whyLab(post, { may: ["posts.create"], review: ["posts.create"] });
    const id = (await lab.decided())[0]?.id ?? "";
    await lab.clock.run(lab.guardian.reject({ id, reason: "too long" }));
    expect(await whyLast(lab)).toMatchObject({ state: "cancelled", reasons: [{ rule: "approval_rejected", message: "too long" }] });
  });

  test("what came too late to make sense", async () => {
    const lab = await whyLab((act) => void act.post("words", { expiresIn: "1h" }), { may: ["posts.create"] }, { key: () => undefined });
    await lab.clock.advance(2 * HOUR);
    expect(await whyLast(lab)).toMatchObject({
      state: "cancelled",
      reasons: [{ rule: "expired", message: "it expired before it could be sent" }],
    });
  });

  test("an action that nobody approved in time", async () => {
    const definition = { may: ["posts.create"], review: ["posts.create"] };
    const lab = await whyLab((act) => void act.post("words", { expiresIn: "1h" }), definition);
    await lab.clock.advance(2 * HOUR);
    const reason = { rule: "approval_expired", message: "it expired without an answer" };
    expect(await whyLast(lab)).toMatchObject({ state: "cancelled", reasons: [reason] });
  });

  test("what the network refused, in its own words", async () => {
    const lab = await whyLab((act) => void act.reply("post_999", "hello"), { may: ["posts.reply"] });
    expect(await whyLast(lab)).toMatchObject({
      state: "refused",
      reasons: [{ rule: expect.any(String), message: expect.stringMatching(/\w+ \w+/) }],
    });
  });
});

describe("what hangs on something else names it", () => {
  test("an answer to a post that waits for approval", async () => {
    const lab = await whyLab((act) => void act.reply(act.post("words"), "more words"), {
      may: ["posts.create", "posts.reply"],
      review: ["posts.create"],
    });
    const [about] = await lab.decided();
    expect(await whyLast(lab)).toMatchObject({
      state: "ready",
      reasons: [
        {
          rule: "depends_on",
          message: `its target is the object that ${about?.id} creates, which is proposed`,
          lane: "reply",
          since: A_TIME,
        },
      ],
    });
    await lab.clock.run(lab.guardian.reject({ id: about?.id ?? "" }));
    expect(await whyLast(lab)).toMatchObject({ state: "cancelled", reasons: [{ rule: "depends_on_refused" }] });
  });

  test("a reply in a thread in which another is in doubt", async () => {
    const lab = await whyLab(
      async (act) => {
        const [first] = await act.read.posts();
        if (first === undefined) return;
        act.reply(first, "one");
        act.reply(first, "two");
      },
      { may: ["posts.reply"] },
      {
        before: async ({ other, network }) => {
          await other("POST", "/v1/posts", { body: { content: "news" } });
          network.faults.add({ fault: { kind: "status", status: 500, when: "before" }, match: { operation: "posts.reply" }, times: 1 });
        },
      },
    );
    const [doubt] = await lab.decided();
    expect(await lab.why(doubt?.id)).toMatchObject({
      state: "in_doubt",
      reasons: [
        {
          rule: expect.any(String),
          message: expect.stringContaining("the network is read back"),
          lane: "reply",
          since: A_TIME,
          until: A_TIME,
        },
      ],
      hint: expect.stringContaining(`retinue settle ${doubt?.id}`),
    });
    expect(await whyLast(lab)).toMatchObject({
      state: "ready",
      reasons: [{ rule: "conflict", message: `intent ${doubt?.id} on the same target is not resolved yet`, lane: "reply", since: A_TIME }],
    });
  });
});

describe("what needs a person says what to do", () => {
  test("an action nobody can look for", async () => {
    const lab = await whyLab(
      post,
      { may: ["posts.create"] },
      {
        profile: { operations: { "posts.create": { effect: "at-most-once" } } },
        before: async ({ network }) =>
          void network.faults.add({ fault: { kind: "status", status: 500, when: "before" }, match: { writes: true } }),
      },
    );
    await lab.clock.advance(HOUR);
    expect(await whyLast(lab)).toMatchObject({
      state: "parked",
      reasons: [{ rule: expect.stringMatching(/^absen|^no_read_back/), message: expect.stringMatching(/\w+ \w+/), lane: "act" }],
      hint: expect.stringContaining("check on the network, then: retinue settle"),
    });
  });

  test("an action that waits for the network's own Guardian", async () => {
    const lab = await whyLab(
      offer(4),
      { may: ["jobs.create"], spend: { perDay: credits(9) } },
      {
        before: async ({ network }) => network.setSpending("scout", { perTransaction: 1 }),
      },
    );
    expect(await whyLast(lab)).toMatchObject({
      state: "pending",
      reasons: [{ rule: "pending_approval", message: expect.stringContaining("Guardian") }],
      hint: expect.stringMatching(/its own Guardian: decide there.*retinue settle i\w+ --happened/),
    });
  });

  test("an account that the network has stopped", async () => {
    const lab = await whyLab(
      (act) => {
        act.post("one");
        act.post("two");
      },
      { may: ["posts.create"] },
      {
        before: async ({ network }) =>
          void network.faults.add({ fault: { kind: "account", answer: "suspended" }, match: { writes: true } }),
      },
    );
    const stopped = { rule: "capability", message: "the network has stopped the account of scout", since: A_TIME };
    const hint = "once the network lets it through again: retinue retry scout";
    expect(await whyLast(lab)).toMatchObject({ reasons: [{ ...stopped, lane: "act" }], hint });
    expect(await lab.why("scout")).toMatchObject({ state: "waiting", reasons: [{ ...stopped, rule: "account_stopped" }], hint });
    expect(await lab.clock.run(lab.guardian.retry({ id: "scout" }))).toMatchObject({
      message: expect.stringMatching(/^scout is tried again/),
    });
  });

  test("answers that came to be of another shape", async () => {
    const lab = await whyLab(
      (act) => {
        act.post("one");
        act.post("two");
      },
      { may: ["posts.create"] },
      {
        before: async ({ network }) =>
          void network.faults.add({ fault: { kind: "body", body: "wrong-types" }, match: { writes: true }, times: 1 }),
      },
    );
    expect(await lab.why("posts.create")).toMatchObject({
      about: "operation",
      state: "changed",
      reasons: expect.arrayContaining([
        { rule: "drift_note", message: "content at content now has a different type (number), seen once", since: A_TIME },
      ]),
      hint: "retinue doctor --diff shows what changed",
    });
  });

  test("a handler that throws", async () => {
    const lab = await whyLab(() => {
      throw new Error("no such word");
    });
    await lab.clock.advance(48 * HOUR);
    const { parked } = await lab.clock.run(lab.guardian.status({}));
    expect(await lab.why(parked[0]?.id)).toMatchObject({
      about: "event",
      state: "parked",
      reasons: [{ rule: "handler_failed", message: "no such word", tries: 5 }],
      hint: expect.stringContaining("retinue retry"),
    });
  });

  test("a specialist whose process is gone", async () => {
    const lab = await whyLab(post, { may: ["posts.create"], review: ["posts.create"] });
    const offline = createGuardian({ store: lab.store, clock: lab.clock });
    const gone = { rule: "not_running", message: "no runtime uses this store now" };
    expect(await lab.clock.run(offline.why({ id: "scout" }))).toMatchObject({ state: "waiting", hint: "retinue run" });
    expect((await lab.clock.run(offline.why({ id: "scout" }))).reasons[0]).toMatchObject(gone);
    expect((await lab.clock.run(offline.why({ id: (await lab.decided())[0]?.id ?? "" }))).reasons).toContainEqual(gone);
  });

  test("a handler that waits for a read it cannot afford", async () => {
    const lab = await whyLab(
      async (act) => {
        for (let i = 0; i < 30; i++) await act.read.posts({ limit: i + 1 });
      },
      {},
      { profile: { tiers: { pro: { perHour: 20, perDay: 200 } } } },
    );
    expect(await lab.why(lab.handling())).toMatchObject({
      about: "event",
      state: "ready",
      reasons: [{ rule: "suspended", message: expect.stringMatching(/\w+ \w+/), until: A_TIME }],
    });
  });
});
