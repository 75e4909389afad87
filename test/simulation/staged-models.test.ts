/** Model-driven specialists on the stage and in a simulation: a scripted model answers over HTTP, and virtual time waits for it. */
import { setImmediate } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { defineSpecialist, microDollars, type SpecialistDefinition } from "retinue";
import { answer } from "retinue/model";
import { scriptedModel, simulate, stage, type Script, type ScriptedModel, type TestStage } from "retinue/testing";
import type { ModelConfig } from "../../src/config/model-settings.ts";

const helper = defineSpecialist({
  handle: "helper",
  tier: "pro",
  may: ["posts.reply"],
  spend: { perDay: microDollars(1_000_000) },
  instructions: "Answer questions about tea.",
  on: { "post.created": answer({ model: "small" }) },
});
/** 100 tokens in for 1 millionth each, 20 out for 2. */
const PRICES = { input: 1, output: 2 };
const COST_USD = 0.00014;

interface Town {
  readonly town: TestStage;
  readonly model: ScriptedModel;
}

async function open(script: Script, config: Partial<ModelConfig> = {}, definition: SpecialistDefinition = helper): Promise<Town> {
  const model = await scriptedModel(script);
  onTestFinished(() => model.close());
  const town = await stage({ specialists: [definition], models: { small: model.settings({ prices: PRICES, ...config }) } });
  onTestFinished(() => town.stop());
  return { town, model };
}

test("a model is asked on the stage, its text is the reply, and its cost counts as spent", async () => {
  const { town, model } = await open("Two minutes.");
  const asked = await town.post({ content: "How long does green tea steep?" });
  await town.advance("10m");
  await town.repliesOnceTo(asked);
  expect(town.effects().map(({ text }) => text)).toEqual(["Two minutes."]);
  expect(model.requests.map(({ message }) => message)).toEqual([expect.stringContaining("green tea") as string]);
  expect([town.spent("helper", "usd"), town.spent("helper")]).toEqual([COST_USD, 0]);
});

test("virtual time stands still while a model thinks, so that no deadline passes", async () => {
  const { town } = await open(async () => {
    for (let turn = 0; turn < 1_000; turn++) await setImmediate(); // each would be a step of virtual time
    return "Two minutes.";
  });
  const asked = await town.post({ content: "How long?" });
  await town.advance("10m");
  await town.repliesOnceTo(asked);
  expect(town.effects()).toHaveLength(1);
});

test("a model that asks for a wait is asked again once that time has passed on the stage", async () => {
  const { town, model } = await open([{ status: 429, text: "slow down", headers: { "retry-after": "3600" } }, "Two minutes."]);
  const asked = await town.post({ content: "How long?" });
  await town.advance("50m");
  expect([model.requests.length, town.effects(), town.spent("helper", "usd")]).toEqual([1, [], 0]);
  await town.advance("30m");
  await town.repliesOnceTo(asked);
});

test("a cap in dollars holds on the stage: the next question waits until an hour has passed", async () => {
  const capped = { ...helper, tier: "starter", spend: { perHour: microDollars(5_000) } } as const;
  const { town, model } = await open("Two minutes.", { output: 100 }, capped);
  for (let i = 0; i < 40; i++) await town.post({ content: `How long does tea number ${i} steep?` });
  await town.advance("45m");
  const first = model.requests.length;
  expect(first).toBeGreaterThan(5);
  expect(first).toBeLessThan(30);
  expect(town.spent("helper", "usd")).toBeLessThanOrEqual(0.005);
  await town.advance("90m");
  expect(model.requests.length).toBeGreaterThan(first);
});

test("a crash pays once for an answer that was stored", async () => {
  const { town, model } = await open("Two minutes.", {}, { ...helper, tier: "starter" });
  const asked = await town.post({ content: "How long?" });
  await town.clock.runUntil(() => model.requests.length === 1, 600_000);
  await town.clock.runUntil(() => town.effects().length === 1, 600_000);
  town.crash();
  await town.advance("1d");
  await town.repliesOnceTo(asked);
  expect([model.requests.length, town.spent("helper", "usd")]).toEqual([1, COST_USD]);
});

test("a stage whose specialist asks a model that is not given says how to give it", async () => {
  await expect(stage({ specialists: [helper] })).rejects.toMatchObject({
    code: "model_missing",
    message: expect.stringContaining('"helper" asks the model "small"') as string,
    details: { hint: expect.stringContaining("scriptedModel") as string },
  });
});

describe("a simulation", () => {
  const options = {
    specialists: [{ ...helper, tier: "starter", brakes: { repliesPerHour: 60 } }],
    hours: 10,
    seed: 3,
    faults: { lostReplies: 0.1, crashes: 20 },
    crowd: { postsPerHour: 6 },
  } as const;

  test("asks the models that it is given, keeps every promise through faults, and is the same run for the same seed", async () => {
    const once = async () => {
      let asked = 0;
      await using model = await scriptedModel(() => `Answer number ${++asked}.`);
      return await simulate({ ...options, models: { small: model.settings({ prices: PRICES }) } });
    };
    const first = await once();
    expect([first.violations, first.errors]).toEqual([[], []]);
    expect(first.stats.intents["posts.reply confirmed"]).toBeGreaterThan(3);
    expect(first.stats.crashes).toBeGreaterThan(0);
    expect((await once()).trace).toBe(first.trace);
  });

  test("without its model it is refused", async () => {
    await expect(simulate(options)).rejects.toMatchObject({ code: "model_missing" });
  });
});
