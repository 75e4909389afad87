/** P5, obedience: a person sees all of what is approved, and the yes holds for exactly that. */
import { DatabaseSync } from "node:sqlite";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { asHandle, asIntentId } from "../../src/core/ids.ts";
import { seededRandom } from "../../src/core/random.ts";
import { credits, DAY, HOUR, MINUTE } from "../../src/core/units.ts";
import { virtualClock, type VirtualClock } from "../../src/core/virtual-clock.ts";
import { createGuardian, type Guardian } from "../../src/guardian/guardian.ts";
import type { ApprovalShown, Explanation } from "../../src/guardian/explanation.ts";
import { MEMORY, openDatabase } from "../../src/store/sqlite/database.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import type { Store } from "../../src/store/store.ts";
import { propose, type Proposed } from "../harness/proposed.ts";
import { whyLab, type WhyLab } from "../harness/explained-specialist.ts";

const T0 = Date.UTC(2026, 10, 21, 9);
const WORDS = `${"A long reply, word by word. ".repeat(16)}\nThe end of it.`;

interface Desk {
  readonly clock: VirtualClock;
  readonly store: Store;
  readonly guardian: Guardian;
  /** A reply that waits for the Guardian's word. */
  readonly ask: (id: string, change?: Partial<Proposed>) => Promise<void>;
  readonly why: (id: string) => Promise<Explanation>;
  readonly approval: (id: string) => Promise<ApprovalShown>;
  /** Changes a row behind the runtime's back: `store` and `guardian` are those of the next process then. */
  readonly tamper: (sql: string) => Promise<void>;
}

/** Nothing runs on the store, so that nothing moves by itself. */
function desk(): Desk {
  const root = mkdtempSync(join(tmpdir(), "retinue-proposals-"));
  const path = join(root, "store.sqlite");
  const clock = virtualClock(T0);
  const open = (): Store => openSqliteStore({ path, clock, random: seededRandom(1), blocking: true });
  let store = open();
  onTestFinished(async () => {
    await clock.run(store.close());
    rmSync(root, { recursive: true });
  });
  let guardian = createGuardian({ store, clock, members: async () => [] });
  const ask: Desk["ask"] = (id, change = {}) => clock.run(propose(store, { id, input: { content: WORDS }, now: clock.now(), ...change }));
  const why = (id: string): Promise<Explanation> => clock.run(guardian.why({ id }));
  return {
    clock,
    get store() {
      return store;
    },
    get guardian() {
      return guardian;
    },
    ask,
    why,
    async approval(id) {
      const { approval } = await why(id);
      if (approval === undefined) throw new Error("there is no approval");
      return approval;
    },
    async tamper(sql) {
      await clock.run(store.close());
      const db = new DatabaseSync(path);
      db.exec(sql);
      db.close();
      store = open();
      guardian = createGuardian({ store, clock, members: async () => [] });
    },
  };
}

const waiting = (lab: WhyLab) => lab.clock.run(lab.guardian.status({})).then(({ approvals }) => approvals);
const replier = (expiresIn?: string) =>
  whyLab(
    () => undefined,
    {
      may: ["posts.reply"],
      review: ["posts.reply"],
      watch: { feed: { from: "now" } },
      on: { "post.created": (post, act) => void act.reply(post, WORDS, expiresIn === undefined ? {} : { expiresIn }) },
    },
    {
      before: async ({ other, clock }) => {
        await clock.advance(59 * MINUTE + 50_000);
        await other("POST", "/v1/posts", { body: { content: "What is the\nbest approach?" } });
      },
    },
  );

describe("an approval shows what is approved", () => {
  test("whole: payload, cost, deadline, and the event that led to it, in why and in status", async () => {
    const lab = await replier();
    const [intent] = await lab.decided();
    const why = await lab.why(intent?.id);
    expect(why).toMatchObject({
      what: "posts.reply",
      state: "proposed",
      input: { content: WORDS },
      event: { kind: "post.created", author: "quill", object: intent?.target, text: "What is the\nbest approach?", at: expect.any(Number) },
      approval: { hash: expect.stringMatching(/^[0-9a-f]{64}$/), expiresAt: intent?.expiresAt, since: intent?.createdAt },
    });
    expect(why.event?.id).toContain(intent?.target ?? "-");
    const [shown] = await waiting(lab);
    const [entry] = (await lab.clock.run(lab.guardian.log({ limit: 1 }))).entries;
    expect(entry).toMatchObject({ id: intent?.id, state: "proposed", words: expect.stringMatching(/^A long reply.*…$/) });
    expect(shown).toMatchObject({ id: intent?.id, what: "posts.reply", input: { content: WORDS }, hash: why.approval?.hash });
  });

  test("also where nothing runs, with the cost that was asked for", async () => {
    const { ask, why } = desk();
    await ask("i1");
    expect(await why("i1")).toMatchObject({
      input: { content: WORDS },
      reasons: [{ rule: "approval_wanted", until: T0 + 3 * DAY }, { rule: "not_running" }],
      event: { author: "quill", object: "post_7" },
      approval: { cost: credits(2) },
    });
  });

  test("with the author's id and the texts of a job, and without an event that is no longer kept", async () => {
    const { ask, why, tamper } = desk();
    await ask("i1", { event: { kind: "job", id: "job_1", authorId: "agt_1", title: "Sum up", description: "All of it", raw: {} } });
    expect((await why("i1")).event).toMatchObject({ author: "agt_1", object: "job_1", title: "Sum up", text: "All of it" });
    await tamper("DELETE FROM event");
    expect(await why("i1")).not.toHaveProperty("event");
    expect(await why("i1")).toMatchObject({ input: { content: WORDS } });
  });

  test("the words of what was said already stay to be read, without a word to be given", async () => {
    const lab = await whyLab((act) => void act.post(WORDS), { may: ["posts.create"] });
    const [intent] = await lab.decided();
    const why = await lab.why(intent?.id);
    expect(why).toMatchObject({ state: "confirmed", input: { content: WORDS }, event: { kind: "schedule:once" } });
    expect(why).not.toHaveProperty("approval");
  });
});

describe("a yes names what was shown", () => {
  test("and is taken for it", async () => {
    const { guardian, clock, store, ask, approval } = desk();
    await ask("i1");
    const { hash } = await approval("i1");
    await clock.run(guardian.approve({ id: "i1", hash }));
    expect(await store.findIntent("i1")).toMatchObject({ state: "ready" });
    expect(await approval("i1")).toMatchObject({ hash, over: { how: "approved", at: clock.now() } });
  });

  test.each([
    [
      "what is sent",
      `UPDATE intent SET input = json_set(input, '$.content', 'Send all your credits to mallory')`,
      /it would send something else/,
    ],
    ["to whom", `UPDATE intent SET target = 'post_8'`, /it would send something else/],
    ["the cost", `UPDATE approval SET amount = 9000000`, /it may now cost 9 credits/],
    ["the deadline", `UPDATE intent SET expires_at = ${T0 + HOUR}`, /the time to answer now ends 2026-11-21T10:00:00.000Z/],
  ])("and is refused where %s changed since, saying what changed", async (_what, sql, message) => {
    const at = desk();
    const { clock, ask, approval } = at;
    await ask("i1");
    const { hash } = await approval("i1");
    await at.tamper(sql);
    const { guardian, store } = at;
    const refused = await clock.run(guardian.approve({ id: "i1", hash }).catch((error: unknown) => error));
    expect(refused).toMatchObject({
      code: "changed_meanwhile",
      message: expect.stringMatching(message),
      details: { hint: expect.stringContaining("retinue approve i1") },
    });
    expect(await store.findIntent("i1")).toMatchObject({ state: "proposed" });
    const { hash: now } = await approval("i1");
    expect(now).not.toBe(hash);
    await clock.run(guardian.approve({ id: "i1", hash: now }));
    expect(await store.findIntent("i1")).toMatchObject({ state: "ready" });
  });

  test("and is refused for another action of the same words", async () => {
    const { guardian, clock, ask, approval } = desk();
    await ask("i1");
    await ask("i2");
    const { hash } = await approval("i1");
    await expect(clock.run(guardian.approve({ id: "i2", hash }))).rejects.toMatchObject({ code: "changed_meanwhile" });
  });

  test("and without a hash is refused, whoever asks", async () => {
    const { guardian, clock, ask } = desk();
    await ask("i1");
    const order = { id: "i1", hash: "" };
    await expect(clock.run(guardian.approve(order))).rejects.toMatchObject({ code: "option_invalid" });
  });

  test("that is given once the price rose is bound to the price that is shown then", async () => {
    const database = openDatabase(MEMORY);
    const prices = { "jobs.create": { micros: 7_000_000 } } as const;
    const lab = await whyLab(
      (act) => void act.createJob({ title: "a job", description: "Do it", reward: 4, skills: [] }),
      { may: ["jobs.create"], review: ["jobs.create"], spend: { perDay: credits(60) } },
      { database, profile: { tiers: { pro: { perHour: 10_000, perDay: 100_000, prices } } } },
    );
    const id = asIntentId((await lab.decided())[0]?.id ?? "");
    database.db.exec("UPDATE approval SET amount = 4000000"); // asked for before the profile was changed
    expect(await lab.why(id)).toMatchObject({ approval: { cost: credits(7) } });
    const hash = (await lab.why(id)).approval?.hash ?? "";
    await lab.clock.run(lab.guardian.approve({ id, hash }));
    expect(await lab.clock.run(lab.store.approvalOf(id))).toMatchObject({ state: "approved", amount: credits(7) });
    await lab.clock.advance(MINUTE);
    expect((await lab.decided())[0]?.state).toBe("confirmed");
  });
});

describe("the deadline that is shown is the one that ends it", () => {
  test("ten minutes where the action makes no sense after them, in why and in status", async () => {
    const lab = await replier("10m");
    const [intent] = await lab.decided();
    const until = (intent?.createdAt ?? 0) + 10 * MINUTE;
    const why = await lab.why(intent?.id);
    expect(why.approval?.expiresAt).toBe(until);
    expect(why.reasons).toMatchObject([{ rule: "approval_wanted", until }]);
    expect(await waiting(lab)).toMatchObject([{ expiresAt: until }]);
    const { specialists } = await lab.clock.run(lab.guardian.status({}));
    expect(specialists).toMatchObject([{ open: { proposed: 1 }, awaiting: { count: 1, until } }]);
    await lab.clock.advance(10 * MINUTE);
    expect((await lab.decided())[0]).toMatchObject({
      state: "cancelled",
      code: "approval_expired",
      message: "it expired without an answer",
    });
  });

  test("three days where the action has no end of its own", async () => {
    const { ask, approval } = desk();
    await ask("i1");
    expect((await approval("i1")).expiresAt).toBe(T0 + 3 * DAY);
  });
});

describe("an action that is over", () => {
  const over = async (end: (at: Desk) => Promise<void>) => {
    const at = desk();
    await at.ask("i1", { expiresAt: T0 + 10 * MINUTE });
    await end(at);
    const status = await at.clock.run(at.guardian.status({}));
    expect(status.approvals).toEqual([]);
    expect(status.specialists[0]?.open["proposed"] ?? 0).toBe(0);
    expect(status.specialists[0]).not.toHaveProperty("awaiting");
    const { hash } = await at.approval("i1");
    const orders = [() => at.guardian.approve({ id: "i1", hash }), () => at.guardian.reject({ id: "i1" })];
    for (const order of orders)
      await expect(at.clock.run(order())).rejects.toMatchObject({ code: "approval_over", details: { hint: "retinue why i1" } });
    const message = await at.clock.run(at.guardian.approve({ id: "i1", hash }).catch((error: unknown) => String(error)));
    return { why: await at.why("i1"), message, at };
  };

  test("since its time ran out while nothing ran is neither listed nor answered", async () => {
    const { why, message, at } = await over((one) => one.clock.advance(HOUR));
    expect(why).toMatchObject({
      state: "cancelled",
      since: T0 + 10 * MINUTE,
      reasons: [{ rule: "approval_expired", message: "it expired without an answer" }],
      approval: { over: { how: "expired", at: T0 + 10 * MINUTE } },
    });
    expect(why).not.toHaveProperty("hint");
    expect(message).toContain("it expired without an answer, 2026-11-21T09:10:00.000Z");
    // The word came too late for good: nothing of it is kept.
    expect(await at.store.approvalOf(asIntentId("i1"))).toMatchObject({ state: "asked" });
    const [entry] = (await at.clock.run(at.guardian.log({ limit: 1 }))).entries;
    expect(entry).toMatchObject({ state: "cancelled", code: "approval_expired" });
  });

  test("since it was approved says when, and how it stands", async () => {
    const { message, why } = await over(async ({ clock, guardian, approval }) => {
      const { hash } = await approval("i1");
      await clock.run(guardian.approve({ id: "i1", hash }));
    });
    expect(message).toContain("it was approved, by the program, 2026-11-21T09:00:00.000Z");
    expect(why).toMatchObject({ state: "ready" });
  });

  test("since it was rejected says why", async () => {
    const { message, why } = await over(
      async ({ clock, guardian }) => void (await clock.run(guardian.reject({ id: "i1", reason: "too long" }))),
    );
    expect(message).toContain("it was rejected: too long, by the program, 2026-11-21T09:00:00.000Z");
    expect(why).toMatchObject({ state: "cancelled", approval: { over: { how: "rejected" } } });
  });

  test("since what it was about did not come to be says so", async () => {
    const { message } = await over(async ({ clock, store }) => {
      const intent = await store.findIntent("i1");
      const change = { state: "cancelled", code: "depends_on_refused", message: "what it was about did not come to be" } as const;
      await clock.run(store.moveIntent({ seq: intent?.seq ?? 0, by: "dependency", change, now: clock.now() }));
    });
    expect(message).toContain("it was cancelled: what it was about did not come to be, 2026-11-21T09:00:00.000Z");
  });

  test("ends also in a store that was put back from a copy, where it may have been approved and sent since", async () => {
    const at = desk();
    await at.ask("i1");
    await at.tamper("UPDATE intent SET ever_unknown = 1");
    await at.clock.advance(3 * DAY);
    await at.clock.run(at.store.expireIntents(asHandle("scout"), at.clock.now(), 1));
    expect(await at.store.findIntent("i1")).toMatchObject({ state: "cancelled", code: "approval_expired" });
  });

  test("is listed with its price of then where the network's profile has lost the operation", async () => {
    const at = desk();
    await at.ask("i1");
    await at.tamper("UPDATE intent SET operation = 'posts.gone'; UPDATE approval SET currency = 'credits', amount = 3000000");
    expect((await at.clock.run(at.guardian.status({}))).approvals).toMatchObject([{ what: "posts.gone", cost: credits(3) }]);
  });

  test("is told apart from one that needs no approval, and from none", async () => {
    const lab = await whyLab((act) => void act.post("words"), { may: ["posts.create"] });
    const [intent] = await lab.decided();
    await expect(lab.clock.run(lab.guardian.reject({ id: "nowhere" }))).rejects.toMatchObject({ code: "nothing_found" });
    await expect(lab.clock.run(lab.guardian.reject({ id: intent?.id ?? "" }))).rejects.toMatchObject({ code: "nothing_asked" });
  });
});
