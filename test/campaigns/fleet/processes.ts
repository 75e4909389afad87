/** Several real processes on one real server, the faults that strike them, and the times until others have taken over. */
import { spawn, type ChildProcess } from "node:child_process";
import { join } from "node:path";
import { Pool } from "pg";
import { seededRandom, type Random } from "../../../src/core/random.ts";
import type { PostgresServer } from "../../harness/postgres.ts";
import { PROFILE_FILE } from "./write-project.ts";

export const FAULTS = ["kill", "stop", "freeze", "cut", "restart", "failover", "leave", "none"] as const;
/** `stop` lasts longer than a session may be silent; `freeze` lasts for a minute of other faults. */
export type Fault = (typeof FAULTS)[number];

/** Those that no process is chosen for. */
const SPARING: readonly Fault[] = ["none", "restart", "failover"];
const ROOT = join(import.meta.dirname, "../../..");
export const SESSION_TIMEOUT_S = 2;
const LOOK_MS = 50;
const FROZEN_MS = 60_000;
const TAKING_LOOKS = 1_200;
const JOINED_LOOKS = 100;
const JOINED_LOOK_MS = 200;

/** What a specialist owed and did not do. */
export interface Missing {
  readonly handle: string;
  /** A post or job. */
  readonly item: string;
  readonly at: number;
}

export interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<void>;
  said: string;
  isFrozen: boolean;
}

/** The processes of a campaign, its server, and the faults that strike them. */
export class Fleet {
  readonly #size: number;
  readonly #server: PostgresServer;
  /** Kept: a connection for each look would take a good part of what the processes need. */
  readonly #looks: Pool;
  readonly #store: string;
  readonly #baseUrl: string;
  readonly #env: { readonly [name: string]: string };
  readonly #folder: string;
  readonly running = new Set<Running>();
  /** By the fault, in ms. */
  readonly takeovers = new Map<string, number[]>();
  /** Shards that nobody took over in time. */
  unfinished = 0;
  readonly #counting: Promise<number>[] = [];
  readonly #thaws = new Set<() => void>();
  readonly #cuts: Random;

  constructor(
    size: number,
    seed: number,
    parts: {
      readonly server: PostgresServer;
      readonly store: string;
      readonly baseUrl: string;
      readonly env: { readonly [name: string]: string };
      readonly folder: string;
    },
  ) {
    this.#size = size;
    this.#cuts = seededRandom(`cuts ${seed}`);
    this.#server = parts.server;
    this.#store = parts.store;
    this.#looks = new Pool({ connectionString: parts.server.address(new URL(parts.store).pathname.slice(1)) });
    this.#looks.on("error", () => undefined); // a server that restarts: the next statement fails, or connects anew
    this.#baseUrl = parts.baseUrl;
    this.#env = parts.env;
    this.#folder = parts.folder;
  }

  fill(): void {
    while (this.running.size < this.#size) this.start();
  }

  /**
   * Resolves once each process that is not frozen is seen by the others, or after a while: faults that come faster than processes begin meet
   * nobody.
   */
  async joined(): Promise<void> {
    for (let looks = 0; looks < JOINED_LOOKS; looks++) {
      const rows = await this.#run(
        `SELECT p.name FROM pg_locks l JOIN retinue.process p ON p.number = l.objid::bigint WHERE locktype = 'advisory' AND objsubid = 2 AND granted
          AND classid::bigint = (hashtext('retinue processes retinue')::bigint & 4294967295)`,
      ).catch(() => []);
      const seen = new Set(rows.map(({ name }) => Number(String(name).split(":").at(-1))));
      if ([...this.running].every(({ child, isFrozen }) => isFrozen || seen.has(child.pid ?? 0))) return;
      await waited(JOINED_LOOK_MS);
    }
  }

  /** Starts one more. `under` is a command that runs the command given to it. */
  start(under: readonly string[] = []): Running {
    const [program, ...words] = [
      ...under,
      process.execPath,
      "--max-semi-space-size=8",
      "--conditions=retinue-source",
      join(ROOT, "bin/retinue.js"),
      "run",
      "--base-url",
      this.#baseUrl,
      "--set",
      "b",
      "--profile",
      join(this.#folder, PROFILE_FILE),
      "--store",
      this.#store,
      "--json",
    ];
    const child = spawn(program, words, {
      cwd: this.#folder,
      env: { PATH: process.env["PATH"], ...this.#env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const running: Running = { child, ended: new Promise((resolve) => child.on("close", () => resolve())), said: "", isFrozen: false };
    const hear = (text: string): void => void (running.said = (running.said + text).slice(-20_000));
    child.stdout.setEncoding("utf8").on("data", hear);
    child.stderr.setEncoding("utf8").on("data", hear);
    this.running.add(running);
    void running.ended.then(() => this.running.delete(running));
    return running;
  }

  /** Resolves once a process has shards. Throws with its last words if it takes none. */
  async takes(running: Running): Promise<void> {
    const { child } = running;
    for (let looks = 0; looks < TAKING_LOOKS && child.exitCode === null && child.signalCode === null; looks++) {
      if ((await this.#sessionsOf(child.pid ?? 0)).length > 0) return;
      await waited(LOOK_MS);
    }
    throw new Error(`the process takes no shard: ${running.said.slice(-1_000)}`);
  }

  /** Strikes one in a way of its own. Resolves with the time until others have all that it had, in ms; NaN if they take too long. */
  async strikeOne(fault: string, { child }: Running, strike: () => void | Promise<void>): Promise<number> {
    const sessions = await this.#sessionsOf(child.pid ?? 0);
    await strike();
    return this.#watch(fault, sessions, performance.now());
  }

  /** `during` is called between a failover's copy and its crash: those commits are lost. */
  async strike(fault: Fault, random: Random, during: () => Promise<void>): Promise<void> {
    const running = [...this.running].filter(({ isFrozen }) => !isFrozen);
    const victim = running[Math.floor(random.next() * running.length)];
    if (victim === undefined) return;
    const pid = victim.child.pid ?? 0;
    const all = SPARING.includes(fault) ? [] : await this.#sessionsOf(pid);
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
      case "freeze":
        victim.isFrozen = true;
        victim.child.kill("SIGSTOP");
        this.#count(fault, sessions, struckAt);
        return this.#thawLater(victim);
      case "cut":
        await this.#run(`SELECT pg_terminate_backend(pid) FROM unnest(ARRAY[${sessions.join(",") || "0"}]) AS pid WHERE pid <> 0`);
        return this.#count(fault, sessions, struckAt);
      case "restart":
        return this.#server.restart("immediate");
      case "failover":
        await this.#server.copy();
        await during();
        return this.#server.failOver();
      case "none":
    }
  }

  #thawLater(victim: Running): void {
    const thaw = (): void => {
      victim.child.kill("SIGCONT");
      victim.isFrozen = false;
    };
    this.#thaws.add(thaw);
    void waited(FROZEN_MS).then(thaw);
  }

  /** Whoever is frozen goes on. */
  thaw(): void {
    for (const thaw of this.#thaws) thaw();
  }

  async settle(): Promise<void> {
    await Promise.all(this.#counting);
  }

  /** Stores that were opened so far. */
  async opened(): Promise<number> {
    const [row] = await this.#run("SELECT max(number) AS most FROM retinue.holder");
    return Number(row?.["most"] ?? 0);
  }

  /** The gaps in the lists that specialists have reported, as spans of time. */
  async gaps(): Promise<readonly { readonly handle: string; readonly since: number; readonly until: number }[]> {
    const rows = await this.#run(
      `SELECT specialist, (gap ->> 'since')::bigint AS since, (gap ->> 'until')::bigint AS until
        FROM retinue.source, json_array_elements(cursor::json -> 'gaps') AS gap WHERE cursor LIKE '%"gaps":[%'`,
    );
    return rows.map(({ specialist, since, until }) => ({ handle: String(specialist), since: Number(since), until: Number(until) }));
  }

  /** Actions that wait for a person, as `operation handle target`. */
  async parked(): Promise<ReadonlySet<string>> {
    const rows = await this.#run("SELECT operation, specialist, target FROM retinue.intent WHERE state = 'parked'");
    return new Set(rows.map(({ operation, specialist, target }) => `${String(operation)} ${String(specialist)} ${String(target)}`));
  }

  /** Actions of which nobody knew, for a time or still, if they were done. */
  async doubted(): Promise<number> {
    const [row] = await this.#run("SELECT count(*) AS count FROM retinue.intent WHERE ever_unknown <> 0");
    return Number(row?.["count"] ?? 0);
  }

  /** The event and the actions of a specialist on a post or job, and its lists, as the server has them. */
  async explain({ handle, item, at }: Missing): Promise<unknown> {
    const events = await this.#run(
      `SELECT e.seq, e.via, o.state AS open, (SELECT intents FROM retinue.run r WHERE r.event = e.seq) AS intents
        FROM retinue.event e LEFT JOIN retinue.open o ON o.kind = 0 AND o.seq = e.seq WHERE e.specialist = '${handle}' AND e.id LIKE '%:${item}'`,
    );
    const intents = await this.#run(
      `SELECT operation, state, code, message FROM retinue.intent WHERE specialist = '${handle}' AND target = '${item}'`,
    );
    const lists = await this.#run(
      `SELECT name, cursor::jsonb - 'seen' AS state, cursor::jsonb #> '{seen,0}' AS newest FROM retinue.source WHERE specialist = '${handle}'`,
    );
    return { handle, item, at, events, intents, lists };
  }

  /** The Guardian's account, the votes by state, and the rows of votes that the network has and the store does not know as confirmed. */
  async explainSpending(votes: readonly { readonly agent: string; readonly target: string }[]): Promise<unknown> {
    const account = await this.#run(
      "SELECT holder, held, posted FROM retinue.spend_row WHERE scope = 'guardian' AND span = 'total' ORDER BY holder",
    );
    const states = await this.#run(
      `SELECT i.state, i.ever_unknown, h.state AS hold, count(*) AS votes FROM retinue.intent i LEFT JOIN retinue.hold h ON h.id = i.id
        WHERE i.operation = 'posts.vote' GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`,
    );
    const unconfirmed = await this.#run(
      `SELECT to_jsonb(i) - 'input' AS intent, (SELECT to_jsonb(h) FROM retinue.hold h WHERE h.id = i.id) AS hold,
          (SELECT json_agg(e ORDER BY e.seq) FROM retinue.spend_entry e WHERE e.hold_id = i.id AND e.scope = 'guardian') AS entries,
          (SELECT json_agg(a ORDER BY a.seq) FROM retinue.attempt a WHERE a.intent = i.seq) AS attempts,
          (SELECT json_agg(n ORDER BY n.seq) FROM retinue.answer n JOIN retinue.attempt a ON a.seq = n.attempt WHERE a.intent = i.seq) AS answers,
          (SELECT json_agg(c ORDER BY c.seq) FROM retinue.change c WHERE c.subject = i.seq) AS changes
        FROM retinue.intent i WHERE i.operation = 'posts.vote' AND i.state <> 'confirmed' AND (i.specialist, i.target) IN (
          SELECT v ->> 'agent', v ->> 'target' FROM json_array_elements('${JSON.stringify(votes.map(({ agent, target }) => ({ agent, target })))}') AS v)`,
    );
    return { account, states, unconfirmed };
  }

  async end(): Promise<void> {
    for (const { child } of this.running) child.kill("SIGTERM");
    const all = [...this.running].map(({ ended }) => ended);
    await Promise.race([Promise.all(all), waited(40_000)]);
    for (const { child } of this.running) child.kill("SIGKILL");
    await Promise.all(all);
    await this.#looks.end();
  }

  async #run(sql: string): ReturnType<PostgresServer["run"]> {
    return (await this.#looks.query(sql)).rows;
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
  #count(fault: string, sessions: readonly number[], struckAt: number): void {
    if (sessions.length === 0) return;
    this.#counting.push(this.#watch(fault, sessions, struckAt));
  }

  /** Returns the time; NaN if it takes too long. */
  async #watch(fault: string, sessions: readonly number[], struckAt: number): Promise<number> {
    for (let looks = 0; looks < 2_000; looks++) {
      const [row] = await this.#run(
        `SELECT count(*) AS held, count(*) FILTER (WHERE pid = ANY(ARRAY[${sessions.join(",")}])) AS old FROM pg_locks
          WHERE locktype = 'advisory' AND objsubid = 2 AND granted AND classid::bigint = (hashtext('retinue shards retinue')::bigint & 4294967295)`,
      ).catch(() => []);
      if (Number(row?.["held"]) === 1_024 && Number(row?.["old"]) === 0) {
        const known = this.takeovers.get(fault) ?? [];
        const tookMs = performance.now() - struckAt;
        this.takeovers.set(fault, [...known, tookMs]);
        return tookMs;
      }
      await waited(LOOK_MS);
    }
    this.unfinished++;
    return Number.NaN;
  }
}

export function waited(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms));
}
