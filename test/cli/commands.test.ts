/** Commands over a live runtime, and over its store once it is gone: real processes, nothing stubbed. */
import { rmSync, writeFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, type TestContext } from "vitest";
import { isObject, type JsonObject } from "../../src/core/json.ts";
import { retinue } from "../harness/cli.ts";
import { became, folder, start, textIn, type Process } from "../harness/process.ts";

const TALKER = `
import { defineSpecialist } from "retinue";
export default defineSpecialist({
  handle: "talker",
  tier: "pro",
  watch: { feed: { from: "start" } },
  may: ["posts.reply", "posts.create"],
  brakes: { repliesPerHour: 1000, sameTextWithin: 0 },
  on: { "post.created": (post, act) => { act.reply(post, "Hello, I read " + post.id); } },
});
`;
const CAREFUL = `
import { defineSpecialist } from "retinue";
export default defineSpecialist({
  handle: "careful",
  tier: "pro",
  may: ["posts.create"],
  review: ["posts.create"],
  schedules: { notes: { every: "1s", run: (act) => { act.post("A note made at " + act.now); } } },
});
`;

interface World {
  readonly root: string;
  readonly demo: Process;
  /** Runs a command on the demo's store, and gives its one object. */
  readonly ask: (...args: readonly string[]) => Promise<{ readonly code: number | null; readonly said: JsonObject }>;
}

async function world(context: TestContext): Promise<World> {
  const root = folder(context);
  mkdirSync(join(root, "agents"));
  writeFileSync(join(root, "agents/talker.ts"), TALKER);
  writeFileSync(join(root, "agents/careful.ts"), CAREFUL);
  const store = `sqlite:${join(root, "store.sqlite")}`;
  const demo = start(context, ["demo", "--data", join(root, "network.sqlite"), "--store", store], { cwd: root });
  await demo.saying(became("confirmed", "posts.reply"));
  return {
    root,
    demo,
    async ask(...args) {
      const { code, stdout } = await retinue([...args, "--store", store, "--json"], { cwd: root });
      const said: unknown = JSON.parse(stdout);
      return { code, said: isObject(said) ? said : {} };
    },
  };
}

const isDefinition = (text: string) => (said: JsonObject) => said["type"] === "definition" && textIn(said, "message").includes(text);
const settled = (said: JsonObject): boolean =>
  said["type"] === "intent" && said["state"] === "confirmed" && textIn(said, "operation").startsWith("posts.");

describe("a live runtime", () => {
  test.concurrent("says how it stands, is stopped, lifted and asked by commands", async (context) => {
    const { demo, ask, root } = await world(context);
    const status = await ask("status");
    expect(status).toMatchObject({ code: 0, said: { ok: true, running: { pid: demo.pid, set: "b" }, halts: [] } });
    const handles = (status.said["specialists"] as JsonObject[]).map(({ handle }) => handle);
    expect(handles).toEqual(["careful", "talker"]);

    const called = await ask("call", "posts.create", "--as", "talker", "--input", '{"content": "By hand"}');
    expect(called).toMatchObject({ code: 0, said: { ok: true, kind: "write", state: "confirmed", created: expect.any(String) } });
    const read = await ask("call", "posts.get", textIn(called.said, "created"), "--as", "talker");
    expect(read).toMatchObject({ code: 0, said: { kind: "read", value: { content: "By hand", authorHandle: "talker" } } });
    const forbidden = await ask("call", "posts.vote", textIn(called.said, "created"), "--as", "talker");
    expect(forbidden).toMatchObject({ code: 1, said: { ok: false, state: "refused", code: "not_allowed" } });
    expect(await ask("call", "posts.reply", "--as", "talker", "--input", '{"content": "to whom?"}')).toMatchObject({ code: 2 });

    expect(await ask("halt", "--reason", "enough")).toMatchObject({ code: 0, said: { ok: true, inFlight: expect.any(Array) } });
    const halted = await ask("call", "posts.create", "--as", "talker", "--input", '{"content": "Too late"}');
    expect(halted).toMatchObject({ code: 1, said: { ok: false, state: "ready", code: "halted" } });
    const late = textIn(halted.said, "intent");
    const why = await ask("why", late);
    expect(why.said).toMatchObject({ about: "intent", state: "ready", reasons: [{ rule: "halted", message: "halted: enough" }] });
    const before = demo.said.filter(settled).length;
    expect(await ask("call", "posts.list", "--as", "talker")).toMatchObject({ code: 0 }); // reads go on
    expect(demo.said.filter(settled).length).toBe(before);
    expect(await ask("halt", "--lift")).toMatchObject({ code: 0 });
    await demo.saying(({ type, id, state }) => type === "intent" && id === late && state === "confirmed");

    const page = await ask("log", "--as", "talker", "--kind", "posts", "--lines", "2");
    expect(page.said).toMatchObject({ entries: [{ handle: "talker" }, { handle: "talker" }], next: expect.any(Number) });
    const copy = join(root, "copy.sqlite");
    expect(await ask("backup", copy)).toMatchObject({ code: 0, said: { file: copy } });
    expect(await ask("backup", copy)).toMatchObject({ code: 2, said: { error: { code: "backup_exists" } } });
    expect(await ask("pause", "nobody")).toMatchObject({ code: 2, said: { error: { code: "specialist_unknown" } } });
  });

  test.concurrent("holds what is reviewed until the Guardian's word, also over its end", async (context) => {
    const { demo, ask, root } = await world(context);
    const first = await demo.saying(became("proposed", "posts.create"));
    const id = textIn(first, "id");
    const why = await ask("why", id);
    expect(why.said).toMatchObject({ state: "proposed", reasons: [{ rule: "approval_wanted" }], hint: expect.stringContaining(id) });
    expect(why.said).toMatchObject({ input: { content: expect.stringContaining("A note made at") }, event: { kind: "schedule:notes" } });
    expect(await ask("approve", id)).toMatchObject({ code: 2, said: { error: { code: "option_missing" } } });
    const { approval } = why.said;
    const hash = isObject(approval) ? textIn(approval, "hash") : "";
    expect(await ask("approve", id, "--hash", hash)).toMatchObject({ code: 0, said: { ok: true, approval: { hash } } });
    await demo.saying((said) => said["id"] === id && said["state"] === "confirmed");
    expect(await ask("approve", id, "--yes")).toMatchObject({ code: 1, said: { error: { code: "approval_over" } } });
    const second = await demo.saying((said) => became("proposed", "posts.create")(said) && said["id"] !== id);
    expect(await ask("pause", "careful")).toMatchObject({ code: 0 });

    demo.kill("SIGTERM");
    expect((await demo.ended).code).toBe(0);
    const offline = await ask("status");
    expect(offline.said["running"]).toBeUndefined();
    expect(offline.said).toMatchObject({ pauses: [{ scope: "careful" }] });
    const other = textIn(second, "id");
    expect(await ask("reject", other, "--reason", "too long")).toMatchObject({ code: 0 });
    expect((await ask("why", other)).said).toMatchObject({
      state: "cancelled",
      reasons: [{ rule: "approval_rejected", message: "too long" }],
    });
    expect(await ask("resume", "careful")).toMatchObject({ code: 0 });
    expect(await ask("log", "--follow")).toMatchObject({ code: 2, said: { error: { code: "not_running" } } });
    rmSync(join(root, "agents/talker.ts")); // a store is understood without its definitions
    expect(await ask("status")).toMatchObject({ code: 0 });
  });

  test.concurrent("takes changed definitions, keeps the last good one, retires removed ones", async (context) => {
    const { demo, root, ask } = await world(context);
    writeFileSync(join(root, "agents/talker.ts"), "export default {{");
    const broken = await demo.saying(isDefinition("cannot be used"));
    expect(broken).toMatchObject({
      handle: "talker",
      message: expect.stringMatching(/^keeps its last working definition: agents\/talker\.ts:1(?::\d+)? /),
    });
    const seen = demo.said.length;
    await demo.saying((said) => demo.said.indexOf(said) > seen && became("confirmed", "posts.reply")(said));
    writeFileSync(join(root, "agents/talker.ts"), TALKER.replace('act.reply(post, "Hello, ', 'act.post("'));
    await demo.saying(isDefinition("has a new definition"));
    await demo.saying((said) => became("confirmed", "posts.create")(said) && said["handle"] === "talker");
    rmSync(join(root, "agents/careful.ts"));
    expect(await demo.saying(isDefinition("is no longer defined"))).toMatchObject({ handle: "careful" });
    const why = { state: "waiting", reasons: expect.arrayContaining([expect.objectContaining({ rule: "not_defined" })]) };
    expect(await ask("why", "careful")).toMatchObject({ said: why });
  });
});
