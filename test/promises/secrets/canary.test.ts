/** No secret is stored or said: a network that repeats them all, read by real processes, and every place that keeps or shows anything. */
import { createServer } from "node:http";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, type TestContext } from "vitest";
import { isObject, parseJson, type JsonObject } from "../../../src/core/json.ts";
import { SECOND } from "../../../src/core/units.ts";
import { signDelivery } from "../../../src/webhooks/receiver/sign.ts";
import { inProcess } from "../../harness/cli.ts";
import { freePort } from "../../harness/free-port.ts";
import { otlpReceiver, type OtlpReceiver } from "../../harness/otlp-receiver.ts";
import { formsOf, parrot, type Parrot } from "../../harness/parrot-network.ts";
import { folder, resultOf, start, textIn, type Process } from "../../harness/process.ts";
import { post } from "../../harness/webhook-network.ts";

/** Of every shape a key may have: as the sets publish them, short, and full of what has a meaning in JSON, patterns or addresses. */
const KEYS: ReadonlyMap<string, string> = new Map([
  ["scout", "sk_live_Zq81Tn5yWc07RmXv"],
  ["short", "k3y!$hRt"],
  ["quoted", `q"7u\\o/t'e<d>&%41+w=~{}`],
  ["pattern", "(a9+)+$[^x]*.|\\d{2}?(?:Kp"],
  ["apart", "sk_live_Worker55Kd02LmQp"],
]);
const SIGNING = ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "the-older-secret-9q2r"];
const TOKEN = "console-token-4Hs8vB21";
const GUARDIAN = "guardian-key-77Jd0qPz";
/** Read by definitions, which name it under `secrets`. */
const MODEL = "sk-model-9Xw3!Lr=Tq6";
/** The last part of the address to which alerts go. */
const ALERTS = "alerts-hook-6Tq2mZx9";
const SECRETS = [...KEYS.values(), ...SIGNING, TOKEN, GUARDIAN, MODEL, ALERTS];
/** The secret of a webhook, typed by a person: nothing else knows it. */
const TYPED = "typed-by-hand-31";

/** A definition that reads its key and logs, throws, stores and sends it. */
const definition = (handle: string, isolate: "worker" | "main"): string => `
import { defineSpecialist } from "retinue";
const key = process.env.COPY_${handle.toUpperCase()};
const model = process.env.MODEL_KEY;
export default defineSpecialist({
  handle: "${handle}",
  tier: "pro",
  secrets: ["MODEL_KEY"],
  ${isolate === "worker" ? 'isolate: "worker",' : ""}
  may: ["posts.create", "posts.reply", "posts.vote", "communities.join", "webhooks.create"],
  watch: { feed: { from: "start" }, threads: true },
  brakes: { repliesPerThread: 100, repliesPerAuthorPerHour: 1000, repliesPerHour: 1000 },
  on: {
    async "post.created"(post, act) {
      console.log("printed", key, { model });
      process.stdout.write(JSON.stringify({ key, model }) + "\\n" + key);
      console.error(new Error(model + key));
      act.log.warn("the key is " + key + model, { key, nested: { [key]: [key, { key: JSON.stringify({ key }) }] } });
      const tail = post.id.at(-1);
      if (tail === "a") act.reply(post, "Hello " + post.id);
      if (tail === "b") act.post("plain words of " + act.me.handle);
      if (tail === "c") throw new Error("w".repeat(486) + key + "w".repeat(490) + key + model);
      if (tail === "d") act.post("my key is " + (act.me.handle === "scout" ? model : key));
      if (tail === "e") act.vote(await act.read.post(post.id));
      if (tail === "f") { act.reply(post, "Late " + post.id); act.join("den"); }
      if (tail === "g") act.state = { [key]: 1 };
      if (tail === "h") await act.step("look", () => ({ key }));
      if (tail === "i") act.reply(post, "With data", { data: [key], key });
      if (tail === "j") act.reply(key, "To nobody");
      if (tail === "k") await act.read.post(key);
    },
    "mention.created"(mention, act) { act.log.info("told of " + mention.id, { mention }); act.state = { mention }; },
    "x:odd": (odd, act) => { throw Object.assign(new TypeError(key), { raw: odd.raw }); },
    "intent.refused": (receipt, act) => act.log.info("refused", { receipt }),
  },
});
`;

/** Traces of a secret, in lower case: the whole of it in any form, or twelve characters of it in a row. */
function traces(): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const secret of [...SECRETS, TYPED]) {
    for (const form of formsOf(secret).slice(0, 9)) found.set(form.toLowerCase(), secret);
    for (const before of ["", "x", "xx"]) {
      const core = Buffer.from(before + secret)
        .toString("base64")
        .replace(/=+$/, "");
      found.set(core.slice(before === "" ? 0 : 4, -3).toLowerCase(), secret);
    }
    for (let at = 0; at + 12 <= secret.length; at++) found.set(secret.slice(at, at + 12).toLowerCase(), secret);
  }
  return found;
}

const TRACES = traces();

/** The secrets that stand in a text, each with the first trace of it. */
function told(text: string): readonly string[] {
  const folded = text.toLowerCase();
  const found = new Map<string, string>();
  for (const [trace, secret] of TRACES) if (!found.has(secret) && folded.includes(trace)) found.set(secret, trace);
  return [...found].map(([secret, trace]) => `${secret} as ${trace}`);
}

function filesIn(root: string): readonly string[] {
  return readdirSync(root, { recursive: true, encoding: "utf8" })
    .map((name) => join(root, name))
    .filter((path) => statSync(path).isFile());
}

const ENV = {
  ...Object.fromEntries([...KEYS].map(([handle, key]) => [`RETINUE_KEY_${handle.toUpperCase()}`, key])),
  ...Object.fromEntries([...KEYS].map(([handle, key]) => [`COPY_${handle.toUpperCase()}`, key])),
  MODEL_KEY: MODEL,
  RETINUE_WEBHOOK_SECRET: SIGNING.join(","),
  RETINUE_WEBHOOK_URL: "https://bots.example.net/hook",
  RETINUE_CONSOLE_PORT: "0",
  RETINUE_CONSOLE_TOKEN: TOKEN,
  RETINUE_GUARDIAN_KEY: GUARDIAN,
};

interface Canary {
  readonly root: string;
  readonly network: Parrot;
  readonly run: Process;
  /** Hands a delivery to a specialist, and answers the status. */
  readonly spans: OtlpReceiver;
  /** Alerts as they were sent. */
  readonly alerts: readonly string[];
  readonly deliver: (handle: string, payload: string | JsonObject, secret?: string) => Promise<number>;
  /** Runs a command twice: its output for people and, with --json, its final object. */
  readonly ask: (...args: readonly string[]) => Promise<{ readonly words: string; readonly said: JsonObject }>;
}

async function canary(context: TestContext, profile: JsonObject): Promise<Canary> {
  const root = folder(context);
  mkdirSync(join(root, "agents"));
  for (const handle of KEYS.keys())
    writeFileSync(join(root, `agents/${handle}.ts`), definition(handle, handle === "apart" ? "worker" : "main"));
  writeFileSync(join(root, "quick.json"), JSON.stringify({ extends: "set-b", timing: { quietMs: 200 }, ...profile }));
  const network = await parrot(context, KEYS, [...SIGNING, TOKEN, GUARDIAN]);
  const port = await freePort();
  const spans = await otlpReceiver();
  const alerts = await alertServer(context);
  writeFileSync(join(root, "retinue.config.ts"), 'export default { alerts: { to: [{ urlFrom: "ALERT_URL" }] } };');
  const env = { ...ENV, RETINUE_WEBHOOK_PORT: String(port), ALERT_URL: `${alerts.url}/${ALERTS}` };
  const store = ["--store", `sqlite:${join(root, "store.sqlite")}`];
  const at = ["--base-url", network.baseUrl, "--set", "b", "--profile", join(root, "quick.json")];
  const run = start(context, ["run", ...at, ...store], { cwd: root, env: { ...env, ...spans.env } });
  await run.saying(({ type }) => type === "console");
  const receiver = `http://127.0.0.1:${port}/webhooks/`;
  await expect.poll(() => fetch(receiver).then(({ status }) => status, String)).toBe(404);
  let deliveries = 0;
  return {
    root,
    network,
    run,
    spans,
    alerts: alerts.bodies,
    async deliver(handle, payload, secret = SIGNING[0] ?? "") {
      const id = `d${deliveries++}-${KEYS.get("scout")}`;
      const signed = signDelivery({ scheme: "standard", secret, payload, id, kind: `odd-${KEYS.get("scout")}`, at: Date.now() });
      return (await post(receiver + handle, signed)).status;
    },
    async ask(...args) {
      const command = [...args, ...store, ...(args[0] === "doctor" ? at : [])];
      const [plain, json] = [await inProcess(command, { cwd: root, env }), await inProcess([...command, "--json"], { cwd: root, env })];
      const said = parseJson(json.stdout);
      return { words: [plain, json].map(({ stdout, stderr }) => stdout + stderr).join("\n"), said: isObject(said) ? said : {} };
    },
  };
}

const raw = (text: string): string => JSON.stringify(text).slice(1, -1);
const NOISE = SECRETS.flatMap(formsOf).join(" ");

/** Five deliveries to one specialist: two it handles, one it fails at, one that nobody handles, one that nobody can read. */
async function deliverAll({ deliver }: Canary, handle: string): Promise<void> {
  const key = raw(KEYS.get(handle) ?? "");
  const object = (kind: string, tail: string): string =>
    `{"type":"${kind}","id":"e-${key}-${tail}","data":{"id":"m-${key}-${tail}","author_id":"u-${key}","author_handle":"quill","content":"@${handle} ${NOISE}","${key}":["${key}"]}}`;
  const answers = [
    await deliver(handle, object("mention", "1")),
    await deliver(handle, object("mention", "2"), SIGNING[1]),
    await deliver(handle, object("odd", "3")),
    await deliver(handle, object("nobody.handles", "4")),
    await deliver(handle, `no JSON, but ${NOISE}`),
  ];
  expect(answers).toEqual([202, 202, 202, 202, 202]);
}

/** The events that each specialist handles or fails at. Their ids differ only in their ends, behind the key. */
const FINISHED = [
  ...["a", "b", "e", "f"].map((tail) => `post.created:post-[secret]-${tail}`),
  "mention.created:m-[secret]-1",
  "mention.created:m-[secret]-2",
];
const FAILED = [..."cdghijk".split("").map((tail) => `post.created:post-[secret]-${tail}`), "x:odd:e-[secret]-3"];

async function untilAllIsDone({ run, network }: Canary): Promise<void> {
  const runs = (handle: string, ...results: readonly string[]): readonly string[] => {
    const ours = run.said.filter((said) => said["type"] === "run" && said["handle"] === handle && results.includes(textIn(said, "result")));
    const events = ours.map((said) => textIn(said, "event")).filter((event) => !event.startsWith("intent."));
    return [...new Set(events)].toSorted();
  };
  const timeout = 30 * SECOND;
  for (const handle of KEYS.keys()) {
    await expect.poll(() => [handle, ...runs(handle, "finished")], { timeout }).toEqual([handle, ...FINISHED.toSorted()]);
    await expect.poll(() => [handle, ...runs(handle, "failed", "parked")], { timeout }).toEqual([handle, ...FAILED.toSorted()]);
  }
  for (const state of ["refused", "pending", "in_doubt"]) await run.saying((said) => said["type"] === "intent" && said["state"] === state);
  await expect.poll(() => network.requests.some(({ line }) => line.startsWith("POST /v1/webhooks")), { timeout }).toBe(true);
}

const textsAt = (list: unknown, name: string): readonly string[] =>
  Array.isArray(list) ? list.flatMap((one: unknown) => (isObject(one) ? [JSON.stringify(one[name]).replaceAll('"', "")] : [])) : [];

/** The output of every command and of the console while it runs. */
async function lookAtAll({ ask, root, run }: Canary): Promise<readonly string[]> {
  const shown: string[] = [];
  const look = async (...args: string[]): Promise<JsonObject> => {
    const { words, said } = await ask(...args);
    shown.push(words);
    return said;
  };
  const found = async (...args: string[]): Promise<unknown> => {
    const { error, entries } = await look(...args);
    expect([args, error]).toEqual([args, undefined]);
    return entries;
  };
  await found("status");
  const actions = textsAt(await found("log", "--lines", "200"), "id");
  expect(actions.length).toBeGreaterThan(10);
  for (const id of [...KEYS.keys(), ...actions.slice(0, 20)]) await look("why", id);
  const kept = textsAt(await found("deliveries"), "seq");
  expect(kept.length).toBeGreaterThanOrEqual(2 * KEYS.size);
  for (const seq of kept) await found("deliveries", seq);
  for (const [handle, key] of KEYS) {
    const as = ["--as", handle, "--input"];
    for (const read of ["posts.list", "webhooks.list", "agents.list"]) await found("call", read, "--as", handle);
    await look("call", "posts.create", ...as, JSON.stringify({ content: `by hand, ${handle}` }));
    await look("call", "posts.create", ...as, JSON.stringify({ content: key }));
    await look("call", "webhooks.create", ...as, JSON.stringify({ url: "https://a.example", secret: TYPED }));
    await look("call", "jobs.get", "j1", "--as", handle);
  }
  await look("backup", join(root, "backup.sqlite"));
  const url = textIn(await run.saying(({ type }) => type === "console"), "url");
  return [...shown, ...(await lookAtConsole(url, actions)), await (await fetch(`${url}/readyz`)).text()];
}

/** Every read of the console, the metrics, both exports and the first event of its stream. */
async function lookAtConsole(url: string, actions: readonly string[]): Promise<readonly string[]> {
  const headers = { authorization: `Bearer ${TOKEN}` };
  const ofOne = [...KEYS.keys()].flatMap((handle) => ["", "/events", "/jobs", "/feed"].map((part) => `specialists/${handle}${part}`));
  const reads = ["status", "needs", "specialists", "log?limit=100", "orders", "usage", ...actions.slice(0, 5).map((id) => `why?id=${id}`)];
  const paths = [...reads, ...ofOne, "log/export?format=jsonl", "log/export?format=csv"].map((path) => `/api/${path}`);
  const texts: string[] = [];
  for (const path of ["/", "/metrics", ...paths]) {
    const answer = await fetch(`${url}${path}`, { headers });
    expect([path, answer.status]).toEqual([path, 200]);
    texts.push(await answer.text());
  }
  const live = await fetch(`${url}/api/live`, { headers });
  const first = await live.body?.getReader().read();
  texts.push(Buffer.from(first?.value ?? new Uint8Array()).toString());
  expect(texts.at(-1)).toContain("event: change");
  return texts;
}

/** Takes alerts, and keeps them as they come. */
async function alertServer({ onTestFinished }: TestContext): Promise<{ readonly url: string; readonly bodies: readonly string[] }> {
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => void (body += text));
    request.on("end", () => {
      bodies.push(body);
      response.end(NOISE); // an answer of theirs is no text of ours
    });
  });
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${port}`, bodies };
}

/** The secrets that stand in files, each with the file. */
function toldIn(root: string): readonly (readonly [file: string, secret: string])[] {
  return filesIn(root).flatMap((path) =>
    told(readFileSync(path, "latin1")).map((secret) => [path.slice(root.length + 1), secret] as const),
  );
}

test("is stored or said nowhere, whatever the network and a definition do", async (context) => {
  const world = await canary(context, {});
  const { root, network, run, ask } = world;
  for (const handle of KEYS.keys()) await deliverAll(world, handle);
  await untilAllIsDone(world);
  const shown = [...(await lookAtAll(world))];
  const files = filesIn(root).map((path) => path.slice(root.length + 1));
  expect(files).toEqual(expect.arrayContaining(["backup.sqlite", "store.sqlite", "store.sqlite-wal"]));
  const live = toldIn(root);
  run.kill("SIGTERM");
  const ended = await run.ended;
  expect(resultOf(ended)).toMatchObject({ ok: true });
  shown.push(ended.stdout, (await ask("doctor", "--as", "scout", "--write", join(root, "drafted.yaml"))).words);
  for (const command of ["status", "log"]) shown.push((await ask(command)).words);

  expect.soft(live).toEqual([]);
  expect.soft(toldIn(root)).toEqual([]);
  expect.soft(run.said.flatMap((said) => told(JSON.stringify(said)).map((secret) => [said["type"], secret]))).toEqual([]);
  expect.soft(told(run.strays.join("\n"))).toEqual([]);
  expect.soft(shown.flatMap((words) => told(words))).toEqual([]);
  expect(world.alerts.length).toBeGreaterThan(0);
  expect.soft(world.alerts.flatMap((body) => told(body))).toEqual([]);
  expect(world.spans.spans.length).toBeGreaterThan(50);
  expect.soft(world.spans.bodies.flatMap((body) => told(body))).toEqual([]);
  // No request carries one outside its header, except the registration that tells the network the signing secret.
  const left = network.requests.filter(({ line }) => !line.startsWith("POST /v1/webhooks"));
  expect.soft(left.flatMap(({ line, body }) => told(`${line} ${body}`))).toEqual([]);
});

test("nor where the network refuses a webhook whose address ends in its secret", async (context) => {
  const { root, network, run, ask } = await canary(context, { webhooks: { scheme: "path" } });
  const made = () => network.requests.filter(({ line }) => line.startsWith("POST /v1/webhooks"));
  await expect.poll(() => made().length).toBeGreaterThanOrEqual(KEYS.size);
  expect(made().some(({ body }) => body.includes(`/webhooks/scout/${SIGNING[0]}`))).toBe(true);
  const shown: string[] = [];
  for (const args of [["status"], ["why", "scout"], ["call", "webhooks.list", "--as", "scout"]]) shown.push((await ask(...args)).words);
  run.kill("SIGTERM");
  shown.push((await run.ended).stdout);
  expect.soft(toldIn(root)).toEqual([]);
  expect.soft(run.said.flatMap((said) => told(JSON.stringify(said)).map((secret) => [said["type"], secret]))).toEqual([]);
  expect.soft(shown.flatMap((words) => told(words))).toEqual([]);
});
