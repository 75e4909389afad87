/** A mistake in a user's test is taught where types are not checked, as under Node's own runner: no test passes because it tests nothing. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";
import { defineSpecialist } from "../../src/index.ts";
import { handle, job, loadSpecialist, post, record, replay, scriptedModel, simulate, stage } from "../../src/testing.ts";
import { project } from "../harness/project.ts";

const hello = defineSpecialist({
  handle: "hello",
  tier: "pro",
  may: ["posts.reply"],
  on: { "post.created": (one, act) => void act.reply(one, "Welcome!") },
});

type Anything = never;
/** A value that types would refuse. */
const untyped = (value: unknown): Anything => value as Anything;
const handled = (definition: unknown, payload: unknown, options: object = {}) =>
  handle(untyped(definition), "post.created", untyped(payload), options);

describe("a definition that is none is told as what it is:", () => {
  test.each([
    ["a promise", Promise.resolve(hello), { code: "default_async", details: { hint: "await it" } }],
    ["a whole module", { default: hello }, { code: "default_missing", details: { hint: expect.stringContaining("import hello from") } }],
    ["a function", () => hello, { code: "definition_invalid", message: expect.stringContaining("got a function") }],
    ["nothing", undefined, { code: "definition_invalid" }],
    ["a handler of an unknown event", { ...hello, on: { "post.createt": () => undefined } }, { code: "event_unknown" }],
  ])("%s", async (_what, definition, error) => {
    await expect(handled(definition, post())).rejects.toMatchObject(error);
    await expect(stage({ specialists: [untyped(definition)] })).rejects.toMatchObject(error);
  });

  test("in a simulation", async () => {
    const specialists = [untyped(Promise.resolve(hello))];
    await expect(simulate({ specialists, hours: 1 })).rejects.toMatchObject({ code: "default_async" });
  });
});

test("a misspelt option is named, with the right one", async () => {
  await expect(handled(hello, post(), { stat: {} })).rejects.toMatchObject({
    code: "key_unknown",
    message: "stat: no such option",
    details: { hint: 'did you mean "state"?' },
  });
  await expect(handled(hello, post(), { reads: { pots: [] } })).rejects.toMatchObject({
    message: "reads.pots: no such option",
    details: { hint: expect.stringMatching(/"posts?"/) },
  });
  await expect(stage(untyped({ specialists: [hello], webhook: true }))).rejects.toMatchObject({ message: "webhook: no such option" });
});

test.each([
  ["another record", job(), "got the record of a job"],
  ["a text", "post_7", "got string"],
  ["nothing", undefined, "got none"],
])("a payload that events of the kind do not have: %s", async (_what, payload, told) => {
  await expect(handled(hello, payload)).rejects.toMatchObject({
    code: "payload_invalid",
    message: expect.stringContaining(told) as string,
    details: { hint: "make one by post({ … })" },
  });
});

test("a situation or set that does not exist, and a state that is a list", async () => {
  await expect(stage({ specialists: [hello], situation: untyped("livly") })).rejects.toMatchObject({
    code: "option_invalid",
    details: { expected: expect.stringContaining("lively") },
  });
  const set = untyped("c");
  const unknown = { code: "set_unknown", details: { expected: "a or b" } };
  await expect(stage({ specialists: [hello], set })).rejects.toMatchObject(unknown);
  await expect(simulate({ specialists: [hello], set, hours: 1 })).rejects.toMatchObject(unknown);
  await expect(handled(hello, post(), { set })).rejects.toMatchObject(unknown);
  await expect(handled(hello, post(), { state: [1] })).rejects.toMatchObject({ code: "state_invalid" });
});

test("a recording that was never made, and one of a handler that is gone", async () => {
  await expect(replay(hello, untyped(null))).rejects.toMatchObject({ code: "recording_invalid" });
  await expect(replay({ ...hello, on: {} }, await record(hello, "post.created", post()))).rejects.toMatchObject({
    code: "handler_missing",
  });
});

test("an assertion that is given a promise, or another condition, fails as that", async () => {
  await using town = await stage({ specialists: [hello] });
  const asked = town.post({ content: "hello" });
  await expect(town.repliesOnceTo(untyped(asked))).rejects.toThrow("expected a post, got a promise: await it");
  await asked;
  await expect(town.repliesOnceTo(untyped(undefined))).rejects.toThrow("expected a post, got undefined");
  await expect(town.sendsNothingWhile(untyped("paused"))).rejects.toThrow('expected "halted", got "paused"');
});

test("no time passes on a stage that has ended", async () => {
  const town = await stage({ specialists: [hello] });
  await town.stop();
  await expect(town.advance("1h")).rejects.toThrow("the stage has ended");
});

test("a specialist that no test can import is loaded from its file, and each mistake in it is told", async () => {
  const { root } = project({
    "agents/guide.md": "---\nhandle: guide\nmay: [posts.reply]\nmodel: small\n---\nAnswer questions about trains.\n",
    "agents/wrong.md": "---\nhandle: guide\nmya: [posts.reply]\n---\n",
  });
  const guide = await loadSpecialist(pathToFileURL(join(root, "agents/guide.md")));
  await using model = await scriptedModel("At nine.");
  const models = { small: model.settings() };
  const { intents } = await handle(guide, "mention.created", post({ content: "When?" }), { models });
  expect(intents).toMatchObject([{ operation: "posts.reply", input: { content: "At nine." } }]);
  expect(model.requests[0]?.instructions).toContain("Answer questions about trains.");
  await using town = await stage({ specialists: [guide], models });
  expect(await town.intents()).toEqual([]);
  await expect(loadSpecialist(join(root, "agents/wrong.md"))).rejects.toMatchObject({ code: "key_unknown" });
});
