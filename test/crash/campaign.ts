/** A campaign against the real process: a network with a record of its own, a fault proxy, and `kill -9` at random. */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { systemClock } from "../../src/core/clock.ts";
import { asHandle } from "../../src/core/ids.ts";
import { seededRandom, type Random } from "../../src/core/random.ts";
import { createLocalNetwork } from "../../src/network/network.ts";
import type { LocalNetwork } from "../../src/network/local-network.ts";
import type { Effect } from "../../src/network/truth.ts";
import type { Intent } from "../../src/outbox/port.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { forgetfulDisk, type ForgetfulDiskOptions } from "./forgetful-disk.ts";
import { NO_FAULTS, openProxy, type FaultProxy, type ProxyFaults } from "./proxy.ts";
import type { DriverSettings } from "./driver.ts";
import { HANDLES } from "./victim.ts";

export interface CampaignOptions {
  readonly kills: number;
  readonly seed: number;
  readonly faults?: ProxyFaults;
  /** Instead of at random: one life for each call to store or network, from the first to the last. */
  readonly everyPoint?: boolean;
  /** With every death the power goes as well: the disk has only what was flushed. Needs strace. */
  readonly power?: Pick<ForgetfulDiskOptions, "lies">;
  readonly onKill?: (kill: number) => void;
}

export interface CampaignReport {
  readonly kills: number;
  readonly stops: number;
  readonly forgotten: number;
  readonly broken: number;
  readonly effects: number;
  /** Acts that happened more than once, by the network's record. */
  readonly doubled: readonly string[];
  /** Intents whose row and the network's record disagree, posts nobody answered, things left open. */
  readonly lost: readonly string[];
  readonly intents: { readonly [what: string]: number };
  readonly doubts: number;
  /** Parked although reading back is proven for the operation. */
  readonly parked: number;
}

const WORST: ProxyFaults = { delayMs: 15, resets: 0.02, slices: 0.05 };
const LONGEST_LIFE_MS = 600;
const HEAL_MS = 120_000;
const QUIET_LOOKS = 40;
const A_FEW = 10;
/** Of the lives, those that are killed only once they have done something. The others may be killed while they start. */
const PRODUCTIVE = 0.7;
const OPEN: readonly string[] = ["proposed", "ready", "sending", "in_doubt", "pending"];
/** What was decided as late is on its way when the last process ends. */
const YOUNG_MS = 3_000;
const POST_EVERY_MS = 300;
const JOB_EVERY_MS = 700;
/** More unanswered posts than this are not added to: a feed that runs away from a slow machine has gaps, which are told and not lost. */
const PATIENCE = 30;
const MAX_POINTS = 400;
/** Processes that die early read nothing: meanwhile no more may be said than they can catch up with. */
const SLOW = 6;
/** Enough that each, and each of those they stand under, is answered less often than a network shows replies. */
const BASES = 4;
const ROOTS_EACH = 75;

interface Stage {
  readonly folder: string;
  readonly network: LocalNetwork;
  readonly proxy: FaultProxy;
  readonly settings: DriverSettings;
  readonly random: Random;
}

export async function campaign(options: CampaignOptions): Promise<CampaignReport> {
  const random = seededRandom(options.seed);
  const folder = mkdtempSync(join(tmpdir(), "retinue-crash-"));
  const network = createLocalNetwork({ clock: systemClock(), random: random.fork("network"), scale: 0.1 });
  const keys = Object.fromEntries(HANDLES.map((handle) => [handle, network.provision({ handle, tier: "pro" }).key]));
  const listening = await network.listen({ set: "b" });
  const proxy = await openProxy(Number(new URL(listening.origin).port), random.fork("proxy"), options.faults ?? WORST);
  const store = join(folder, "store.sqlite");
  network.start();
  const crowd = await talk(network, options.everyPoint === true ? SLOW : 1);
  const settings = { store, baseUrl: `http://127.0.0.1:${proxy.port}/v1`, keys, roots: crowd.roots };
  const stage: Stage = { folder, network, proxy, random, settings };
  try {
    const dead = options.everyPoint === true ? await everyPoint(stage, options) : await atRandom(stage, options);
    crowd.stop();
    proxy.faults = NO_FAULTS;
    await heal(stage);
    return await judge(stage, crowd.posts, dead);
  } finally {
    crowd.stop();
    await proxy.close();
    await listening.close();
    await network.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Dead {
  readonly kills: number;
  readonly stops: number;
  /** Writes that power cuts took. */
  readonly forgotten: number;
}

async function atRandom(stage: Stage, { kills, power, onKill }: CampaignOptions): Promise<Dead> {
  let stops = 0;
  let forgotten = 0;
  for (let kill = 1; kill <= kills; kill++) {
    const disk =
      power === undefined
        ? undefined
        : forgetfulDisk({ store: stage.settings.store, folder: stage.folder, random: stage.random, ...power });
    const life = await begin(stage.settings, disk?.under);
    if (power !== undefined || stage.random.next() < PRODUCTIVE) await didSomething(stage.network);
    await waited(stage.random.int(LONGEST_LIFE_MS));
    if (stage.random.next() < 0.15) {
      stops++;
      life.kill("SIGSTOP");
      await waited(stage.random.int(400));
      life.kill("SIGCONT");
      await waited(stage.random.int(100));
    }
    life.kill("SIGKILL");
    await life.ended;
    forgotten += disk?.cutPower() ?? 0;
    onKill?.(kill);
  }
  return { kills, stops, forgotten };
}

/** However slow the machine: only deaths in the middle of work show anything. */
async function didSomething(network: LocalNetwork): Promise<void> {
  const done = (): number => HANDLES.reduce((sum, agent) => sum + network.truth.effects({ agent }).length, 0);
  const before = done();
  for (let waitedMs = 0; waitedMs < HEAL_MS && done() < before + A_FEW; waitedMs += 50) await waited(50);
}

/** Each process dies one call later than the one before, until the flow has been cut at every point. */
async function everyPoint(stage: Stage, { kills, onKill }: CampaignOptions): Promise<Dead> {
  const most = Math.min(kills, MAX_POINTS);
  for (let point = 1; point <= most; point++) {
    const life = await begin({ ...stage.settings, dieAt: point });
    await life.ended;
    onKill?.(point);
  }
  return { kills: most, stops: 0, forgotten: 0 };
}

interface Life {
  kill(signal: NodeJS.Signals): void;
  readonly ended: Promise<void>;
  /** Intents neither settled nor parked, as last told; undefined before the first word. */
  readonly open: () => number | undefined;
}

const DRIVER = join(import.meta.dirname, "driver.ts");

/** Starts it, and waits until it has begun or is dead. */
async function begin(settings: DriverSettings, under: readonly string[] = []): Promise<Life> {
  const [program, ...words] = [...under, process.execPath, "--conditions=retinue-source", DRIVER, JSON.stringify(settings)];
  const child = spawn(program, words, { stdio: ["ignore", "pipe", "inherit"] });
  let open: number | undefined;
  let alive = true;
  let pid = child.pid ?? 0;
  const ended = new Promise<void>((resolve) => void child.once("exit", () => resolve())).then(() => void (alive = false));
  const ready = new Promise<void>((resolve) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      const [word, number] = line.split(" ");
      if (word === "open") open = Number(number);
      if (word !== "ready") return;
      pid = Number(number); // not that of what it runs under
      resolve();
    });
  });
  await Promise.race([ready, ended]);
  return { kill: (signal) => void (alive && process.kill(pid, signal)), ended, open: () => open };
}

/** One more life, without faults, until nothing is open any more; then a graceful end. */
async function heal({ settings }: Stage): Promise<void> {
  const life = await begin(settings);
  let quiet = 0;
  for (let waitedMs = 0; waitedMs < HEAL_MS && quiet < QUIET_LOOKS; waitedMs += 400) {
    await waited(400);
    quiet = life.open() === 0 ? quiet + 1 : 0;
  }
  life.kill("SIGTERM");
  await life.ended;
}

interface Crowd {
  /** What the victim has to answer. */
  readonly posts: readonly string[];
  readonly roots: readonly string[];
  stop(): void;
}

/** Somebody who posts and offers jobs all the time, and has a long thread of old. */
async function talk(network: LocalNetwork, slower: number): Promise<Crowd> {
  const { key } = network.provision({ handle: "talker", tier: "pro" });
  const posts: string[] = [];
  const say = async (path: string, body: object): Promise<string> => {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const reply = await network.handle("b", { method: "POST", path, query: {}, headers, body: JSON.stringify(body) });
    const { id } = JSON.parse(reply.body) as { id?: unknown };
    return typeof id === "string" ? id : "";
  };
  let count = 0;
  const roots: string[] = [];
  for (let i = 0; i < BASES; i++) {
    const base = await say("/v1/posts", { content: `what follows ${i} is old` });
    posts.push(base);
    for (let j = 0; j < ROOTS_EACH; j++) roots.push(await say(`/v1/posts/${base}/reply`, { content: `old ${i} ${j}` }));
  }
  const unanswered = (): number => posts.length - network.truth.effects({ agent: "answerer", operation: "posts.reply" }).length;
  const posting = setInterval(
    () => void (unanswered() < PATIENCE && say("/v1/posts", { content: `talk ${++count}` }).then((id) => posts.push(id))),
    POST_EVERY_MS * slower,
  );
  const offering = setInterval(
    () => void say("/v1/jobs", { title: `job ${++count}`, description: "do it", reward: 3, skills: [] }),
    JOB_EVERY_MS * slower,
  );
  return {
    posts,
    roots,
    stop() {
      clearInterval(posting);
      clearInterval(offering);
    },
  };
}

async function judge({ network, settings, proxy }: Stage, posts: readonly string[], dead: Dead): Promise<CampaignReport> {
  const store = openSqliteStore({ path: settings.store, clock: systemClock(), random: seededRandom(1) });
  const intents = (await Promise.all(HANDLES.map((handle) => store.intents({ specialist: asHandle(handle), limit: 1_000_000 })))).flat();
  const parkedEvents = await store.parkedEvents(undefined, 1_000);
  await store.close();
  const effects = HANDLES.flatMap((agent) => network.truth.effects({ agent }));
  const doubled = HANDLES.flatMap((agent) => network.truth.duplicates({ agent })).map(
    ([first, ...more]) => `${first?.operation} ${first?.target} ${more.length + 1} times`,
  );
  const counted = new Map<string, number>();
  for (const { operation, state } of intents) counted.set(`${operation} ${state}`, (counted.get(`${operation} ${state}`) ?? 0) + 1);
  return {
    ...dead,
    broken: proxy.broken,
    effects: effects.length,
    doubled,
    lost: [
      ...parkedEvents.map(({ id, note }) => `event ${id} is parked: ${note}`),
      ...unanswered(posts, intents, effects),
      ...leftOpen(intents),
      ...misjudged(intents, effects),
    ],
    intents: Object.fromEntries([...counted].sort(([a], [b]) => (a < b ? -1 : 1))),
    doubts: intents.filter(({ everUnknown }) => everUnknown).length,
    parked: intents.filter(({ state, effect }) => state === "parked" && effect === "reconciled").length,
  };
}

function unanswered(posts: readonly string[], intents: readonly Intent[], effects: readonly Effect[]): readonly string[] {
  const answered = new Set(effects.filter(({ operation }) => operation === "posts.reply").map(({ target }) => target));
  const decided = new Map(intents.filter(({ operation }) => operation === "posts.reply").map((intent) => [intent.target ?? "", intent]));
  // A first look goes back a few pages only, so what counts is what was posted since the first that was seen.
  const since = posts.findIndex((post) => answered.has(post) || decided.has(post));
  return (since < 0 ? posts : posts.slice(since))
    .filter((post) => !answered.has(post) && decided.get(post)?.state !== "parked")
    .map((post) => `post ${post}: ${decided.get(post)?.state ?? "never seen"}`);
}

function leftOpen(intents: readonly Intent[]): readonly string[] {
  const settled = systemClock().now() - YOUNG_MS;
  return intents
    .filter(({ state, createdAt }) => OPEN.includes(state) && createdAt < settled)
    .map(({ id, operation, state, code }) => `${id} ${operation} is still ${state}: ${code}`);
}

/** Intents whose row and the network's record disagree. */
function misjudged(intents: readonly Intent[], effects: readonly Effect[]): readonly string[] {
  const happened = new Set(effects.map(({ agent, operation, target, text }) => keyOf(agent, operation, target, text)));
  return intents.flatMap((intent) => {
    const { id, specialist, operation, target = "", state } = intent;
    const did = happened.has(keyOf(specialist, operation, target, textOf(intent)));
    if (state === "confirmed" && !did) return [`${id} ${operation} is confirmed and never happened`];
    if ((state === "refused" || state === "cancelled") && did) return [`${id} ${operation} is ${state} and happened`];
    return [];
  });
}

function keyOf(agent: string, operation: string, target: string, text: string): string {
  return operation.startsWith("posts.") ? `${agent} ${operation} ${target} ${text}` : `${agent} ${operation} ${target}`;
}

function textOf({ input }: Intent): string {
  return typeof input["content"] === "string" ? input["content"] : "";
}

function waited(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms));
}
