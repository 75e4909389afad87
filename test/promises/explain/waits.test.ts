/** P8, explain: whatever waits, was refused or is parked says by which rule, in plain words, since when and until when. */
import { describe, expect, test } from "vitest";
import { asHandle } from "../../../src/core/ids.ts";
import { credits, DAY, HOUR, MINUTE } from "../../../src/core/units.ts";
import type { Reason } from "../../../src/guardian/explanation.ts";
import { whyLab, type WhyLab } from "../../harness/explained-specialist.ts";
import { spentBy } from "../../harness/spent-by.ts";

const SCOUT = asHandle("scout");
const A_TIME = expect.any(Number);
const reply = (lab: WhyLab, n: number): Promise<string | undefined> => lab.decided().then((intents) => intents.at(n)?.id);
const reasonsOf = async (lab: WhyLab, n = -1): Promise<readonly Reason[]> => (await lab.why(await reply(lab, n))).reasons;
const many = (count: number) => (act: { post(content: string): unknown }) => {
  for (let i = 0; i < count; i++) act.post(`words ${i}`);
};

describe("waiting work", () => {
  test("for the hour's quota says which lane and window, since when and until when", async () => {
    const lab = await whyLab(many(80), { tier: "free", may: ["posts.create"] });
    const [reason] = await reasonsOf(lab);
    expect(reason).toEqual({
      rule: "order",
      message: expect.stringMatching(/^i\w+ \(posts\.create\) was decided before it in the same handling and goes first; it is ready$/),
      lane: "act",
      since: A_TIME,
    });
    const first = (await lab.decided()).find(({ state }) => state === "ready");
    const [held] = (await lab.why(first?.id)).reasons;
    expect(held).toEqual({
      rule: "quota_lane",
      message: "the rest of this hour's 60 requests is reserved for lanes other than act",
      lane: "act",
      window: "hour",
      since: A_TIME,
      until: A_TIME,
    });
    expect((held?.until ?? 0) - lab.clock.now()).toBeGreaterThan(MINUTE);
    expect((held?.until ?? 0) - lab.clock.now()).toBeLessThanOrEqual(HOUR + MINUTE);
    expect((await lab.why("scout")).reasons).toMatchObject([{ rule: "quota_lane", lane: "act", since: A_TIME, until: held?.until }]);
  });

  test("for the day's quota names the day", async () => {
    const lab = await whyLab(
      many(60),
      { tier: "free", may: ["posts.create"] },
      { profile: { tiers: { free: { perHour: 60, perDay: 40 } } } },
    );
    await lab.clock.advance(HOUR);
    const first = (await lab.decided()).find(({ state }) => state === "ready");
    const [held] = (await lab.why(first?.id)).reasons;
    expect(held).toMatchObject({ lane: "act", window: "day", until: A_TIME, message: expect.stringContaining("this day's 40 requests") });
    expect((held?.until ?? 0) - lab.clock.now()).toBeGreaterThan(HOUR);
    expect((held?.until ?? 0) - lab.clock.now()).toBeLessThanOrEqual(DAY);
  });

  test("since the network answered 429 says until when it asked", async () => {
    const lab = await whyLab(
      many(2),
      { may: ["posts.create"] },
      {
        before: async ({ network }) =>
          void network.faults.add({ fault: { kind: "limited", dialect: "seconds", seconds: 600 }, match: { writes: true }, times: 1 }),
      },
    );
    expect(await reasonsOf(lab, 0)).toEqual([
      {
        rule: "key_parked",
        message: expect.stringMatching(/^the network asked for a wait \(/),
        lane: "act",
        window: "park",
        since: A_TIME,
        until: A_TIME,
      },
    ]);
    expect((await lab.why("scout")).reasons).toContainEqual(expect.objectContaining({ rule: "key_parked", until: A_TIME }));
  });

  test("for a limit of the network's own names it", async () => {
    const limits = [{ name: "posts", operations: ["posts.create"], max: 1, per: "30m" }];
    const lab = await whyLab(many(2), { may: ["posts.create"] }, { profile: { limits } });
    expect(await lab.why(await reply(lab, -1))).toMatchObject({
      reasons: [{ rule: "network_limit", message: "the network allows 1 of posts in 30m", lane: "act", since: A_TIME, until: A_TIME }],
      hint: "wait, or correct the limit in the profile",
    });
  });

  test.each([
    ["halt", "halted", "halted: prices look odd", "retinue halt --lift"],
    ["pause", "paused", "paused: prices look odd", "retinue resume"],
  ] as const)("for a %s says whose word it is and how it ends", async (order, rule, message, hint) => {
    const lab = await whyLab(
      many(1),
      { may: ["posts.create"] },
      {
        before: async ({ clock, guardian }) => {
          await clock.advance(50 * MINUTE);
          await clock.run(guardian[order]({ reason: "prices look odd" }));
        },
      },
    );
    expect(await lab.why(await reply(lab, 0))).toMatchObject({ reasons: [{ rule, message, lane: "act", since: A_TIME }], hint });
    expect(await lab.why("scout")).toMatchObject({ state: "waiting", reasons: [{ rule, message, since: A_TIME }], hint });
    await lab.clock.run(lab.guardian[order === "halt" ? "lift" : "resume"]({}));
    await lab.clock.run(lab.guardian[order]({ handle: "scout" }));
    expect((await lab.why("scout")).hint).toBe(
      hint.replace(order === "halt" ? "halt" : "resume", order === "halt" ? "halt scout" : "resume scout"),
    );
  });

  test("for approval says until when an answer counts, and how to give it", async () => {
    const lab = await whyLab(many(1), { may: ["posts.create"], review: ["posts.create"] });
    const id = await reply(lab, 0);
    expect(await lab.why(id)).toMatchObject({
      state: "proposed",
      reasons: [{ rule: "approval_wanted", message: "waits for the Guardian's approval", lane: "act", since: A_TIME, until: A_TIME }],
      hint: `retinue approve ${id}, or retinue reject ${id}`,
    });
  });

  test("for a key says what is wrong with it", async () => {
    const lab = await whyLab(many(1), { may: ["posts.create"] }, { key: () => undefined });
    expect(await lab.why(await reply(lab, 0))).toMatchObject({
      reasons: [{ rule: "key_unusable", message: expect.stringContaining("key"), lane: "act", since: A_TIME }],
      hint: expect.stringContaining("working key"),
    });
  });

  test("for room under a cap says which, and when a window frees it", async () => {
    const lab = await whyLab(
      (act) => {
        for (let i = 0; i < 2; i++) act.createJob({ title: `job ${i}`, description: "Do it", reward: 4, skills: [] });
      },
      { may: ["jobs.create"], spend: { perDay: credits(6) } },
    );
    expect(await lab.why(await reply(lab, -1))).toMatchObject({
      reasons: [
        {
          rule: "spend_cap",
          message: "scout: 4 credits of the 6 credits allowed in any 24 hours are spent or held",
          lane: "act",
          window: "rolling-day",
          since: A_TIME,
          until: A_TIME,
        },
      ],
      hint: "wait, or raise the cap under spend",
    });
  });

  test("for room under a cap goes on as soon as something cost less than was set aside for it", async () => {
    const job = { title: "a job", description: "Do it", reward: 4, skills: [] };
    const lab = await whyLab(
      (act) => void act.createJob(job),
      { may: ["jobs.create"], spend: { perDay: credits(6) } },
      {
        network: { assume: { prices: { "jobs.create": -2 }, tellsCost: true } }, // a rebate
        profile: { operations: { "jobs.create": { charged: "cost.amount" } } },
        before: async ({ network }) =>
          void network.faults.add({ fault: { kind: "delay-reply", ms: 3 * MINUTE }, match: { operation: "jobs.create" }, times: 1 }),
      },
    );
    await lab.clock.run(lab.guardian.call({ handle: "scout", operation: "jobs.create", input: { ...job, title: "another" } }));
    expect((await lab.decided()).map(({ state, code }) => code ?? state)).toEqual(["sending", "spend_cap"]);
    await lab.clock.advance(5 * MINUTE);
    expect((await lab.decided()).map(({ state }) => state)).toEqual(["confirmed", "confirmed"]);
    expect(await lab.clock.run(spentBy(lab.store, SCOUT, lab.clock.now()))).toMatchObject([
      { postedMicros: credits(4).micros, heldMicros: 0 },
    ]);
  });

  test("for an account that is frozen says why, and names the command", async () => {
    const offers = (act: { createJob(input: { title: string; description: string; reward: number; skills: string[] }): unknown }) => {
      for (let i = 0; i < 2; i++) act.createJob({ title: `job ${i}`, description: "Do it", reward: 4, skills: [] });
    };
    const lab = await whyLab(
      offers,
      { may: ["jobs.create"], spend: { perDay: credits(60) } },
      {
        network: { assume: { prices: { "jobs.create": 1 }, tellsCost: true } },
        profile: { operations: { "jobs.create": { charged: "cost.amount" } } },
      },
    );
    const reason = {
      rule: "spend_frozen",
      message: expect.stringMatching(/^scout may spend no credits until you unfreeze it: i\w+ cost 5 credits, with a hold of 4 credits$/),
    };
    const hint = "retinue unfreeze scout --reason '<what you found>'";
    expect(await lab.why(await reply(lab, -1))).toMatchObject({ reasons: [{ ...reason, lane: "act", since: A_TIME }], hint });
    expect(await lab.why("scout")).toMatchObject({ reasons: [{ ...reason, since: A_TIME }], hint });
    const said = await lab.clock.run(lab.guardian.unfreeze({ handle: "scout", by: "ann", reason: "looked" }));
    expect(said).toEqual({ message: "scout may spend credits again" });
    await lab.clock.advance(MINUTE);
    expect((await lab.decided()).at(-1)?.state).toBe("confirmed");
  });

  test("for as many jobs as can be delivered says so", async () => {
    const lab = await whyLab(
      async (act) => {
        for (const job of await act.read.jobs({ limit: 100 })) act.apply(job, { message: "me" });
      },
      // An hour that never binds: what is owed is settled by a delivery alone.
      { tier: "starter", may: ["jobs.apply"], lanes: { obligation: 1, act: 69, reply: 5, watch: 10, poll: 10, explore: 5 } },
      {
        before: async ({ other, clock }) => {
          const deadline = new Date(clock.now() + DAY).toISOString();
          for (let i = 0; i < 60; i++)
            await other("POST", "/v1/jobs", { body: { title: `job ${i}`, description: "do", reward: 1, skills: [], deadline } });
        },
      },
    );
    const held = (await lab.decided()).find(({ code }) => code === "obligations_full");
    expect(await lab.why(held?.id)).toMatchObject({
      reasons: [{ rule: "obligations_full", message: expect.stringMatching(/^\d+ jobs are open already/), since: A_TIME }],
      hint: "wait until a job is delivered or given up",
    });
  });
});
