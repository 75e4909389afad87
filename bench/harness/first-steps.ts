/** Measures of a developer's first steps: the first passing test, many edits, a week on the stage, our own cost of a model call, modules that load unused. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { checkedModels, type ModelConfig } from "../../src/config/model-settings.ts";
import { shippedProfile } from "../../src/contract/profile/profile.ts";
import { createTransport } from "../../src/client/transport.ts";
import { systemClock } from "../../src/core/clock.ts";
import { silentLogger } from "../../src/core/log.ts";
import { seededRandom } from "../../src/core/random.ts";
import { Scrubber } from "../../src/core/scrubber.ts";
import { createMember } from "../../src/gateway/member.ts";
import { limitsOf, operationRules } from "../../src/gateway/permissions.ts";
import { modelAttempt } from "../../src/model/model-fetch.ts";
import { createModels } from "../../src/model/models.ts";
import { generate } from "../../src/model/provider.ts";
import { createSpecialist } from "../../src/specialist/specialist.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { post, scriptedModel, stage } from "../../src/testing.ts";
import { shippedNode } from "./shipped.ts";
import hello from "../../templates/bot/agents/hello.ts";

const ROOT = join(import.meta.dirname, "../..");
const BIN = "bin/retinue.js";
/** Each of them uses its tier's quota: about 17 requests an hour. */
const ON_STAGE = 4;
const HOURS_A_WEEK = 168;
/** Both by turns, after one that warms them up. */
const CALL_TURNS = 5;

/** Seconds from an empty folder to the first passing test, without a network, as `npm run first-hour` takes them. */
export function firstTestS(): number {
  const { status, stdout, stderr } = spawnSync(process.execPath, ["scripts/first-hour.ts", "--short"], { cwd: ROOT, encoding: "utf8" });
  const told = /first passing test: ([\d.]+) s/.exec(stdout)?.[1];
  if (status !== 0 || told === undefined) throw new Error(`first-hour ended with ${status}: ${(stdout + stderr).slice(-2_000)}`);
  return Number(told);
}

/** Edits one after the other, and what they left behind. */
export interface Reloads {
  /** Milliseconds from the save of each edit until it is in use. */
  readonly times: readonly number[];
  readonly grownMb: number;
  readonly left: number;
}

export function reload(edits: number): Reloads {
  const { env, flags } = shippedNode();
  const args = ["--conditions=retinue-source", ...flags, "bench/subjects/reloads.ts", String(edits)];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: ROOT, encoding: "utf8", env: { ...process.env, ...env } });
  if (status !== 0) throw new Error(`the edits ended with ${status}: ${stderr.slice(-2_000)}`);
  return JSON.parse(stdout) as Reloads;
}

/** Seconds of this thread's processor, which is the time it takes where nothing else runs, and the requests of an hour. */
export async function weekOnStage(days: number): Promise<{ readonly seconds: number; readonly requestsPerHour: number }> {
  const specialists = Array.from({ length: ON_STAGE }, (_, n) => ({ ...hello, handle: `hello${n}`, tier: "free" as const }));
  const before = process.threadCpuUsage();
  await using town = await stage({ specialists, crowd: { postsPerHour: 6, posts: ["Hello, I have just joined."] } });
  await town.advance(`${days}d`);
  return { seconds: secondsSince(before), requestsPerHour: town.requests().length / ((HOURS_A_WEEK * days) / 7) };
}

/** Milliseconds of this thread's processor a call: through all of ours, and through the provider's SDK and the same server alone. */
export async function modelCall(calls: number): Promise<{ readonly ours: number; readonly sdk: number }> {
  await using model = await scriptedModel("Two minutes.");
  const clock = systemClock();
  const random = seededRandom("model call");
  const scrubber = new Scrubber();
  const transport = createTransport({ clock });
  const store = openSqliteStore({ path: ":memory:", clock, random });
  const profile = shippedProfile("b");
  const config: ModelConfig = model.settings({ prices: { input: 0, output: 0 }, perMinute: 60_000 });
  const settings = checkedModels({ small: config });
  const models = createModels({
    settings,
    readKey: () => undefined,
    profile,
    store,
    clock,
    random,
    scrubber,
    log: silentLogger(),
    caps: () => [],
    halt: () => undefined,
  });
  const specialist = createSpecialist({ handle: "helper", may: ["posts.reply"], instructions: "Answer questions about tea." });
  const member = createMember(specialist, operationRules(specialist, profile, clock), limitsOf("free", profile), clock.now());
  const payload = JSON.parse(JSON.stringify(post({ content: "How long does green tea steep?" })));
  const { signal } = new AbortController();
  const ask = async (): Promise<void> => {
    const answer = await models.ask(member, { kind: "post.created", payload }, { model: "small" }, signal);
    if (!("value" in answer)) throw new Error(`the model was not asked: ${JSON.stringify(answer)}`);
  };
  const small = settings["small"];
  if (small === undefined) throw new Error("no model is set");
  const plain = async (): Promise<void> => {
    const prompt = { instructions: "Answer questions about tea.", message: "How long does green tea steep?", data: "" };
    const admit = (): Promise<boolean> => Promise.resolve(true);
    const attempt = modelAttempt({ send: transport.send, scrubber, timeoutMs: 10_000, signal, admit });
    await generate({ settings: small, key: undefined, prompt, tools: [], send: attempt.fetch, signal });
  };
  try {
    const taken = { ours: 0, sdk: 0 };
    for (let turn = 0; turn <= CALL_TURNS; turn++) {
      const sdk = await msEach(calls / CALL_TURNS, plain);
      const ours = await msEach(calls / CALL_TURNS, ask);
      if (turn > 0) Object.assign(taken, { sdk: taken.sdk + sdk / CALL_TURNS, ours: taken.ours + ours / CALL_TURNS });
    }
    return taken;
  } finally {
    await models.close();
    await transport.close();
    await store.close();
  }
}

async function msEach(times: number, work: () => Promise<void>): Promise<number> {
  const before = process.threadCpuUsage();
  for (let i = 0; i < times; i++) await work();
  return (secondsSince(before) * 1_000) / times;
}

function secondsSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000_000;
}

const HOOK = `import { registerHooks } from "node:module";
registerHooks({ load(url, context, next) {
  if (/\\/src\\/(?:model|mcp)\\/|node_modules\\/(?:ai|@ai-sdk|@modelcontextprotocol)\\//.test(url)) process.stderr.write("UNUSED " + url + "\\n");
  return next(url, context);
} });`;

/** Modules of models and MCP that a project loads which uses neither: while it is checked, and while it runs. */
export function unusedModules(): readonly string[] {
  const hook = ["--import", `data:text/javascript,${encodeURIComponent(HOOK)}`];
  return [["--version"], ["check", "--no-keys"], ["demo", "--for", "3s", "--plain"]].flatMap(([command = "", ...flags]) => {
    const agents = command.startsWith("--") ? [] : ["--agents", "templates/bot/agents"];
    const args = [...hook, "--conditions=retinue-source", BIN, command, ...flags, ...agents];
    const { status, stderr } = spawnSync(process.execPath, args, { cwd: ROOT, encoding: "utf8" });
    if (status !== 0) throw new Error(`retinue ${command} ended with ${status}: ${stderr.slice(-1_000)}`);
    return stderr.split("\n").filter((line) => line.startsWith("UNUSED"));
  });
}
