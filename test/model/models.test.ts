/** A model is asked under every limit: each try is paid before it leaves, and whatever it answers, nothing is lost or spent twice. */
import { describe, expect, test } from "vitest";
import { Secret } from "../../src/core/secret.ts";
import { MINUTE, SECOND } from "../../src/core/units.ts";
import { EVERYONE } from "../../src/limits/verdict.ts";
import type { HandlerRead } from "../../src/specialist/run-request.ts";
import { CAP_MICROS, modelDesk } from "../harness/model-desk.ts";

/** 100 tokens in for 1, 20 out for 2. */
const COST = 140;

const waits = (result: HandlerRead): number => ("suspendedUntil" in result ? result.suspendedUntil - Date.now() : -1);

test("the cost of a call is what the provider tells, and nothing stays held", async () => {
  const desk = await modelDesk({ script: "Two minutes." });
  expect(await desk.ask()).toMatchObject({
    value: { actions: [{ operation: "posts.reply", input: { content: "Two minutes." } }], cost: `${COST / 1_000_000} usd` },
  });
  expect(await desk.spent()).toEqual([0, COST]);
});

test("use that is not told counts as all of the hold", async () => {
  const desk = await modelDesk({ script: { text: "Two minutes.", use: "none" } });
  expect(await desk.ask()).toMatchObject({ value: { actions: [{}], cost: "not told, so all that was held" } });
  const [held, posted] = await desk.spent();
  expect([held, posted > COST]).toEqual([0, true]);
});

test("the worst case is held while the model thinks", async () => {
  const { promise: thinking, resolve: think } = Promise.withResolvers<string>();
  const asked = Promise.withResolvers<void>();
  const desk = await modelDesk({
    script: () => {
      asked.resolve();
      return thinking;
    },
  });
  const answered = desk.ask();
  await asked.promise;
  const [held, posted] = await desk.spent();
  const body = desk.model.requests[0]?.body ?? "";
  expect(held).toBe(Buffer.byteLength(body) + 1_024 + 2 * 1_024);
  expect(posted).toBe(0);
  think("Two minutes.");
  await answered;
  expect(await desk.spent()).toEqual([0, COST]);
});

describe("an answer that is none", () => {
  const usable = { status: 200, body: "{}" };
  test.each([
    ["HTML", { body: "<!doctype html><title>Log in</title>" }],
    ["nothing", { body: "" }],
    ["another form", usable],
    ["no choices", { body: '{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1}}' }],
    ["10 MB", { body: "x".repeat(10 * 1_024 * 1_024) }],
  ])("%s: is taught, counts as spent, and is tried again later", async (_what, script) => {
    const desk = await modelDesk({ script });
    await expect(desk.ask()).rejects.toMatchObject({
      code: "model_unusable_answer",
      message: expect.stringContaining('"small"') as string,
    });
    const [held, posted] = await desk.spent();
    expect([held, posted > 0]).toEqual([0, true]);
    expect(desk.model.requests).toHaveLength(1);
  });

  test("a request that the provider refuses is refused, and costs nothing", async () => {
    const desk = await modelDesk({ script: { status: 400, text: "the context is too long" } });
    await expect(desk.ask()).rejects.toMatchObject({
      code: "model_refused_request",
      message: expect.stringContaining("too long") as string,
    });
    expect(await desk.spent()).toEqual([0, 0]);
  });
});

test("endless calls of tools and invented operations: one request, ten actions at most, and the rest is told", async () => {
  const reply = (n: number) => ({ name: "posts.reply", input: { content: `Answer ${n}.` } });
  const invented = { name: "agents.delete", input: {} };
  const desk = await modelDesk({ script: { calls: [invented, ...Array.from({ length: 5_000 }, (_, n) => reply(n))] } });
  const { value } = (await desk.ask()) as { readonly value: { readonly actions: readonly object[]; readonly dropped: readonly object[] } };
  expect(value.actions).toHaveLength(10);
  expect(value.dropped.length).toBeLessThan(20);
  expect(JSON.stringify(value.dropped)).toContain("no such tool");
  expect(desk.model.requests).toHaveLength(1);
});

describe("a model that cannot answer now", () => {
  test.each([
    [429, { "retry-after": "120" }, 120 * SECOND, 0],
    [529, {}, 5 * SECOND, 0],
    [503, { "retry-after": "30" }, 30 * SECOND, 0],
    [500, {}, 5 * SECOND, 1],
    [502, { "retry-after": "7" }, 7 * SECOND, 1],
    [401, {}, 5 * SECOND, 0],
    [404, {}, 5 * SECOND, 0],
  ])("%i: the event waits, each try is paid by what it may have cost, and the model rests", async (status, headers, waitMs, paid) => {
    const desk = await modelDesk({ script: { status, headers, text: "not now" } });
    const first = await desk.ask();
    expect(waits(first)).toBeGreaterThan(waitMs - 3 * SECOND);
    expect(waits(first)).toBeLessThanOrEqual(waitMs);
    const again = await desk.ask();
    expect(waits(again)).toBeGreaterThan(0);
    expect(desk.model.requests).toHaveLength(1);
    const [held, posted] = await desk.spent();
    expect([held, Math.sign(posted)]).toEqual([0, paid]);
    expect(desk.models.waits()).toMatchObject([{ model: "small", message: expect.stringContaining(`(${status}: not now)`) as string }]);
  });

  test("the wait grows with each failure, and ends with the first answer", async () => {
    const desk = await modelDesk({ script: [{ status: 500 }, { status: 500 }, { status: 500 }, "Two minutes."] });
    for (const waitMs of [5, 10, 20]) {
      const result = await desk.ask();
      if (!("suspendedUntil" in result)) throw new Error("expected a wait");
      desk.pass(waitMs * SECOND + SECOND);
    }
    expect(await desk.ask()).toHaveProperty("value");
    expect(desk.models.waits()).toEqual([]);
    expect(desk.model.requests).toHaveLength(4);
  });

  test("nobody there: nothing was sent, so nothing is paid", async () => {
    const desk = await modelDesk({ script: "-" });
    await desk.model.close();
    expect(await desk.ask()).toMatchObject({ reason: expect.stringContaining("cannot be reached") as string });
    expect(await desk.spent()).toEqual([0, 0]);
  });

  test("a model that hangs is left at its deadline, and counts as spent", async () => {
    const desk = await modelDesk({ script: { hangs: true }, config: { timeout: "1s" } });
    expect(await desk.ask()).toMatchObject({ reason: expect.stringContaining("no complete answer within 1s") as string });
    expect((await desk.spent())[1]).toBeGreaterThan(0);
  });

  test("a call that is aborted counts as spent", async () => {
    const abort = new AbortController();
    const desk = await modelDesk({
      script: () => {
        abort.abort(new Error("stopped"));
        return { hangs: true };
      },
    });
    await expect(desk.ask("?", desk.member, abort.signal)).rejects.toThrow("stopped");
    const [held, posted] = await desk.spent();
    expect([held, posted > 0]).toEqual([0, true]);
  });
});

describe("keys", () => {
  test("a refused key is named by its variable, never shown; a new one is tried at once", async () => {
    const keys: { [name: string]: string } = { RETINUE_MODEL_KEY: "sk-old-0123456789" };
    const desk = await modelDesk({
      script: ({ key }) => (key === "sk-new-0123456789" ? "Two minutes." : { status: 401, text: `wrong key ${key}` }),
      config: { key: "RETINUE_MODEL_KEY" },
      keys,
    });
    const refused = await desk.ask();
    expect(JSON.stringify(refused)).toContain("RETINUE_MODEL_KEY is refused");
    expect(JSON.stringify(refused)).not.toContain("sk-old");
    expect(await desk.ask()).toHaveProperty("suspendedUntil");
    expect(desk.model.requests).toHaveLength(1);
    keys["RETINUE_MODEL_KEY"] = "sk-new-0123456789";
    expect(await desk.ask()).toHaveProperty("value");
    expect(desk.model.requests[1]?.key).toBe("sk-new-0123456789");
  });

  test("without its key nothing is sent", async () => {
    const desk = await modelDesk({ script: "-", config: { key: "RETINUE_MODEL_KEY" } });
    expect(await desk.ask()).toMatchObject({ reason: expect.stringContaining("no key in RETINUE_MODEL_KEY") as string });
    expect(desk.model.requests).toEqual([]);
  });

  test("no key that the process knows reaches a model, or comes back from one", async () => {
    const secret = "sk_live_abcdefghijklmnop";
    const desk = await modelDesk({ script: ({ message }) => `You said ${secret}, and ${message.slice(0, 20)}` });
    desk.scrubber.add(new Secret(secret));
    expect(await desk.ask(`my key is ${secret}`)).toMatchObject({
      value: { actions: [], dropped: [{ why: "it holds a key or another secret" }] },
    });
    expect(desk.model.requests[0]?.body).not.toContain(secret);
  });
});

describe("limits", () => {
  test("no model is asked while everything is halted, and a call costs no more than a cap", async () => {
    let halted = true;
    const halt = { scope: EVERYONE, since: 0, reason: "look first" };
    const desk = await modelDesk({ script: "Two minutes.", halt: () => (halted ? halt : undefined) });
    expect(await desk.ask()).toMatchObject({ reason: expect.stringContaining("halted: look first") as string });
    expect(desk.model.requests).toEqual([]);
    expect(desk.models.waits()).toMatchObject([{ handle: "helper", code: "halted" }]);
    halted = false;
    expect(await desk.ask()).toHaveProperty("value");
    expect(desk.models.waits()).toEqual([]);
  });

  test("a cap below one call is refused, with the cap in the message", async () => {
    const desk = await modelDesk({ script: "-", capMicros: 100 });
    await expect(desk.ask()).rejects.toMatchObject({ code: "spend_over_cap", message: expect.stringContaining("0.0001 usd") as string });
    expect(desk.model.requests).toEqual([]);
  });

  test("a cap that is reached lets the event wait, and a raised one counts within a quarter of an hour", async () => {
    const desk = await modelDesk({ script: { text: "Two minutes.", use: { input: 3_000, output: 0 } }, capMicros: 7_000 });
    expect(await desk.ask()).toHaveProperty("value");
    const second = await desk.ask();
    expect(waits(second)).toBeGreaterThan(MINUTE);
    expect(waits(second)).toBeLessThanOrEqual(15 * MINUTE);
    expect((desk.models.waits()[0]?.until ?? 0) - Date.now()).toBeGreaterThan(60 * MINUTE);
    expect(second).toMatchObject({ reason: expect.stringContaining("0.003 usd of the 0.007 usd") as string });
  });

  test("a thousand calls at once never pass a cap", async () => {
    let used = 0;
    const desk = await modelDesk({
      script: () => {
        used += 3_000 + 2 * 500;
        return { text: "Two minutes.", use: { input: 3_000, output: 500 } };
      },
      config: { concurrency: 100 },
      capMicros: CAP_MICROS / 10,
    });
    const members = Array.from({ length: 20 }, (_, i) => desk.another(`helper${i}`));
    const results = await Promise.all(Array.from({ length: 1_000 }, (_, i) => desk.ask(`Question ${i}?`, members[i % 20])));
    expect(results.filter((result) => "value" in result)).toHaveLength(desk.model.requests.length);
    expect(desk.model.requests.length).toBeGreaterThan(5);
    expect(used).toBeLessThanOrEqual(CAP_MICROS / 10);
    const rest = await desk.ask("One more?", members[0]);
    expect(rest).toHaveProperty("suspendedUntil");
  });

  test("instructions that leave no room for the event are refused before anything is paid", async () => {
    const desk = await modelDesk({ script: "-", config: { context: 2_000, output: 500 } });
    await expect(desk.ask()).rejects.toMatchObject({ code: "model_context_small", message: expect.stringContaining("helper") as string });
    expect(await desk.spent()).toEqual([0, 0]);
  });

  test("more calls than a model has places wait outside, without a place in line", async () => {
    const { promise: thinking, resolve: think } = Promise.withResolvers<string>();
    const desk = await modelDesk({ script: () => thinking, config: { concurrency: 2 } });
    const calls = Array.from({ length: 6 }, () => desk.ask());
    const early = await Promise.race(calls);
    expect(early).toMatchObject({ reason: expect.stringContaining("4 calls of the model") as string });
    think("Two minutes.");
    const results = await Promise.all(calls);
    expect(results.filter((result) => "value" in result)).toHaveLength(4);
  });
});
