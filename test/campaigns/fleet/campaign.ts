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
  readonly lost: readonly string[];
  /** The rows of the first of them. */
  readonly explained: readonly unknown[];
  readonly doubled: readonly string[];
  readonly overQuota: number;
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
const POSTS_A_ROUND = 4;
/** Everything asked for is answered this long after the last fault. */
const PATIENCE_MS = 90_000;
const LOOK_MS = 20;

const definition = (
  i: number,
): string => `export default { handle: "s${i}", tier: "pro", may: ["posts.reply"], watch: { feed: { from: "2026-01-01" } },
  brakes: { repliesPerAuthorPerHour: 1000, repliesPerHour: 10000 },
  on: { "post.created": (post, act) => { if ((post.content ?? "").includes("group ${Math.floor(i / GROUP)};")) act.reply(post, "s${i} on " + post.id); } } };`;

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
  readonly #counting: Promise<void>[] = [];

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
    const all = [...this.running];
    const victim = all[Math.floor(random.next() * all.length)];
    if (victim === undefined) return;
    const pid = victim.child.pid ?? 0;
    const sessions = fault === "none" || fault === "restart" ? [] : await this.#sessionsOf(pid);
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

  /** The event and the action of a specialist on a post, as the server has them. */
  async explain(one: string): Promise<unknown> {
    const [handle = "", , post = ""] = one.split(" ");
    const events = await this.#run(
      `SELECT e.seq, to_timestamp(e.created_at / 1000) AS at, e.via, o.state AS open, (SELECT intents FROM retinue.run r WHERE r.event = e.seq) AS intents
        FROM retinue.event e LEFT JOIN retinue.open o ON o.kind = 0 AND o.seq = e.seq WHERE e.specialist = '${handle}' AND e.id = 'post.created:${post}'`,
    );
    const intents = await this.#run(
      `SELECT state, code, message FROM retinue.intent WHERE specialist = '${handle}' AND target = '${post}'`,
    );
    const [source] = await this.#run(
      `SELECT cursor::json ->> 'startedAt' AS started, cursor::json ->> 'gaps' AS gaps, right(cursor, 200) AS cursor FROM retinue.source WHERE specialist = '${handle}' AND name LIKE '%feed%' LIMIT 1`,
    );
    const near = await this.#run(
      `SELECT seq, id, via, to_timestamp(created_at / 1000)::time(3)::text AS at FROM retinue.event WHERE specialist = '${handle}' ORDER BY created_at`,
    );
    const holders = await this.#run(
      `SELECT h.number, h.process, to_timestamp(h.opened_at / 1000)::time(3)::text AS opened, to_timestamp(h.closed_at / 1000)::time(3)::text AS closed FROM retinue.holder h ORDER BY 1`,
    );
    const place = near.findIndex(({ id }) => Number(String(id).split("_")[1]) > Number(post.split("_")[1]));
    return { one, events, intents, ...source, near: near.slice(Math.max(0, place - 4), place + 4), holders: JSON.stringify(holders) };
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
  const asked = new Map<string, number>();
  const faults = new Map<Fault, number>();
  const post = asking(network, "b", network.provision({ handle: "quill", tier: "pro", set: "b" }).key);
  const groups = Math.ceil(specialists / GROUP);
  const ask = async (): Promise<void> => {
    const group = Math.floor(random.next() * groups);
    asked.set(textAt((await post("POST", "/v1/posts", { body: { content: `for group ${group}; no ${asked.size}` } })).json, "id"), group);
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
    const missing = await settled(network, asked, specialists);
    await fleet.settle();
    if (missing.length > 0) for (const { said } of fleet.running) process.stderr.write(`${said.slice(-3_000)}\n`);
    return {
      rounds,
      faults: Object.fromEntries(faults),
      asked: [...asked.values()].reduce((sum, group) => sum + sizeOf(group, specialists), 0),
      answered: network.truth.effects({ operation: "posts.reply" }).length,
      lost: missing,
      explained: await Promise.all(missing.slice(0, 20).map((one) => fleet.explain(one))),
      doubled: network.truth
        .duplicates({ operation: "posts.reply" })
        .map(([one, ...more]) => `${one?.agent} on ${one?.target}: ${more.length + 1}`),
      overQuota: network.truth.overLimit().length,
      takeovers: Object.fromEntries([...fleet.takeovers].map(([fault, times]) => [fault, summed(times)])),
    };
  } finally {
    await fleet.end();
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

/** Waits until everything is answered. Returns what is not. */
async function settled(network: LocalNetwork, asked: ReadonlyMap<string, number>, specialists: number): Promise<readonly string[]> {
  const until = performance.now() + PATIENCE_MS;
  for (;;) {
    const known = new Set(network.truth.effects({ operation: "posts.reply" }).map(({ agent, target }) => `${agent} on ${target}`));
    const missing = [...asked].flatMap(([post, group]) =>
      Array.from({ length: sizeOf(group, specialists) }, (_, i) => `s${group * GROUP + i} on ${post}`).filter((one) => !known.has(one)),
    );
    if (missing.length === 0 || performance.now() > until) return missing;
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
