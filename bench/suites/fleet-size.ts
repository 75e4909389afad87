/** A store on PostgreSQL as it grows: the cost of an event and of a start among old rows, and that of ten thousand who have nothing to do. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { Client } from "pg";
import { parsePostgresAddress } from "../../src/config/postgres-address.ts";
import { systemClock } from "../../src/core/clock.ts";
import { systemRandom } from "../../src/core/random.ts";
import { openPostgresStore } from "../../src/store/postgres/postgres-store.ts";
import { oldRows } from "../../test/harness/old-rows.ts";
import type { AdmissionSpeed } from "../harness/ledger.ts";
import { POSTGRES_SETTINGS, startPostgres, type Postgres } from "../harness/postgres.ts";
import { startRunCommand, type RunSubject } from "../harness/run-command.ts";
import { cpuMsOf, serverCpuMs, serverOf } from "../harness/server-usage.ts";
import { sharedOut } from "../harness/shared-out.ts";
import { shippedSaid } from "../harness/shipped.ts";
import { openSink } from "../harness/sink.ts";
import { figure, summarise } from "../harness/stats.ts";
import { startSubject } from "../harness/subject.ts";
import { goal, inTurns, type BenchContext, type Goal, type Suite } from "../harness/suite.ts";

/** Rows of events, runs, attempts and answers together. */
const HISTORIES = [0, 1_000_000, 10_000_000] as const;
const KEYS = 100;
/** Flat is within this share. */
const FLAT = 0.2;
const IDLE = { processes: 4, specialists: 10_000, seconds: 120 } as const;
/** After the start: everything is asked once, and then nothing. */
const SETTLE_MS = 60_000;

interface Grown {
  readonly admit: AdmissionSpeed;
  readonly claim: AdmissionSpeed;
  /** From the call that opens the store until its present is there, one specialist can begin, all can, and people see all of it. */
  readonly presentMs: number;
  readonly firstMs: number;
  readonly allMs: number;
  readonly wholeMs: number;
  readonly rssMb: number;
}

interface Idle {
  readonly queries: number;
  readonly processShare: number;
  readonly serverShare: number;
  readonly walBytes: number;
  readonly rssMb: number;
  readonly sessions: number;
}

export const suite: Suite = {
  name: "fleet-size",
  title: "A store on PostgreSQL as it grows: old rows, and nothing to do",
  repeats: inTurns,
  async run(context) {
    const postgres = await startPostgres(context.folder);
    try {
      const cases = HISTORIES.map((history) => ({ name: aged(history), history }));
      const seen = new Map<string, Grown[]>();
      for (let run = 0; run < context.runs; run++)
        for (const one of cases) {
          const grown = await grow(postgres, one, run, context);
          seen.set(one.name, [...(seen.get(one.name) ?? []), grown]);
          context.progress(
            `${one.name}: admission ${figure(costOf(grown.admit))} µs, event ${figure(costOf(grown.claim))} µs, start ${figure(grown.presentMs)} ms, first ${figure(grown.firstMs)}, all ${figure(grown.allMs)}, whole ${figure(grown.wholeMs)}, ${figure(grown.rssMb)} MB`,
          );
        }
      const idle = await atRest(postgres, context);
      const median = (name: string, of: (grown: Grown) => number): number => summarise((seen.get(name) ?? []).map(of)).median;
      const [fewest, ...others] = cases.map(({ name }) => name);
      const flat = (name: string, of: "admit" | "claim"): Goal => {
        const more = median(name, (one) => costOf(one[of])) / median(fewest ?? "", (one) => costOf(one[of])) - 1;
        return goal(`${of === "admit" ? "an admission" : "an event"}, ${name} beside ${fewest}`, { most: FLAT * 100 }, more * 100, " %");
      };
      return {
        columns: [
          "",
          "admission: process / server µs",
          "event: process / server µs",
          "events/s",
          "start: present / first / all / whole s",
          "RSS MB",
        ],
        rows: cases.map(({ name }) => [
          name,
          `${figure(median(name, (one) => one.admit.cpuMicros))} / ${figure(median(name, (one) => one.admit.serverMicros))}`,
          `${figure(median(name, (one) => one.claim.cpuMicros))} / ${figure(median(name, (one) => one.claim.serverMicros))}`,
          figure(median(name, (one) => one.claim.perSecond)),
          (["presentMs", "firstMs", "allMs", "wholeMs"] as const).map((at) => figure(median(name, (one) => one[at]) / 1_000)).join(" / "),
          figure(median(name, (one) => one.rssMb)),
        ]),
        conditions: [
          "Processor time of one process that has all shards, and of the server. 64 at a time; each admission is settled. An event is put as a delivery, which waits until it is stored, claimed and ended without an intent. Measured when the start is over.",
          `Old rows: a quarter each of events, runs, attempts and answers, all of it done, of the same ${KEYS} specialists. A start: until the present is there, one specialist that is asked for can begin, all can, and people see all of the past.`,
          `At rest: ${IDLE.specialists.toLocaleString("en")} specialists that take webhooks and have none, on ${IDLE.processes} processes \`retinue run\`, for ${IDLE.seconds} s: a process sends ${figure(idle.queries)} statements a second and uses ${figure(idle.processShare * 100)} % of a processor, its share of the server ${figure(idle.serverShare * 100)} %; all together write ${figure(idle.walBytes)} bytes of log a second, and have ${idle.sessions} sessions; a process takes ${figure(idle.rssMb)} MB.`,
          `${POSTGRES_SETTINGS}.`,
          shippedSaid(),
        ],
        plots: [],
        goals: [
          ...others.flatMap((name) => [flat(name, "admit"), flat(name, "claim")]),
          goal("at rest: statements of a process a second", { most: 2 }, idle.queries, ""),
          goal(
            "at rest: processor of a process with its share of the server",
            { most: 1 },
            (idle.processShare + idle.serverShare) * 100,
            " %",
          ),
        ],
        ratios: {},
      };
    } finally {
      await postgres.stop();
    }
  },
};

const aged = (rows: number): string => `${rows.toLocaleString("en")} old rows`;
const costOf = ({ cpuMicros, serverMicros }: AdmissionSpeed): number => cpuMicros + serverMicros;

async function grow(
  postgres: Postgres,
  { history }: { readonly history: number },
  run: number,
  { quick, folder }: BenchContext,
): Promise<Grown> {
  const url = await postgres.database(`growth_${run}_${history}`);
  const files = join(folder, `growth-${run}-${history}`);
  mkdirSync(files);
  if (history > 0) await age(url, files, quick ? history / 100 : history);
  const settings = { path: files, postgres: url, server: await serverOf(url), keys: KEYS, count: quick ? 1_000 : 20_000 };
  const subject = await startSubject("growth.ts", settings, "retinue");
  try {
    return (await subject.ask("go")) as Grown;
  } finally {
    await subject.stop();
  }
}

/** Fills a store with what was done long ago. */
async function age(url: string, folder: string, rows: number): Promise<void> {
  const store = await openPostgresStore({ address: parsePostgresAddress(url, folder), clock: systemClock(), random: systemRandom() });
  await store.recover(Date.now(), 0);
  await store.close();
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(`SET synchronous_commit = off`);
    const handles = Array.from({ length: KEYS }, (_, i) => `s${i}`);
    for (const statement of [...oldRows(handles, rows, Date.now()), "ANALYZE", "CHECKPOINT"]) await client.query(statement);
  } finally {
    await client.end();
  }
}

async function atRest(postgres: Postgres, { quick, folder, progress }: BenchContext): Promise<Idle> {
  const url = await postgres.database("at_rest");
  const seconds = quick ? 10 : IDLE.seconds;
  const specialists = quick ? 100 : IDLE.specialists;
  const server = await serverOf(url);
  const sink = await openSink({ onEffect: () => undefined });
  const client = new Client({ connectionString: url });
  await client.connect();
  const running: RunSubject[] = [];
  try {
    for (let i = 0; i < IDLE.processes; i++)
      running.push(
        await startRunCommand({ folder: join(folder, `at-rest-${i}`), sink: sink.port, specialists, store: url, isQuiet: true }),
      );
    await sharedOut(url, IDLE.processes);
    await setTimeout(quick ? 1_000 : SETTLE_MS);
    const now = async () => {
      const { rows } = await client.query<{ readonly wal: string; readonly sessions: string }>(
        `SELECT pg_current_wal_lsn() - '0/0' AS wal, (SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'retinue%') AS sessions`,
      );
      return {
        wal: Number(rows[0]?.wal),
        sessions: Number(rows[0]?.sessions),
        server: serverCpuMs(server),
        processes: running.reduce((sum, { pid }) => sum + cpuMsOf(pid), 0),
      };
    };
    const before = await now();
    await setTimeout(seconds * 1_000);
    const after = await now();
    const share = (what: "server" | "processes"): number => (after[what] - before[what]) / (seconds * 1_000) / IDLE.processes;
    const usage = await Promise.all(running.map((one) => one.usage()));
    // Counting them costs time of the server, so it is not done while that is measured.
    const statements = await postgres.statementsDuring(() => setTimeout(seconds * 1_000));
    const idle = {
      queries: statements / seconds / IDLE.processes,
      processShare: share("processes"),
      serverShare: share("server"),
      walBytes: (after.wal - before.wal) / seconds,
      rssMb: Math.max(...usage.map(({ rssMb }) => rssMb)),
      sessions: after.sessions,
    };
    progress(`at rest: ${JSON.stringify(idle)}`);
    return idle;
  } finally {
    await Promise.all(running.map((one) => one.stop()));
    await client.end();
    await sink.close();
  }
}
