/**
 * Several real processes on one real server, under kills, stops, cut connections, restarts of the server, and processes that come and go;
 * judged by the network's own record: every post is answered once by each specialist that it asks.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../../src/core/clock.ts";
import { seededRandom, type Random } from "../../../src/core/random.ts";
import { createLocalNetwork } from "../../../src/local-network/local-network.ts";
import type { LocalNetwork } from "../../../src/local-network/options.ts";
import { startPostgres, type PostgresServer } from "../../harness/postgres.ts";
import { asking, textAt } from "../../harness/visitor.ts";

export interface FleetCampaign {
  readonly processes: number;
  readonly specialists: number;
  readonly rounds: number;
  readonly seed: number;
  readonly major: 15 | 18;
  /** Default: all of them. */
  readonly faults?: readonly Fault[];
  readonly onRound?: (round: number, fault: Fault) => void;
}

export interface FleetReport {
  readonly rounds: number;
  readonly faults: { readonly [fault: string]: number };
  readonly asked: number;
  readonly answered: number;
  /** Posts of gaps that a specialist has reported: more came between two of its polls than it pages back through. */
  readonly passedOver: number;
  readonly lost: readonly string[];
  /** The rows of the first of them. */
  readonly explained: readonly unknown[];
  readonly doubled: readonly string[];
  readonly overQuota: number;
  /** Takeovers that did not end. */
  readonly unfinished: number;
  /** From the fault until all shards of the process have another holder, in ms. */
  readonly takeovers: { readonly [fault: string]: { readonly count: number; readonly p50: number; readonly max: number } };
}

export const FAULTS = ["kill", "stop", "cut", "restart", "leave", "none"] as const;
export type Fault = (typeof FAULTS)[number];
/** Chances of a round, in hundredths. */
const CHANCES: { readonly [fault in Fault]: number } = { kill: 35, stop: 15, cut: 20, restart: 5, leave: 20, none: 5 };

const ROOT = join(import.meta.dirname, "../../..");
const SESSION_TIMEOUT_S = 2;
/** Specialists of one group answer the same posts. */
const GROUP = 25;
const POSTS_A_ROUND = 2;
/** After so long without a further answer none will come. */
const PATIENCE_MS = 60_000;
/** Between the clock of the campaign and that of the network. */
const CLOCKS_MS = 200;
const LOOK_MS = 20;

const definition = (
  i: number,
): string => `export default { handle: "s${i}", tier: "pro", may: ["posts.reply"], watch: { feed: { from: "2026-01-01" } },
  brakes: { repliesPerAuthorPerHour: 1000, repliesPerHour: 10000 },
  on: { "post.created": (post, act) => { if ((post.content ?? "").includes("group ${Math.floor(i / GROUP)};")) act.reply(post, "s${i} on " + post.id); } } };`;

interface Asked {
  readonly group: number;
  readonly at: number;
}

interface Missing {
  readonly handle: string;
  readonly post: string;
  readonly at: number;
}

interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<void>;
  said: string;
}

class Fleet {
  readonly #options: FleetCampaign;
  readonly #server: PostgresServer;
  readonly #store: string;
  readonly #baseUrl: string;
  readonly #env: { readonly [name: string]: string };
  readonly #folder: string;
  readonly running = new Set<Running>();
  readonly takeovers = new Map<Fault, number[]>();
  /** Shards that nobody took over in time. */
  unfinished = 0;
  readonly #counting: Promise<void>[] = [];
  readonly #cuts: Random;

  constructor(
    options: FleetCampaign,
    parts: {
      readonly server: PostgresServer;
      readonly store: string;
      readonly baseUrl: string;
      readonly env: { readonly [name: string]: string };
      readonly folder: string;
    },
  ) {
    this.#options = options;
    this.#cuts = seededRandom(`cuts ${options.seed}`);
    this.#server = parts.server;
    this.#store = parts.store;
    this.#baseUrl = parts.baseUrl;
    this.#env = parts.env;
    this.#folder = parts.folder;
  }

  fill(): void {
    while (this.running.size < this.#options.processes) this.#start();
  }

  #start(): void {
    const words = [
      "run",
      "--base-url",
      this.#baseUrl,
      "--set",
      "b",
      "--profile",
      join(this.#folder, "quick.json"),
      "--store",
      this.#store,
      "--json",
    ];
    const child = spawn(
      process.execPath,
      ["--max-semi-space-size=8", "--conditions=retinue-source", join(ROOT, "bin/retinue.js"), ...words],
      {
        cwd: this.#folder,
        env: { PATH: process.env["PATH"], ...this.#env },
        stdio: ["ignore", "pipe", "pipe"],
      },
    );
    const running: Running = { child, ended: new Promise((resolve) => child.on("close", () => resolve())), said: "" };
    const hear = (text: string): void => void (running.said = (running.said + text).slice(-20_000));
    child.stdout.setEncoding("utf8").on("data", hear);
    child.stderr.setEncoding("utf8").on("data", hear);
    this.running.add(running);
    void running.ended.then(() => this.running.delete(running));
  }

  async strike(fault: Fault, random: Random): Promise<void> {
    const running = [...this.running];
    const victim = running[Math.floor(random.next() * running.length)];
    if (victim === undefined) return;
    const pid = victim.child.pid ?? 0;
    const all = fault === "none" || fault === "restart" ? [] : await this.#sessionsOf(pid);
    // A connection may be lost alone, or with all the others.
    const sessions = fault === "cut" && this.#cuts.next() < 0.5 ? all.slice(0, 1) : all;
    const struckAt = performance.now();
    switch (fault) {
      case "kill":
        victim.child.kill("SIGKILL");
        await victim.ended;
        return this.#count(fault, sessions, struckAt);
      case "leave":
        victim.child.kill("SIGTERM");
        this.#count(fault, sessions, struckAt);
        return victim.ended;
      case "stop":
        victim.child.kill("SIGSTOP");
        this.#count(fault, sessions, struckAt);
        await waited((SESSION_TIMEOUT_S + 2) * 1_000);
        victim.child.kill("SIGCONT");
        return;
      case "cut":
        await this.#run(`SELECT pg_terminate_backend(pid) FROM unnest(ARRAY[${sessions.join(",") || "0"}]) AS pid WHERE pid <> 0`);
        return this.#count(fault, sessions, struckAt);
      case "restart":
        return this.#server.restart("immediate");
      case "none":
    }
  }

  async settle(): Promise<void> {
    await Promise.all(this.#counting);
  }

  /** The gaps in the feed that a specialist has reported, as spans of time. */
  async gapsOf(handle: string): Promise<readonly { readonly since: number; readonly until: number }[]> {
    const rows = await this.#run(
      `SELECT (gap ->> 'since')::bigint AS since, (gap ->> 'until')::bigint AS until FROM retinue.source, json_array_elements(cursor::json -> 'gaps') AS gap
        WHERE specialist = '${handle}' AND cursor LIKE '%"gaps":[%'`,
    );
    return rows.map(({ since, until }) => ({ since: Number(since), until: Number(until) }));
  }

  /** The event and the action of a specialist on a post, as the server has them. */
  async explain({ handle, post }: Missing): Promise<unknown> {
    const events = await this.#run(
      `SELECT e.seq, e.via, o.state AS open, (SELECT intents FROM retinue.run r WHERE r.event = e.seq) AS intents
        FROM retinue.event e LEFT JOIN retinue.open o ON o.kind = 0 AND o.seq = e.seq WHERE e.specialist = '${handle}' AND e.id = 'post.created:${post}'`,
    );
    const intents = await this.#run(
      `SELECT state, code, message FROM retinue.intent WHERE specialist = '${handle}' AND target = '${post}'`,
    );
    return { handle, post, events, intents };
  }

  async end(): Promise<void> {
    for (const { child } of this.running) child.kill("SIGTERM");
    const all = [...this.running].map(({ ended }) => ended);
    await Promise.race([Promise.all(all), waited(40_000)]);
    for (const { child } of this.running) child.kill("SIGKILL");
    await Promise.all(all);
  }

  #run(sql: string): ReturnType<PostgresServer["run"]> {
    return this.#server.run(sql, new URL(this.#store).pathname.slice(1));
  }

  /** The sessions by which a process has shards. */
  async #sessionsOf(pid: number): Promise<readonly number[]> {
    const rows = await this.#run(
      `SELECT DISTINCT l.pid FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid JOIN retinue.process p ON a.application_name = 'retinue writer ' || p.number
        WHERE l.locktype = 'advisory' AND l.objsubid = 2 AND p.name LIKE '%:${pid}'`,
    ).catch(() => []); // the tables may not be there yet
    return rows.map((row) => Number(row["pid"]));
  }

  /** Notes the time until every shard has a holder again, and none of these sessions. */
  #count(fault: Fault, sessions: readonly number[], struckAt: number): void {
    if (sessions.length === 0) return;
    this.#counting.push(this.#watch(fault, sessions, struckAt));
  }

  async #watch(fault: Fault, sessions: readonly number[], struckAt: number): Promise<void> {
    for (let looks = 0; looks < 2_000; looks++) {
      const [row] = await this.#run(
        `SELECT count(*) AS held, count(*) FILTER (WHERE pid = ANY(ARRAY[${sessions.join(",")}])) AS old FROM pg_locks
          WHERE locktype = 'advisory' AND objsubid = 2 AND granted AND classid::bigint = (hashtext('retinue shards retinue')::bigint & 4294967295)`,
      ).catch(() => []);
      if (Number(row?.["held"]) === 1_024 && Number(row?.["old"]) === 0) {
        const known = this.takeovers.get(fault) ?? [];
        this.takeovers.set(fault, [...known, performance.now() - struckAt]);
        return;
      }
      await waited(LOOK_MS);
    }
    this.unfinished++;
  }
}

export async function fleetCampaign(options: FleetCampaign): Promise<FleetReport> {
  const { specialists, rounds, seed, onRound } = options;
  const random = seededRandom(`fleet ${seed}`);
  const server = await startPostgres({ major: options.major });
  const folder = mkdtempSync(join(tmpdir(), "retinue-fleet-"));
  const network = createLocalNetwork({ clock: systemClock(), random: seededRandom(seed), residents: false, scale: 0.05 });
  const listening = await network.listen({ set: "b" });
  network.start();
  const env = writeProject(folder, specialists, network);
  const store = `${await server.database()}?session_timeout=${SESSION_TIMEOUT_S}`;
  const fleet = new Fleet(options, { server, store, baseUrl: listening.baseUrls.b ?? "", env, folder });
  const killAll = (): void => fleet.running.forEach(({ child }) => child.kill("SIGKILL"));
  process.once("exit", killAll);
  const asked = new Map<string, Asked>();
  const faults = new Map<Fault, number>();
  const post = asking(network, "b", network.provision({ handle: "quill", tier: "pro", set: "b" }).key);
  const groups = Math.ceil(specialists / GROUP);
  const ask = async (): Promise<void> => {
    const group = Math.floor(random.next() * groups);
    const { json } = await post("POST", "/v1/posts", { body: { content: `for group ${group}; no ${asked.size}` } });
    asked.set(textAt(json, "id"), { group, at: Date.now() });
  };
  try {
    fleet.fill();
    for (let round = 1; round <= rounds; round++) {
      for (let i = 0; i < POSTS_A_ROUND; i++) await ask();
      await waited(500 + random.next() * 1_500);
      const fault = drawn(random, options.faults);
      faults.set(fault, (faults.get(fault) ?? 0) + 1);
      await fleet.strike(fault, random);
      for (let i = 0; i < POSTS_A_ROUND; i++) await ask();
      await waited(random.next() * 1_500);
      fleet.fill();
      onRound?.(round, fault);
    }
    const missing: Missing[] = [];
    let passedOver = 0;
    for (const one of await settled(network, asked, specialists))
      if ((await fleet.gapsOf(one.handle)).some(({ since, until }) => one.at >= since - CLOCKS_MS && one.at <= until + CLOCKS_MS))
        passedOver++;
      else missing.push(one);
    await fleet.settle();
    if (missing.length > 0) for (const { said } of fleet.running) process.stderr.write(`${said.slice(-3_000)}\n`);
    return {
      rounds,
      faults: Object.fromEntries(faults),
      asked: [...asked.values()].reduce((sum, { group }) => sum + sizeOf(group, specialists), 0),
      answered: network.truth.effects({ operation: "posts.reply" }).length,
      passedOver,
      lost: missing.map(({ handle, post: to }) => `${handle} on ${to}`),
      explained: await Promise.all(missing.slice(0, 20).map((one) => fleet.explain(one))),
      doubled: network.truth
        .duplicates({ operation: "posts.reply" })
        .map(([one, ...more]) => `${one?.agent} on ${one?.target}: ${more.length + 1}`),
      overQuota: network.truth.overLimit().length,
      unfinished: fleet.unfinished,
      takeovers: Object.fromEntries([...fleet.takeovers].map(([fault, times]) => [fault, summed(times)])),
    };
  } finally {
    await fleet.end();
    process.off("exit", killAll);
    await listening.close();
    await network.stop();
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

function writeProject(folder: string, specialists: number, network: LocalNetwork): { readonly [name: string]: string } {
  mkdirSync(join(folder, "agents"));
  writeFileSync(join(folder, "quick.json"), JSON.stringify({ extends: "set-b", timing: { quietMs: 200 } }));
  const env: Record<string, string> = {};
  for (let i = 0; i < specialists; i++) {
    writeFileSync(join(folder, "agents", `s${i}.ts`), definition(i));
    env[`RETINUE_KEY_S${i}`] = network.provision({ handle: `s${i}`, tier: "pro", set: "b" }).key;
  }
  return env;
}

function drawn(random: Random, among: readonly Fault[] = FAULTS): Fault {
  let left = random.next() * among.reduce((sum, fault) => sum + CHANCES[fault], 0);
  return among.find((fault) => (left -= CHANCES[fault]) < 0) ?? "none";
}

function sizeOf(group: number, specialists: number): number {
  return Math.min(GROUP, specialists - group * GROUP);
}

/** Waits until everything is answered, or nothing more is. Returns what is not. */
async function settled(network: LocalNetwork, asked: ReadonlyMap<string, Asked>, specialists: number): Promise<readonly Missing[]> {
  let [before, changedAt] = [0, performance.now()];
  for (;;) {
    const known = new Set(network.truth.effects({ operation: "posts.reply" }).map(({ agent, target }) => `${agent} ${target}`));
    const missing = [...asked].flatMap(([post, { group, at }]) =>
      Array.from({ length: sizeOf(group, specialists) }, (_, i) => ({ handle: `s${group * GROUP + i}`, post, at })).filter(
        ({ handle }) => !known.has(`${handle} ${post}`),
      ),
    );
    if (known.size !== before) [before, changedAt] = [known.size, performance.now()];
    if (missing.length === 0 || performance.now() - changedAt > PATIENCE_MS) return missing;
    await waited(250);
  }
}

function summed(times: readonly number[]) {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number): number => Math.round(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0);
  return { count: sorted.length, p50: at(0.5), max: at(1) };
}

function waited(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms));
}
