/** `retinue rehearse` and `log --record`: an event of a real store, handled once more, with nothing sent or stored. */
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { systemClock } from "../../src/core/clock.ts";
import { asEventId, asHandle } from "../../src/core/ids.ts";
import { seededRandom } from "../../src/core/random.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { scriptedModel } from "../../src/testing.ts";
import { inProcess } from "../harness/cli.ts";
import { project, type Project } from "../harness/project.ts";
import { spentBy } from "../harness/spent-by.ts";

const DEFINITION = `
export default {
  handle: "scout",
  may: ["posts.reply"],
  initialState: { answered: 0 },
  on: {
    "post.created": async (post, act) => {
      const { replyCount } = await act.read.post(post);
      const text = await act.step("think", async () => (await act.fetch("https://model.example/")).text());
      act.log.info("thought", { replyCount });
      act.reply(post, text, { key: "answer" });
      act.post("not allowed");
      act.state = { answered: Number(act.state.answered) + 1 };
    },
    "post.liked": (like) => {
      throw new TypeError("no handling of " + like.postId);
    },
    "follower.new": () => undefined,
  },
};
`;
const EVENT = {
  recording: 1,
  handle: "scout",
  event: {
    id: "post.created:post_7",
    kind: "post.created",
    at: Date.UTC(2026, 10, 21),
    payload: { kind: "post", id: "post_7", authorHandle: "ada", raw: {} },
  },
};
const ANSWERS = {
  reads: [{ operation: "posts.get", value: { kind: "post", id: "post_7", replyCount: 3, raw: {} } }],
  fetch: [{ url: "https://model.example/", text: "An answer." }],
};

/** A project whose store holds the event, as the specialist found it. */
async function withStore(...handles: readonly string[]): Promise<Project> {
  const made = project({ "agents/scout.mjs": DEFINITION });
  mkdirSync(join(made.root, ".retinue"));
  const clock = systemClock();
  const store = openSqliteStore({ path: join(made.root, ".retinue/store.sqlite"), clock, random: seededRandom(1) });
  for (const handle of handles) {
    const { id, kind, payload } = EVENT.event;
    await store.putEvents(
      { events: [{ specialist: asHandle(handle), id: asEventId(id), kind, payload, via: "poll", hops: 0 }] },
      clock.now(),
    );
  }
  await store.close();
  return made;
}

test("an event of the store is recorded, and its recording is rehearsed with the answers that it is given", async () => {
  const { root, write } = await withStore("scout");
  const recorded = await inProcess(["log", "--record", "post.created:post_7"], { cwd: root });
  expect([recorded.code, recorded.stderr]).toEqual([0, ""]);
  const recording: object = JSON.parse(recorded.stdout);
  expect(recording).toEqual({ ...EVENT, event: { ...EVENT.event, at: expect.any(Number) } });
  write("event.json", JSON.stringify({ ...recording, ...ANSWERS, state: { answered: 4 } }));
  const before = readFileSync(join(root, ".retinue/store.sqlite"));
  const { code, stdout, stderr } = await inProcess(["rehearse", "scout", "event.json"], { cwd: root });
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).toBe(
    [
      "scout handles post.created:post_7",
      "Reads",
      "  posts.get post_7",
      "Steps",
      '  think: "An answer."',
      "Log",
      `  info fetch {"method":"GET","address":"https://model.example/","number":1,"status":200,"tookMs":0}`,
      '  info thought {"replyCount":3}',
      "Actions",
      "  would do posts.reply post_7",
      "  │ An answer.",
      "  may not do posts.create  (not_allowed: scout may not do posts.create on set-b: it is not in `may`)",
      "  │ not allowed",
      "State",
      '  {"answered":4}',
      '  becomes {"answered":5}',
      "nothing was sent or stored",
      "",
    ].join("\n"),
  );
  expect(readFileSync(join(root, ".retinue/store.sqlite")).equals(before)).toBe(true);
});

test("an event is rehearsed by its id, and what its handler lacks is told", async () => {
  const { root } = await withStore("scout");
  const { code, stdout } = await inProcess(["rehearse", "scout", "post.created:post_7"], { cwd: root });
  expect(code).toBe(1);
  expect(stdout).toMatch(
    /It fails[^\n]*: the file has no answer to posts\.get post_7\n +try add \{ "operation": "posts\.get", "value": … \} to its reads/,
  );
  expect(stdout).toContain("nothing was sent or stored");
});

test("for programs it is one object", async () => {
  const { root, write } = project({ "agents/scout.mjs": DEFINITION });
  write("event.json", JSON.stringify({ ...EVENT, ...ANSWERS }));
  const { code, stdout, stderr } = await inProcess(["rehearse", "scout", "event.json", "--json"], { cwd: root });
  expect([code, stderr]).toEqual([0, ""]);
  expect(JSON.parse(stdout)).toMatchObject({
    ok: true,
    handle: "scout",
    intents: [
      { state: "ready", operation: "posts.reply", target: "post_7", key: "answer" },
      { state: "refused", code: "not_allowed" },
    ],
    steps: { think: "An answer." },
    before: { answered: 0 },
    state: { answered: 1 },
  });
});

test("a step of the recording is not run again", async () => {
  const { root, write } = project({ "agents/scout.mjs": DEFINITION });
  write("event.json", JSON.stringify({ ...EVENT, reads: ANSWERS.reads, steps: { think: "Known." } }));
  const { stdout } = await inProcess(["rehearse", "scout", "event.json"], { cwd: root });
  expect(stdout).toContain("│ Known.");
  expect(stdout).not.toContain("Steps");
});

test("a handler that throws is shown with its place, and ends with 1", async () => {
  const { root, write } = project({ "agents/scout.mjs": DEFINITION });
  write("event.json", JSON.stringify({ recording: 1, event: { kind: "post.liked", payload: { postId: "post_9" } } }));
  const { code, stdout } = await inProcess(["rehearse", "scout", "event.json"], { cwd: root });
  expect(code).toBe(1);
  expect(stdout).toMatch(/It fails at agents\/scout\.mjs:16: no handling of post_9\n/);
  const said = await inProcess(["rehearse", "scout", "event.json", "--json"], { cwd: root });
  expect(JSON.parse(said.stdout)).toMatchObject({
    ok: false,
    error: { code: "handler_threw", message: "no handling of post_9", line: 16 },
  });
});

test("a handler that decides nothing says so", async () => {
  const { root, write } = project({ "agents/scout.mjs": DEFINITION });
  write("event.json", JSON.stringify({ recording: 1, event: { kind: "follower.new", payload: { kind: "agent", id: "a1", raw: {} } } }));
  expect((await inProcess(["rehearse", "scout", "event.json"], { cwd: root })).stdout).toContain("It decides on no action.");
});

test("texts of others cannot steer the terminal", async () => {
  const { root, write } = project({ "agents/scout.mjs": DEFINITION });
  const hostile = "\u001b[2J\u202e";
  const reads = [{ operation: "posts.get", value: { kind: "post", id: "p", raw: {}, replyCount: hostile } }];
  write("event.json", JSON.stringify({ ...EVENT, reads, steps: { think: hostile } }));
  const { stdout } = await inProcess(["rehearse", "scout", "event.json"], { cwd: root });
  expect(stdout).toContain("\\u001b[2J");
  expect(stdout).not.toContain("\u001b");
});

test("a secret that an action would hold fails the rehearsal, and is not shown", async () => {
  const secret = "sk-model-0123456789abcdef";
  const { root, write } = project({
    "agents/scout.mjs": DEFINITION.replace('handle: "scout",', 'handle: "scout", secrets: ["MODEL_KEY"],'),
    ".env": `MODEL_KEY=${secret}\n`,
  });
  write("event.json", JSON.stringify({ ...EVENT, reads: ANSWERS.reads, steps: { think: `my key is ${secret}` } }));
  const { code, stdout } = await inProcess(["rehearse", "scout", "event.json"], { cwd: root });
  expect([code, stdout.includes(secret)]).toEqual([1, false]);
});

describe("a mistake is taught:", () => {
  const told = async (files: { readonly [path: string]: string }, ...args: readonly string[]) => {
    const { root } = project({ "agents/scout.mjs": DEFINITION, ...files });
    const { code, stdout } = await inProcess([...args, "--json"], { cwd: root });
    return { code, ...(JSON.parse(stdout) as { readonly error: object }).error };
  };

  test("a recording of another version", async () => {
    const files = { "event.json": JSON.stringify({ ...EVENT, recording: 2 }) };
    expect(await told(files, "rehearse", "scout", "event.json")).toMatchObject({
      code: "recording_invalid",
      message: expect.stringContaining("recording"),
      expected: "1, the form of file that this version reads",
    });
  });

  test("a file that is none, a misspelt field, an answer without an operation", async () => {
    expect(await told({}, "rehearse", "scout", "event.json")).toMatchObject({ hint: expect.stringContaining("create it") });
    expect(await told({ "event.json": "<html>" }, "rehearse", "scout", "event.json")).toMatchObject({ line: 1 });
    const misspelt = { "event.json": JSON.stringify({ ...EVENT, raeds: [] }) };
    expect(await told(misspelt, "rehearse", "scout", "event.json")).toMatchObject({
      code: "key_unknown",
      hint: expect.stringContaining("reads"),
    });
    const nameless = { "event.json": JSON.stringify({ ...EVENT, reads: [{ value: 1 }] }) };
    expect(await told(nameless, "rehearse", "scout", "event.json")).toMatchObject({ code: "recording_invalid" });
  });

  test("an unknown specialist, and an event that it does not handle", async () => {
    const files = { "event.json": JSON.stringify(EVENT) };
    expect(await told(files, "rehearse", "scuot", "event.json")).toMatchObject({
      code: "specialist_unknown",
      hint: 'did you mean "scout"?',
    });
    const other = { "event.json": JSON.stringify({ ...EVENT, event: { ...EVENT.event, kind: "job.paid" } }) };
    expect(await told(other, "rehearse", "scout", "event.json")).toMatchObject({
      code: "handler_missing",
      expected: "post.created or post.liked or follower.new",
    });
  });

  test("an event that is not stored, and one of several specialists", async () => {
    const { root } = await withStore("scout", "quill");
    const unknown = await inProcess(["log", "--record", "post.created:post_8"], { cwd: root });
    expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('there is no event "post.created:post_8"')]);
    const shared = await inProcess(["log", "--record", "post.created:post_7"], { cwd: root });
    expect(shared.stderr).toMatch(/reached (?:scout, quill|quill, scout)[\s\S]*--as/);
    const one = await inProcess(["log", "--record", "post.created:post_7", "--as", "quill"], { cwd: root });
    expect(JSON.parse(one.stdout)).toMatchObject({ handle: "quill" });
  });
});

test("a tool is answered by the recording, and refused without an answer", async () => {
  const handler = `async (post, act) => void act.reply(post, (await act.tool("weather/forecast", { city: "Bern" })).text)`;
  const { root, write } = project({
    "retinue.config.yaml": "mcp: {weather: {command: /nowhere/server}}\n",
    "agents/scout.mjs": `export default { handle: "scout", may: ["posts.reply"], tools: ["weather/forecast"], on: { "post.created": ${handler} } };`,
    "event.json": JSON.stringify({ ...EVENT, tools: { "weather/forecast": "sunny" } }),
  });
  const rehearse = () => inProcess(["rehearse", "scout", "event.json", "--json"], { cwd: root });
  expect(JSON.parse((await rehearse()).stdout)).toMatchObject({ ok: true, intents: [{ input: { content: "sunny" } }] });
  write("event.json", JSON.stringify(EVENT));
  expect(JSON.parse((await rehearse()).stdout)).toMatchObject({ ok: false, error: { code: "no_tool" } });
});

describe("a model-driven specialist", () => {
  const HELPER = `
import { answer } from "retinue/model";
export default {
  handle: "helper",
  may: ["posts.reply"],
  spend: { perDay: { currency: "usd", micros: 1_000_000 } },
  instructions: "Answer questions about tea.",
  on: { "mention.created": answer({ model: "small" }) },
};
`;
  const MENTION = {
    recording: 1,
    event: {
      id: "mention.created:post_9",
      kind: "mention.created",
      at: Date.UTC(2026, 10, 21),
      payload: { kind: "post", id: "post_9", content: "How long does green tea steep?", raw: {} },
    },
  };
  const rehearsed = async (address: string, file: object, ...args: readonly string[]) => {
    const small = { provider: "openai-compatible", address, context: 8_192, prices: { input: 1, output: 2 } };
    const made = project({
      "agents/helper.mjs": HELPER,
      "retinue.config.json": JSON.stringify({ models: { small } }),
      "event.json": JSON.stringify({ ...MENTION, ...file }),
    });
    const ended = await inProcess(["rehearse", "helper", "event.json", ...args], { cwd: made.root });
    return { ...ended, ...made };
  };
  const NOWHERE = "http://127.0.0.1:9/v1";

  test("it is not asked unasked: the way to an answer is told", async () => {
    const { code, stdout } = await rehearsed(NOWHERE, {});
    expect(code).toBe(1);
    expect(stdout).toMatch(/nothing answers the model "small" here\n +try [^\n]*--ask-models/);
  });

  test("a reply in the file stands for it", async () => {
    const { code, stdout, root } = await rehearsed(NOWHERE, { models: { small: "Two minutes." } });
    expect([code, stdout]).toEqual([0, expect.stringContaining("would do posts.reply post_9\n  │ Two minutes.")]);
    expect(stdout).toContain("nothing was sent or stored\n");
    expect(existsSync(join(root, ".retinue/store.sqlite"))).toBe(false);
  });

  test("with --ask-models the real one is asked each time, and what it cost counts in the store", async () => {
    await using model = await scriptedModel(["Two minutes.", "Three minutes."]);
    const { code, stdout, root } = await rehearsed(model.address, {}, "--ask-models");
    expect([code, stdout]).toEqual([0, expect.stringContaining("│ Two minutes.")]);
    expect(stdout).toContain("nothing was sent or stored, but for the questions to models and their money");
    const again = await inProcess(["rehearse", "helper", "event.json", "--ask-models"], { cwd: root });
    expect(again.stdout).toContain("│ Three minutes.");
    const clock = systemClock();
    const store = openSqliteStore({ path: join(root, ".retinue/store.sqlite"), clock, random: seededRandom(1) });
    expect(await spentBy(store, asHandle("helper"), clock.now())).toMatchObject([{ currency: "usd", heldMicros: 0, postedMicros: 280 }]);
    await store.close();
  });

  test("a halted specialist asks no model, and a store in use is left alone", async () => {
    await using model = await scriptedModel("Two minutes.");
    const { root } = await rehearsed(model.address, {}, "--ask-models");
    expect(await inProcess(["halt", "--reason", "a test"], { cwd: root })).toMatchObject({ code: 0 });
    const halted = await inProcess(["rehearse", "helper", "event.json", "--ask-models"], { cwd: root });
    expect([halted.code, halted.stdout]).toEqual([1, expect.stringContaining("halted: a test")]);
    expect(halted.stdout).not.toContain("│"); // a wait has no place in the code
    const store = openSqliteStore({ path: join(root, ".retinue/store.sqlite"), clock: systemClock(), random: seededRandom(1) });
    const beside = await inProcess(["rehearse", "helper", "event.json", "--ask-models"], { cwd: root });
    await store.close();
    expect([beside.code, beside.stderr]).toEqual([1, expect.stringContaining("another runtime uses")]);
    expect(model.requests).toHaveLength(1);
  });
});
