/**
 * A campaign against the real process: a network with a record of its own, a fault proxy, and `kill -9` at any moment.
 *
 * Nothing is spared: lives are cut at a moment drawn evenly from their start on, so that many die before they are ready, and
 * others go on posting whether anybody keeps up or not. What the runtime could not read back for that it has to tell; what
 * it told is not counted as lost, by the ids it named. Three values are as they are for a reason. The longest life is
 * twice what every fifth one takes to do ten things, which it is let do: a fixed time would be all start on a busy machine,
 * and all idling on a quiet one. Where one life is led for each call, which makes hundreds of lives that read nothing,
 * others post six times slower: else most of what they say is passed over, and shows nothing. Under strace, where a start
 * takes seconds and each moment is written down, lives are cut soon after they have done something.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../../src/core/clock.ts";
import { asHandle } from "../../../src/core/ids.ts";
import { seededRandom, type Random } from "../../../src/core/random.ts";
import type { LocalNetwork } from "../../../src/local-network/options.ts";
import { createLocalNetwork } from "../../../src/local-network/local-network.ts";
import type { ReportedGap } from "../../../src/simulation/oracle-gaps.ts";
import { parseStoreAddress } from "../../../src/config/store-address.ts";
import { waited } from "../fleet/processes.ts";
import { openWhenFree } from "./open-when-free.ts";
import type { Store } from "../../../src/store/store.ts";
import type { DriverReport, DriverSettings } from "./driver.ts";
import { forgetfulDisk, type ForgetfulDiskOptions } from "./forgetful-disk.ts";
import { begin, type Life } from "./life.ts";
import { NO_FAULTS, openProxy, type FaultProxy, type Mishaps, type ProxyFaults } from "./proxy.ts";
import { talk, type Talk } from "./talk.ts";
import { judge, type Verdict } from "./verdict.ts";
import { HANDLES, SESSION_TIMEOUT_MS, TIMING } from "./victim.ts";

export interface CampaignOptions {
  readonly kills: number;
  readonly seed: number;
  readonly faults?: ProxyFaults;
  /** Instead of at random: one life for each call to store or network, from the first to the last. */
  readonly everyPoint?: boolean;
  /** With every death the power goes as well: the disk has only what was flushed. Needs strace. */
  readonly power?: Pick<ForgetfulDiskOptions, "lies">;
  /** Stores on a server instead of in a file: its life is as uncertain as that of the processes. */
  readonly server?: StoreServer;
  readonly onKill?: (kill: number) => void;
}

export interface CampaignReport extends Verdict, Dead, Mishaps {
  readonly effects: number;
  /** Acts that happened more than once, by the network's record. */
  readonly doubled: readonly string[];
  /** What others posted and offered, all of it to be dealt with. */
  readonly said: number;
  readonly intents: { readonly [what: string]: number };
  readonly doubts: number;
  /** Parked although reading back would show it, and has been seen to. */
  readonly parked: number;
  /** Differences between memory and rows, over all lives. */
  readonly drift: readonly string[];
  /** All that is parked, by operation and reason. */
  readonly parkedFor: { readonly [what: string]: number };
}

interface Dead {
  readonly kills: number;
  /** Killed before they had begun to work. */
  readonly early: number;
  readonly stops: number;
  /** Writes that power cuts took. */
  readonly forgotten: number;
}

const WORST: ProxyFaults = { delayMs: 15, resets: 0.02, slices: 0.05, late: 0.02, swallowed: 0.02, lateMs: 2 * TIMING.deadlineMs };
/** Shares of lives before whose end the server cuts the connections, or crashes. */
const CUT = 0.2;
/** Share of lives that are stopped until another process has their store, and then go on. */
const FROZEN = 0.1;
const CRASHED = 0.05;
const LONGEST_TRACED_MS = 600;
const HEAL_MS = 120_000;
const HEAL_LOOK_MS = 400;
/** Longer than an intent counts as young. */
const QUIET_LOOKS = 6;
const A_FEW = 10;
const MEASURED_EVERY = 5;
const STOPPED = 0.15;
/** Longer than a request may take. */
const LONGEST_STOP_MS = 400;
/** What was decided as late is on its way when the last process ends. */
const YOUNG_MS = 3_000;
const MAX_POINTS = 400;
/** Why a person has to say what reading back cannot. */
const UNPROVEN: readonly string[] = ["absence_unprovable", "absent_unproven"];
const SLOW = 6;
const MANY = 1_000_000;

/** The server that holds the store. */
export interface StoreServer {
  /** The address of a new database. */
  database(): Promise<string>;
  /** Ends all connections of a database. */
  cut(address: string): Promise<void>;
  /** Ends without a word, and comes back. */
  crash(): Promise<void>;
}

interface Stage {
  readonly folder: string;
  readonly network: LocalNetwork;
  readonly proxy: FaultProxy;
  readonly settings: DriverSettings;
  readonly random: Random;
  readonly told: Told;
}

export async function campaign(options: CampaignOptions): Promise<CampaignReport> {
  const random = seededRandom(options.seed);
  const folder = mkdtempSync(join(tmpdir(), "retinue-crash-"));
  const network = createLocalNetwork({ clock: systemClock(), random: random.fork("network"), scale: 0.1 });
  const keys = Object.fromEntries(HANDLES.map((handle) => [handle, network.provision({ handle, tier: "pro" }).key]));
  const listening = await network.listen({ set: "b" });
  const proxy = await openProxy(Number(new URL(listening.origin).port), random.fork("proxy"), options.faults ?? WORST);
  network.start();
  const crowd = await talk(network, options.everyPoint === true ? SLOW : 1);
  const file = join(folder, "store.sqlite");
  const store = (await options.server?.database()) ?? `sqlite:${file}`;
  const settings = { folder, store, baseUrl: `http://127.0.0.1:${proxy.port}/v1`, keys, roots: crowd.roots };
  const stage: Stage = { folder, network, proxy, random, settings, told: createTold() };
  try {
    const dead = options.everyPoint === true ? await everyPoint(stage, options) : await atRandom(stage, options);
    crowd.stop();
    proxy.faults = NO_FAULTS;
    await heal(stage);
    return { ...dead, ...(await report(stage, crowd)) };
  } finally {
    crowd.stop();
    await proxy.close();
    await listening.close();
    await network.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function atRandom(stage: Stage, { kills, power, server, onKill }: CampaignOptions): Promise<Dead> {
  const { settings, folder, random, told, network } = stage;
  const tally = { early: 0, stops: 0, forgotten: 0 };
  let longestMs = LONGEST_TRACED_MS;
  for (let kill = 1; kill <= kills; kill++) {
    const disk = power === undefined ? undefined : forgetfulDisk({ store: join(folder, "store.sqlite"), folder, random, ...power });
    const bornAt = performance.now();
    const life = begin(settings, disk?.under ?? [], told.hear);
    if (disk !== undefined || kill % MEASURED_EVERY === 1) {
      await life.began;
      await didSomething(network);
      if (disk === undefined) longestMs = 2 * (performance.now() - bornAt);
    }
    await waited(random.int(longestMs));
    if (random.next() < STOPPED) {
      tally.stops++;
      await stopped(life, random);
    }
    if (server !== undefined && random.next() < FROZEN) await frozen(life, stage);
    else if (server !== undefined) await disturbed(server, settings, random);
    life.kill("SIGKILL");
    await life.ended;
    if (!(await life.began)) tally.early++;
    tally.forgotten += disk?.cutPower() ?? 0;
    onKill?.(kill);
  }
  return { kills, ...tally };
}

async function stopped(life: Life, random: Random): Promise<void> {
  life.kill("SIGSTOP");
  await waited(random.int(LONGEST_STOP_MS));
  life.kill("SIGCONT");
  await waited(random.int(100));
}

/** A process is stopped for so long that another one takes over; then it goes on, beside that one, and ends. */
async function frozen(life: Life, { settings, told, random, network }: Stage): Promise<void> {
  life.kill("SIGSTOP");
  const next = begin(settings, [], told.hear);
  await Promise.race([next.began, waited(2 * SESSION_TIMEOUT_MS)]);
  await didSomething(network);
  life.kill("SIGCONT");
  await waited(random.int(LONGEST_STOP_MS));
  life.kill("SIGKILL");
  await waited(random.int(LONGEST_STOP_MS));
  next.kill("SIGKILL");
  await next.ended;
}

/** Sometimes the server ends the process's connections, or crashes; the process works or stands there for a while before it is killed. */
async function disturbed(server: StoreServer, { store }: DriverSettings, random: Random): Promise<void> {
  const chance = random.next();
  if (chance > CUT + CRASHED) return;
  if (chance < CUT) await server.cut(store);
  else await server.crash();
  await waited(random.int(LONGEST_STOP_MS));
}

async function didSomething(network: LocalNetwork): Promise<void> {
  const done = (): number => HANDLES.reduce((sum, agent) => sum + network.truth.effects({ agent }).length, 0);
  const before = done();
  for (let waitedMs = 0; waitedMs < HEAL_MS && done() < before + A_FEW; waitedMs += 50) await waited(50);
}

/** Each process dies one call later than the one before, until the flow has been cut at every point. */
async function everyPoint({ settings, told }: Stage, { kills, onKill }: CampaignOptions): Promise<Dead> {
  const most = Math.min(kills, MAX_POINTS);
  let early = 0;
  for (let point = 1; point <= most; point++) {
    const life = begin({ ...settings, dieAt: point }, [], told.hear);
    await life.ended;
    if (!(await life.began)) early++;
    onKill?.(point);
  }
  return { kills: most, early, stops: 0, forgotten: 0 };
}

/** One more life, without faults, until it has looked at everything that was said and nothing is open any more; then a graceful end. */
async function heal({ settings, told }: Stage): Promise<void> {
  const since = systemClock().now();
  const life = begin(settings, [], told.hear);
  let quiet = 0;
  for (let waitedMs = 0; waitedMs < HEAL_MS && quiet < QUIET_LOOKS; waitedMs += HEAL_LOOK_MS) {
    await waited(HEAL_LOOK_MS);
    quiet = told.isDone(since) ? quiet + 1 : 0;
  }
  life.kill("SIGTERM");
  await life.ended;
}

interface Told {
  readonly hear: (report: DriverReport) => void;
  readonly gaps: (list: "feed" | "jobs") => readonly ReportedGap[];
  /** No action is open and no event waits for its last try, and the lists have been looked at since. */
  readonly isDone: (since: number) => boolean;
  readonly drift: () => readonly string[];
}

/** What the processes told of themselves, over all lives. A gap is kept by the store, so that a later life tells it where an earlier one could not. */
function createTold(): Told {
  const gaps = new Map<string, ReportedGap & { readonly list: string }>();
  const drift = new Set<string>();
  let last: DriverReport | undefined;
  return {
    hear(report) {
      last = report;
      for (const what of report.drift) drift.add(what);
      for (const { name, gaps: told } of report.lists)
        for (const gap of told) gaps.set(`${name} ${gap.after} ${gap.before}`, { list: name, ...gap });
    },
    drift: () => [...drift],
    gaps: (list) => [...gaps.values()].filter((gap) => gap.list === list),
    isDone: (since) =>
      last?.open === 0 && ["feed", "jobs"].every((list) => last?.lists.some(({ name, lookedAt = 0 }) => name === list && lookedAt > since)),
  };
}

async function report({ network, settings, proxy, told }: Stage, { posts, jobs }: Talk): Promise<Omit<CampaignReport, keyof Dead>> {
  const { intents, parkedEvents } = await withStore(settings, async (store) => ({
    intents: (await Promise.all(HANDLES.map((handle) => store.intents({ specialist: asHandle(handle), limit: MANY })))).flat(),
    parkedEvents: await store.parkedEvents(undefined, MANY),
  }));
  const effects = HANDLES.flatMap((agent) => network.truth.effects({ agent }));
  const parked = intents.filter(({ state }) => state === "parked");
  const verdict = judge({
    intents,
    parkedEvents,
    effects,
    owed: [
      { operation: "posts.reply", items: posts, gaps: told.gaps("feed") },
      { operation: "jobs.apply", items: jobs, gaps: told.gaps("jobs") },
    ],
    settledAt: systemClock().now() - YOUNG_MS,
  });
  return {
    ...proxy.mishaps,
    effects: effects.length,
    said: posts.length + jobs.length,
    ...verdict,
    drift: told.drift(),
    doubled: HANDLES.flatMap((agent) => network.truth.duplicates({ agent })).map(
      ([first, ...more]) => `${first?.operation} ${first?.target} ${more.length + 1} times`,
    ),
    intents: countOf(intents.map(({ operation, state }) => `${operation} ${state}`)),
    doubts: intents.filter(({ everUnknown }) => everUnknown).length,
    parked: parked.filter(({ effect, code }) => effect === "reconciled" && !UNPROVEN.includes(code ?? "")).length,
    parkedFor: countOf(parked.map(({ operation, code }) => `${operation} ${code}`)),
  };
}

function countOf(words: readonly string[]): { readonly [word: string]: number } {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1)));
}

async function withStore<T>({ store: address, folder }: DriverSettings, work: (store: Store) => Promise<T>): Promise<T> {
  const store = await openWhenFree(parseStoreAddress(address, folder), { clock: systemClock(), random: seededRandom(1) });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}
