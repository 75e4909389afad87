/** The handler's `act`: decisions in written order and each once, reads and steps once per event, and nothing after its end. */
import { describe, expect, test } from "vitest";
import type { Json } from "../../src/core/json.ts";
import type { Act } from "../../src/specialist/act.ts";
import { MAX_INTENTS_PER_RUN, MAX_STEPS_PER_RUN } from "../../src/specialist/context.ts";
import type { RunRequest } from "../../src/specialist/run-request.ts";
import { runHandler, type RunResult } from "../../src/specialist/run.ts";
import { handlingOf } from "../harness/run-request.ts";

const run = async (handler: (act: Act) => unknown, over: Partial<RunRequest> = {}): Promise<RunResult> =>
  runHandler((_payload: never, act: Act) => handler(act), handlingOf(over).request);

describe("act", () => {
  const voted = { operation: "posts.vote", target: "p1" };
  test.each<readonly [how: string, handler: (act: Act) => void]>([
    ["taken apart", ({ vote, random, step, read }) => void [vote("p1"), random(), step, read.post]],
    ["wrapped by a proxy", (act) => void new Proxy(act, {}).vote("p1")],
    ["inherited from", (act) => void (Object.create(act) as Act).vote("p1")],
  ])("can be %s", async (_how, handler) => {
    const { request } = handlingOf();
    const result = await runHandler((_payload: never, act: Act) => handler(act), request);
    expect(result).toMatchObject({ kind: "finished", intents: [voted] });
  });

  test("decides once on what is decided twice, whatever the order of its input's names", async () => {
    const { request } = handlingOf();
    const result = await runHandler((_payload: never, act: Act) => {
      const first = act.createJob({ title: "t", description: "d", reward: 1 });
      const again = act.createJob({ reward: 1, description: "d", title: "t" });
      expect(again).toEqual(first);
      act.createJob({ title: "t", description: "d", reward: 2 });
      act.createJob({ title: "t", description: "d", reward: 1 }, { key: "another" });
    }, request);
    expect(result).toMatchObject({ kind: "finished", intents: [{ ordinal: 0 }, { ordinal: 1 }, { ordinal: 2, label: "another" }] });
  });

  test("stores a state that was changed in place, and none that was only read", async () => {
    const { request } = handlingOf();
    const counting = { ...request, state: { seen: [1] } };
    const read = await runHandler((_payload: never, act: Act) => void act.state, counting);
    expect(read).toEqual({ kind: "finished", intents: [] });
    const changed = await runHandler((_payload: never, act: Act) => void (act.state["seen"] as number[]).push(2), counting);
    expect(changed).toMatchObject({ state: { seen: [1, 2] } });
  });
});

describe("a decision", () => {
  test("is a draft in written order, with the lane and effect of its operation", async () => {
    const result = await run((act) => {
      const post = act.post("hello", { community: "data" });
      act.reply(post, "and more");
      act.join("c1");
      act.updateProfile({ bio: "new" });
    });
    if (result.kind !== "finished") throw new Error(`it ${result.kind}`);
    const [post, reply, join, update] = result.intents;
    expect(result.intents.map(({ ordinal }) => ordinal)).toEqual([0, 1, 2, 3]);
    expect(post).toMatchObject({ operation: "posts.create", input: { content: "hello", community: "data" }, lane: "act" });
    expect(reply).toMatchObject({ operation: "posts.reply", targetIntent: post?.id, lane: "reply" });
    expect(reply?.target).toBeUndefined();
    expect([join?.target, update?.target]).toEqual(["c1", "agt_1"]);
  });

  test.each<[string, (act: Act) => unknown, string]>([
    ["of a read", (act) => act.perform("posts.list", {}), "operation_is_read"],
    ["of an unknown operation", (act) => act.perform("posts.shout", {}), "operation_unknown"],
    ["without its object", (act) => act.reply("", "x"), "target_missing"],
    ["with an input that is none", (act) => act.post(""), "input_invalid"],
    [
      "beside a hundred others",
      (act) => Array.from({ length: MAX_INTENTS_PER_RUN + 1 }, (_, i) => act.post(`post ${i}`)),
      "too_many_intents",
    ],
  ])("%s fails the handling", async (_what, handler, code) => {
    expect(await run(handler)).toMatchObject({ kind: "failed", error: { code } });
  });
});

describe("a step", () => {
  test("runs once for an event: its stored result is given again", async () => {
    const saved: [string, Json][] = [];
    const over: Partial<RunRequest> = {
      steps: new Map([["step:known", 7]]),
      saveStep: async (name, value) => void saved.push([name, value]),
    };
    let ran = 0;
    const result = await run(async (act) => {
      const known = await act.step("known", () => ++ran);
      const fresh = await act.step("fresh", () => ({ n: ++ran, left: undefined as never }));
      act.post(`${known} ${JSON.stringify(fresh)}`);
    }, over);
    expect(result).toMatchObject({ kind: "finished", intents: [{ input: { content: '7 {"n":1}' } }] });
    expect(saved).toEqual([["step:fresh", { n: 1 }]]);
  });

  test.each<[string, (act: Act) => Promise<unknown>, string]>([
    ["of a name that was used", async (act) => [await act.step("a", () => 1), await act.step("a", () => 2)], "step_repeated"],
    ["whose result is no JSON", async (act) => act.step("a", () => (() => 1) as never), "step_not_json"],
    [
      "beside a thousand others",
      async (act) => {
        for (let i = 0; i <= MAX_STEPS_PER_RUN; i++) await act.step(`s${i}`, () => i);
      },
      "too_many_steps",
    ],
  ])("%s fails the handling", async (_what, handler, code) => {
    expect(await run(handler)).toMatchObject({ kind: "failed", error: { code } });
  });
});

describe("a read", () => {
  const reading = (answers: Json[]) => {
    const calls: unknown[] = [];
    const over: Partial<RunRequest> = {
      read: async (call) => {
        calls.push(call);
        return { value: answers.shift() ?? null };
      },
    };
    return { calls, over };
  };

  test("is made once for each place in the run, also of the same object, and stored", async () => {
    const saved: string[] = [];
    const { calls, over } = reading([{ id: "one" }, { id: "two" }]);
    const handler = async (act: Act) => void act.post(`${(await act.read.post("p1")).id} ${(await act.read.post("p1")).id}`);
    const first = await run(handler, { ...over, saveStep: async (name) => void saved.push(name) });
    expect(first).toMatchObject({ intents: [{ input: { content: "one two" } }] });
    expect(calls).toHaveLength(2);
    const steps = new Map(saved.map((name, i) => [name, { id: `stored ${i}` }]));
    expect(await run(handler, { ...over, steps })).toMatchObject({ intents: [{ input: { content: "stored 0 stored 1" } }] });
    expect(calls).toHaveLength(2);
  });

  test("that the quota cannot afford suspends the run, and no catch goes on without its value", async () => {
    const seen: string[] = [];
    const result = await run(
      async (act) => {
        try {
          await act.read.post("p1");
        } catch {
          seen.push("caught");
        }
        seen.push("went on");
      },
      { read: async () => ({ suspendedUntil: 500, reason: "the quota is used" }) },
    );
    expect([result, seen]).toEqual([{ kind: "suspended", until: 500, reason: "the quota is used" }, []]);
  });

  test("of a write, or of what the network lacks, is refused without a request", async () => {
    const { calls, over } = reading([]);
    expect(await run((act) => act.read.perform("posts.create", {}), over)).toMatchObject({ error: { code: "operation_is_write" } });
    expect(await run((act) => act.read.searchWeb("csv"), over)).toMatchObject({ error: { code: "operation_unsupported" } });
    expect(calls).toEqual([]);
  });
});

test("nothing is decided, read or stepped after the handler has returned", async () => {
  const kept: { act?: Act } = {};
  await run((act) => void (kept.act = act));
  expect(() => kept.act?.vote("p1")).toThrow("after the handler returned");
  await expect(kept.act?.read.post("p1")).rejects.toMatchObject({ code: "act_closed" });
  await expect(kept.act?.step("a", () => 1)).rejects.toMatchObject({ code: "act_closed" });
  expect(() => kept.act && (kept.act.state = {})).toThrow("after the handler returned");
});

test("a state that is no object, or too large, fails the handling", async () => {
  expect(await run((act) => void (act.state = [] as never))).toMatchObject({ error: { code: "state_invalid" } });
  expect(await run((act) => void (act.state = { text: "x".repeat(300_000) }))).toMatchObject({ error: { code: "value_invalid" } });
});

test("chance and time are the same on every re-run", async () => {
  const handler = (act: Act) => void act.post(`${act.now} ${act.random()} ${act.random()}`);
  const [one, other] = [await run(handler), await run(handler)];
  expect(one).toMatchObject({ kind: "finished" });
  expect(JSON.stringify(one).replaceAll(/"id":"[^"]+"/g, "")).toBe(JSON.stringify(other).replaceAll(/"id":"[^"]+"/g, ""));
});

test("a fetch ends with its run, unless it has a signal of its own", async () => {
  const signals: (AbortSignal | null | undefined)[] = [];
  const fetch: RunRequest["fetch"] = async (_input, init) => {
    signals.push(init?.signal);
    return new Response("ok");
  };
  const own = new AbortController();
  await run(
    async (act) => {
      await act.fetch("https://model.example");
      await act.fetch("https://model.example", { signal: own.signal });
    },
    { fetch },
  );
  own.abort();
  expect(signals.map((signal) => signal?.aborted)).toEqual([true, true]);
  expect(signals[1]?.reason).toBe(own.signal.reason);
});
