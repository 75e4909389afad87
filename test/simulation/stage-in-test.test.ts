/** `stage` of retinue/testing: the real runtime as a test moves it, and promises that fail on each kind of planted mistake. */
import { describe, expect, onTestFinished, test } from "vitest";
import { credits, defineSpecialist, type SpecialistDefinition } from "retinue";
import { stage, type TestStage, type TestStageOptions } from "retinue/testing";

const hello = defineSpecialist({
  handle: "hello",
  tier: "starter",
  may: ["posts.reply"],
  on: { "post.created": (post, act) => void (/hello/i.test(post.content ?? "") && act.reply(post, `Welcome, ${post.authorHandle}!`)) },
});

async function open(specialist: SpecialistDefinition = hello, options: Partial<TestStageOptions> = {}): Promise<TestStage> {
  const staged = await stage({ specialists: [specialist], ...options });
  onTestFinished(() => staged.stop());
  return staged;
}

test("a post is answered once, within the quota, by the network's own record", async () => {
  const town = await open();
  const asked = await town.post({ content: "Hello, everyone." });
  await town.advance("1h");
  await town.repliesOnceTo(asked);
  town.neverExceedsQuota();
  expect(await town.intents()).toMatchObject([
    { specialist: "hello", operation: "posts.reply", target: asked.id, input: { content: "Welcome, ada!" }, state: "confirmed" },
  ]);
  expect(town.effects().map(({ agent, operation, text }) => [agent, operation, text])).toEqual([["hello", "posts.reply", "Welcome, ada!"]]);
  expect(town.requests("hello").length).toBeGreaterThan(3);
});

test("a crash and an outage lose nothing and double nothing", async () => {
  const town = await open();
  town.outage("2h");
  const first = await town.post({ content: "hello from the outage" }, "bo");
  await town.advance("1h");
  expect(town.effects()).toEqual([]);
  await town.advance("2h");
  const second = await town.post({ content: "hello before the crash" }, "cy");
  await town.advance("90s");
  town.crash();
  await town.advance("1d");
  await town.repliesOnceTo(first);
  await town.repliesOnceTo(second);
});

test("replies to a specialist reach it", async () => {
  const town = await open({
    handle: "poster",
    tier: "pro",
    may: ["posts.create", "posts.reply"],
    watch: { threads: true },
    schedules: { daily: { every: "1h", run: (act) => void act.post("What do you think?") } },
    on: { "reply.created": (reply, act) => void act.reply(reply, "I see.") },
  });
  await town.advance("2h");
  const [own] = town.effects();
  expect(own).toMatchObject({ operation: "posts.create" });
  const posts = await town.intents();
  const answer = await town.reply({ id: posts[0]?.createdRef ?? "" }, { content: "A lot." });
  await town.advance("1h");
  await town.repliesOnceTo(answer);
});

test("a job is offered, given, done, and costs what it costs", async () => {
  const worker = defineSpecialist({
    handle: "worker",
    tier: "pro",
    may: ["jobs.apply", "jobs.submit"],
    spend: { perDay: credits(5) },
    on: {
      "job.listed": (job, act) => void act.apply(job, { message: "I can." }),
      "job.assigned": async (job, act) => {
        const { input } = await act.read.job(job);
        act.submit(job, { sum: Array.isArray(input) ? input.map(Number).reduce((a, b) => a + b, 0) : 0 });
      },
    },
  });
  const town = await open(worker);
  const offered = await town.offerJob({ title: "Sum these numbers", input: [1, 2, 3], reward: 7 });
  await town.assign(offered, "worker");
  await town.advance("1h");
  const [, submitted] = town.effects();
  expect(submitted).toMatchObject({ operation: "jobs.submit", target: offered.id, text: '{"sum":6}' });
  expect(town.network.jobs().find(({ id }) => id === offered.id)).toMatchObject({ status: "paid", reward: 7 });
  expect(town.spent()).toBe(0);
});

test("credits that an offered job holds are spent", async () => {
  const town = await open({
    handle: "host",
    tier: "pro",
    may: ["jobs.create"],
    spend: { perDay: credits(5) },
    schedules: { offer: { every: "10m", run: (act) => void act.createJob({ title: `At ${act.now}`, description: "Do it.", reward: 2 }) } },
  });
  await town.advance("3h");
  expect(town.spent("host")).toBe(4);
});

test("an action that waits for its Guardian leaves once it is approved", async () => {
  const town = await open({ ...hello, review: ["posts.reply"] });
  const asked = await town.post({ content: "hello" });
  await town.advance("1h");
  const [waiting] = await town.intents();
  expect(waiting).toMatchObject({ state: "proposed" });
  await town.approve(waiting ?? { id: "" });
  await town.advance("10m");
  await town.repliesOnceTo(asked);
});

test("situations, seeds and both sets run the same twice", async () => {
  const course = async (set: "a" | "b") => {
    const town = await open(
      { ...hello, tier: "pro" },
      { situation: "lost-replies", seed: 5, set, crowd: { posts: ["hello there"], postsPerHour: 4 } },
    );
    await town.advance("90m");
    town.neverExceedsQuota();
    return { effects: town.effects(), requests: town.requests().length };
  };
  for (const set of ["a", "b"] as const) {
    const first = await course(set);
    expect(first.effects.length).toBeGreaterThan(2);
    expect(await course(set)).toEqual(first);
  }
});

test("`await using` ends a stage, and ending it twice is once", async () => {
  const town = await stage({ specialists: [hello] });
  {
    await using _town = town;
  }
  await town.stop();
  expect(town.clock.pending()).toBe(0);
});

describe("a promise that does not hold says what happened instead:", () => {
  test("no reply, because no handler decided to", async () => {
    const town = await open();
    const asked = await town.post({ content: "Good morning." });
    await town.advance("1h");
    await expect(town.repliesOnceTo(asked)).rejects.toThrow(`hello did not reply to ${asked.id}: no handler decided to`);
  });

  test("no reply, because a rule refused it", async () => {
    const town = await open({ ...hello, may: [] });
    const asked = await town.post({ content: "hello" });
    await town.advance("1h");
    await expect(town.repliesOnceTo(asked)).rejects.toThrow(/refused: not_allowed: hello may not do posts\.reply/);
  });

  test("two replies", async () => {
    const town = await open({
      ...hello,
      on: { "post.created": (post, act) => ["One.", "Two."].forEach((text) => void act.reply(post, text)) },
    });
    const asked = await town.post({ content: "hello" });
    await town.advance("1h");
    await expect(town.repliesOnceTo(asked)).rejects.toThrow(`hello replied 2 times to ${asked.id}: "One.", "Two."`);
  });

  test("more requests than a tier allows", async () => {
    const town = await open();
    const key = town.network.regenerateKey("hello");
    for (let i = 0; i < 400; i++)
      await town.network.handle("b", {
        method: "GET",
        path: "/v1/posts",
        query: {},
        headers: { authorization: `Bearer ${key}` },
        body: "",
      });
    expect(() => town.neverExceedsQuota()).toThrow(
      /^hello exceeded its quota: \d+ requests in the hour before 2026-01-05T00:0\S+, of 300$/,
    );
  });

  test("a write while halted", async () => {
    const town = await open();
    const key = town.network.regenerateKey("hello");
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const meanwhile = () => town.network.handle("b", { method: "POST", path: "/v1/posts", query: {}, headers, body: "{}" });
    await expect(town.sendsNothingWhile("halted", { for: "1h", meanwhile })).rejects.toThrow(
      /writes arrived while halted: hello posts\.create at/,
    );
  });

  test("a halt in which nothing was decided", async () => {
    const town = await open();
    await expect(town.sendsNothingWhile("halted")).rejects.toThrow("the halt was not tried");
  });

  test("a job that is not applied for", async () => {
    const town = await open({ ...hello, handle: "idle" });
    const offered = await town.offerJob({ title: "Anything" });
    await expect(town.assign(offered, "idle")).rejects.toThrow(
      `${offered.id} was not given to idle within a day: it has not applied, and the job is expired`,
    );
    await expect(town.assign(offered, "hello")).rejects.toThrow("hello is not on this stage");
  });

  test("a mistake in a definition", async () => {
    await expect(stage({ specialists: [{ ...hello, tier: "gold" as "pro" }] })).rejects.toMatchObject({ code: "definition_invalid" });
    await expect(stage({ specialists: [hello], set: "a" })).rejects.toMatchObject({ code: "tier_not_in_set" });
    await expect(stage({ specialists: [] })).rejects.toMatchObject({ code: "specialists_empty" });
  });
});

test("a halted specialist decides and sends nothing, and what it decided leaves once the halt ends", async () => {
  const town = await open();
  await town.sendsNothingWhile("halted", { for: "2h", meanwhile: () => town.post({ content: "hello" }) });
  expect(town.effects()).toEqual([]);
  await town.advance("1h");
  expect(town.effects()).toMatchObject([{ operation: "posts.reply" }]);
});
