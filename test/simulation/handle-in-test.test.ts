/** `handle` of retinue/testing: one event through the real rules, and each kind of planted mistake is seen. */
import { describe, expect, test } from "vitest";
import { credits, defineSpecialist, type JsonObject, type SpecialistDefinition } from "retinue";
import { agent, approvalRequest, community, handle, job, like, post, receipt, reply, searchResult, stats } from "retinue/testing";

const hello = defineSpecialist({
  handle: "hello",
  tier: "pro",
  may: ["posts.reply"],
  initialState: { welcomed: 0 },
  on: {
    "post.created": (post, act) => {
      if (!/hello/i.test(post.content ?? "")) return;
      act.reply(post, `Welcome, ${post.authorHandle}!`, { expiresIn: "1h", key: "welcome", data: { at: act.now } });
      act.state = { welcomed: Number(act.state["welcomed"]) + 1 };
    },
  },
});

test("a handling answers what was decided, and the state after", async () => {
  const asked = post({ content: "Hello!" });
  const { intents, state, steps, log, reads } = await handle(hello, "post.created", asked, { state: { welcomed: 4 } });
  expect(intents).toEqual([
    {
      state: "ready",
      operation: "posts.reply",
      target: asked.id,
      input: { content: "Welcome, ada!" },
      key: "welcome",
      data: { at: Date.UTC(2026, 0, 5) },
      expiresInMs: 3_600_000,
    },
  ]);
  expect([state, steps, log, reads]).toEqual([{ welcomed: 5 }, {}, [], []]);
});

test("a handler that decides nothing leaves the state of its definition", async () => {
  expect(await handle(hello, "post.created", post({ content: "Goodbye." }))).toMatchObject({ intents: [], state: { welcomed: 0 } });
});

test("the state that a test gives stays as it is, also if the handler changes it in place", async () => {
  const given = { seen: ["a"] };
  const careless: SpecialistDefinition = {
    handle: "careless",
    on: { "post.created": ({ id }, act) => void (act.state["seen"] as string[]).push(id) },
  };
  const { state } = await handle(careless, "post.created", post({ id: "b" }), { state: given });
  expect([given, state]).toEqual([{ seen: ["a"] }, { seen: ["a", "b"] }]);
});

test("reads, steps, prints, logs and requests of a handler are what the test says they are", async () => {
  const helper = defineSpecialist({
    handle: "helper",
    may: ["posts.reply"],
    on: {
      "post.created": async (one, act) => {
        const { replies = [] } = await act.read.post(one);
        const people = await act.read.agents({ limit: 2 });
        const text = await act.step("think", async () => (await act.fetch("https://model.example/v1")).text());
        act.log.info("thought", { replies: replies.length, people: people.length, random: act.random() });
        act.reply(one, text);
      },
    },
  });
  const reads = { post: (id: string) => post({ id, replies: [post()] }), agents: [agent(), agent()] };
  const asked = post();
  const fetch = [{ url: "https://model.example/*", text: "An answer." }];
  const handled = await handle(helper, "post.created", asked, { reads, fetch });
  expect(handled.intents).toMatchObject([{ operation: "posts.reply", input: { content: "An answer." }, state: "ready" }]);
  expect(handled.steps).toEqual({ think: "An answer." });
  expect(handled.reads).toEqual([
    { operation: "posts.get", target: asked.id, input: {} },
    { operation: "agents.list", input: { limit: 2 } },
  ]);
  expect(handled.log).toMatchObject([
    { message: "fetch", fields: { method: "GET", address: "https://model.example/v1", status: 200 } },
    { level: "info", message: "thought", fields: { replies: 1, people: 2 } },
  ]);
  expect(await handle(helper, "post.created", asked, { reads, fetch })).toEqual(handled);
});

test("a step that ran before is not run again", async () => {
  let ran = 0;
  const thinker = defineSpecialist({
    handle: "thinker",
    may: ["posts.create"],
    on: { "post.created": async (_post, act) => void act.post(await act.step("think", () => `thought ${++ran}`)) },
  });
  const { intents, steps } = await handle(thinker, "post.created", post(), { steps: { think: "from the model" } });
  expect([ran, intents.map(({ input }) => input), steps]).toEqual([0, [{ content: "from the model" }], {}]);
});

test("runs of a schedule and events of a profile are handled as well", async () => {
  const digest = defineSpecialist({
    handle: "digest",
    may: ["posts.create"],
    schedules: { morning: { cron: "0 9 * * *", run: (act) => void act.post(`It is ${new Date(act.now).toISOString()}.`) } },
    on: { "x:contest": (event, act) => void act.post(`A contest: ${event.id}`) },
  });
  const morning = await handle(digest, "schedule:morning", null, { now: Date.UTC(2026, 4, 1, 9) });
  expect(morning.intents[0]?.input).toEqual({ content: "It is 2026-05-01T09:00:00.000Z." });
  const contest = await handle(digest, "x:contest", { id: "c1", raw: {} });
  expect(contest.intents[0]?.input).toEqual({ content: "A contest: c1" });
});

test("an action on what another action creates names its position", async () => {
  const chain = defineSpecialist({
    handle: "chain",
    may: ["posts.create", "posts.reply"],
    on: { "post.created": (_post, act) => void act.reply(act.post("first"), "second") },
  });
  const { intents } = await handle(chain, "post.created", post());
  expect(intents).toMatchObject([{ operation: "posts.create" }, { operation: "posts.reply", targetOf: 0 }]);
});

test("every payload has a builder, and no two built records share an id", async () => {
  const all = defineSpecialist({
    handle: "all",
    on: {
      "post.created": ({ id }, act) => void (act.state = { id }),
      "reply.created": ({ id, threadId }, act) => void (act.state = { id, threadId }),
      "job.assigned": ({ id }, act) => void (act.state = { id }),
      "follower.new": ({ id }, act) => void (act.state = { id }),
      "post.liked": ({ postId }, act) => void (act.state = { id: postId }),
      "intent.refused": ({ intent }, act) => void (act.state = { id: intent }),
      "approval.required": ({ reference = "" }, act) => void (act.state = { id: reference }),
    },
  });
  const states = [
    await handle(all, "post.created", post()),
    await handle(all, "reply.created", reply({ threadId: "t" })),
    await handle(all, "job.assigned", job()),
    await handle(all, "follower.new", agent()),
    await handle(all, "post.liked", like()),
    await handle(all, "intent.refused", receipt()),
    await handle(all, "approval.required", approvalRequest({ reference: "r" })),
  ].map(({ state }) => state["id"]);
  expect(new Set(states).size).toBe(states.length);
  expect([community().kind, stats({ reputation: 3 }).reputation, searchResult({ title: "x" }).title]).toEqual(["community", 3, "x"]);
});

describe("a planted mistake is seen:", () => {
  const careless = (changes: Partial<SpecialistDefinition>): SpecialistDefinition => ({
    handle: "careless",
    may: ["posts.reply"],
    ...changes,
  });

  test("an action that `may` does not permit", async () => {
    const { intents } = await handle({ ...hello, may: [] }, "post.created", post({ content: "hello" }));
    expect(intents).toMatchObject([{ state: "refused", code: "not_allowed" }]);
  });

  test("an answer to oneself", async () => {
    const own = post({ content: "hello", authorId: "agent_hello", authorHandle: "hello" });
    expect((await handle(hello, "post.created", own)).intents).toMatchObject([{ state: "refused", code: "own_post" }]);
  });

  test("more replies to one author than its brakes permit", async () => {
    const chatty = careless({
      brakes: { repliesPerAuthorPerHour: 1 },
      on: { "post.created": (one, act) => ["a", "b"].forEach((text) => void act.reply(one, text)) },
    });
    const { intents } = await handle(chatty, "post.created", post());
    expect(intents.map(({ state, code }) => [state, code])).toEqual([
      ["ready", undefined],
      ["refused", "brake_author"],
    ]);
  });

  test("the fifth of our own actions in a row", async () => {
    const { intents } = await handle(hello, "post.created", post({ content: "hello" }), { hops: 5 });
    expect(intents).toMatchObject([{ state: "refused", code: "brake_hops" }]);
  });

  test("an action that waits for its Guardian", async () => {
    const { intents } = await handle({ ...hello, review: ["posts.reply"] }, "post.created", post({ content: "hello" }));
    expect(intents).toMatchObject([{ state: "proposed" }]);
  });

  test("an input that the interface does not take", async () => {
    const wrong = careless({
      may: ["jobs.create"],
      on: { "post.created": (_post, act) => void act.createJob({ title: "", description: "x" }) },
    });
    await expect(handle(wrong, "post.created", post())).rejects.toMatchObject({ code: "input_invalid" });
  });

  test("a step whose name is used twice, and one whose result is no JSON", async () => {
    const twice = careless({
      on: { "post.created": async (_post, act) => void [await act.step("a", () => 1), await act.step("a", () => 2)] },
    });
    await expect(handle(twice, "post.created", post())).rejects.toMatchObject({ code: "step_repeated" });
    const endless: SpecialistDefinition["on"] = { "post.created": (_post, act) => act.step("a", () => JSON.parse("{}").missing) };
    await expect(handle(careless({ on: endless }), "post.created", post())).rejects.toMatchObject({ code: "step_not_json" });
  });

  test("act used after the handler returned", async () => {
    let later: () => unknown = () => undefined;
    const leaky = careless({ on: { "post.created": (one, act) => void (later = () => act.reply(one, "late")) } });
    await handle(leaky, "post.created", post());
    expect(later).toThrow(expect.objectContaining({ code: "act_closed" }));
  });

  test("a handler that throws: the test gets its error, with its stack", async () => {
    const thrower = careless({
      on: {
        "post.created": () => {
          throw new TypeError("of my own");
        },
      },
    });
    const error: unknown = await handle(thrower, "post.created", post()).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(TypeError);
    expect(error).toMatchObject({ message: "of my own", stack: expect.stringContaining("handle-in-test.test.ts") });
  });

  test("an event that the definition does not handle", async () => {
    await expect(handle(hello, "post.liked", like())).rejects.toMatchObject({
      code: "handler_missing",
      message: "hello has no handler of post.liked",
      details: { expected: "post.created" },
    });
  });

  test("a read without an answer, and a request without one", async () => {
    const reader = careless({ on: { "post.created": async (one, act) => void (await act.read.job(one.id)) } });
    await expect(handle(reader, "post.created", post({ id: "j1" }))).rejects.toMatchObject({
      code: "no_read",
      message: 'the test has no answer to act.read.job("j1")',
    });
    const asker = careless({ on: { "post.created": async (_post, act) => void (await act.fetch("https://model.example")) } });
    await expect(handle(asker, "post.created", post())).rejects.toMatchObject({ code: "no_fetch" });
    await expect(handle(asker, "post.created", post(), { fetch: [{ url: "https://other.example" }] })).rejects.toMatchObject({
      code: "no_fetch",
    });
  });

  test("a mistake in the definition, as `check` would tell it", async () => {
    const misspelt = { ...hello, may: ["replies"], spend: { perDay: credits(1) } };
    await expect(handle(misspelt, "post.created", post())).rejects.toMatchObject({
      code: "definition_invalid",
      message: expect.stringContaining("may"),
    });
  });

  test("a state that is no JSON object", async () => {
    const dated = careless({ on: { "post.created": (_post, act) => void Reflect.set(act, "state", [1]) } });
    await expect(handle(dated, "post.created", post())).rejects.toMatchObject({ code: "state_invalid" });
  });
});

test("the id of a specialist that is not known yet keeps it from replying to a post without an author", async () => {
  const { authorHandle: _handle, ...anonymous } = post({ content: "hello" });
  const { intents } = await handle(hello, "post.created", anonymous, { id: undefined });
  expect(intents).toMatchObject([{ state: "refused", code: "account_unknown" }]);
});

test("an operation that the endpoint set lacks is refused", async () => {
  const remover = defineSpecialist({
    handle: "remover",
    may: ["posts.delete"],
    on: { "post.created": (one, act) => void act.remove(one) },
  });
  expect((await handle(remover, "post.created", post(), { set: "a" })).intents).toMatchObject([{ state: "ready" }]);
  const { intents } = await handle(remover, "post.created", post(), { set: "b" });
  expect(intents).toMatchObject([{ state: "refused", code: "operation_unsupported" }]);
});

test("a tool is answered by the test, and refused outside `tools` or without an answer", async () => {
  const teller = defineSpecialist({
    handle: "teller",
    may: ["posts.create"],
    tools: ["weather/forecast"],
    on: { "post.created": async ({ content = "" }, act) => act.post((await act.tool("weather/forecast", { city: content })).text) },
  });
  const asked = post({ content: "Bern" });
  const tools = { "weather/forecast": ({ city }: JsonObject) => (city === "Bern" ? "sunny in Bern" : "rain") };
  expect(await handle(teller, "post.created", asked, { tools })).toMatchObject({ intents: [{ input: { content: "sunny in Bern" } }] });
  await expect(handle(teller, "post.created", asked)).rejects.toMatchObject({ code: "no_tool" });
  const without: SpecialistDefinition = { ...teller, tools: [] };
  await expect(handle(without, "post.created", asked, { tools })).rejects.toMatchObject({ code: "tool_not_allowed" });
});
