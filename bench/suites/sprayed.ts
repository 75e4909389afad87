/** Deliveries to a fleet behind a load balancer that knows no specialists, beside deliveries that reach the process of each. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { Client } from "pg";
import { hashedShard } from "../../src/store/postgres/shard-map.ts";
import { openBackends } from "../harness/backends.ts";
import { githubRequest, handleOf } from "../harness/deliveries.ts";
import { drive } from "../harness/load.ts";
import { POSTGRES_SETTINGS } from "../harness/postgres.ts";
import { serverUse } from "../harness/processes.ts";
import { startRunCommand, type RunSubject } from "../harness/run-command.ts";
import { sharedOut } from "../harness/shared-out.ts";
import { shippedSaid } from "../harness/shipped.ts";
import { openSink } from "../harness/sink.ts";
import { figure, percentile } from "../harness/stats.ts";
import type { BenchContext, Suite } from "../harness/suite.ts";

const FLEET = { name: "Retinue, `retinue run`", needs: "postgres" } as const;
const PROCESSES = 2;
const FORM = { type: "mention.created", specialists: 256 } as const;
const IN_FLIGHT = 16;
const WARM_UP = 3_000;
const EVENTS = 6_000;
const QUICK = 300;
const LATEST_MS = 60_000;
const LOOK_MS = 5;

const WAYS = ["each to the process of its specialist", "in turn to both"] as const;
type Way = (typeof WAYS)[number];

export const suite: Suite = {
  name: "sprayed",
  title: "Deliveries to any process of a fleet",
  repeats: () => "one run",
  async run(context) {
    const backends = await openBackends([FLEET], context);
    const rows: string[][] = [];
    try {
      for (const contender of backends.able) {
        const { postgres } = await backends.settingsFor(contender, "sprayed");
        rows.push(...(await compare(String(postgres), context)));
      }
    } finally {
      await backends.stop();
    }
    return {
      columns: [
        "deliveries",
        "acks/s",
        "effects/s",
        "from the delivery to the effect, p50 / p99 ms",
        "CPU ms/event: processes / server",
        "lost + doubled",
      ],
      rows,
      conditions: [
        `${PROCESSES} processes of \`retinue run\` on one server, with ${FORM.specialists} specialists that take webhooks and poll nothing; ${IN_FLIGHT} deliveries in flight, ${EVENTS} after a warm-up of ${WARM_UP}. In turn, half of them reach the process that does not have their specialist, which passes them on through the server and answers once the other has stored them.`,
        "Lifted: the tier (10⁹ requests an hour and a day) and the brakes on replies.",
        `${POSTGRES_SETTINGS}. Network and sender share one process; all share the processors of this machine.`,
        shippedSaid(),
        ...backends.missing,
      ],
      plots: [{ title: "Effects a second", better: "more", column: "effects/s", part: 0, labels: 1 }],
      goals: [],
      ratios: {},
    };
  },
};

async function compare(url: string, { folder, quick, progress }: BenchContext): Promise<string[][]> {
  const seenAt = new Map<number, number>();
  let doubled = 0;
  const sink = await openSink({
    onEffect(n) {
      if (seenAt.has(n)) doubled++;
      else seenAt.set(n, performance.now());
    },
  });
  const all: RunSubject[] = [];
  try {
    for (let i = 0; i < PROCESSES; i++) {
      const own = join(folder, `sprayed-${i}`);
      mkdirSync(own);
      all.push(await startRunCommand({ folder: own, sink: sink.port, specialists: FORM.specialists, store: url, isQuiet: true }));
    }
    await sharedOut(url, PROCESSES);
    const owner = await owners(url, all);
    const portOf = (way: Way, n: number): number => (way === "in turn to both" ? all[n % PROCESSES] : owner(handleOf(n, FORM)))?.port ?? 0;
    let next = 0;
    const send = async (way: Way, events: number) => {
      const first = next;
      next += events;
      const numbers = Array.from({ length: events }, (_, i) => first + i);
      const sentAt = new Map<number, number>();
      const began = performance.now();
      const ends = await Promise.all(
        [...Map.groupBy(numbers, (n) => portOf(way, n))].map(([port, own]) =>
          drive({
            port,
            total: own.length,
            requests: own.map((n) => githubRequest(n, FORM)),
            inFlight: IN_FLIGHT / PROCESSES,
            onSent: (k) => void sentAt.set(own[k] ?? 0, performance.now()),
          }),
        ),
      );
      const until = performance.now() + LATEST_MS;
      while (numbers.some((n) => !seenAt.has(n)) && performance.now() < until) await setTimeout(LOOK_MS);
      const done = numbers.filter((n) => seenAt.has(n));
      return {
        ackMs: Math.max(...ends.map(({ tookMs }) => tookMs)),
        effectMs: Math.max(...done.map((n) => seenAt.get(n) ?? 0)) - began,
        tookMs: done.map((n) => (seenAt.get(n) ?? 0) - (sentAt.get(n) ?? 0)),
        lost: events - done.length,
      };
    };
    const cpuMs = async (): Promise<number> => (await Promise.all(all.map((one) => one.usage()))).reduce((sum, one) => sum + one.cpuMs, 0);
    const rows: string[][] = [];
    for (const way of WAYS) {
      const events = quick ? QUICK : EVENTS;
      await send(way, quick ? QUICK : WARM_UP);
      const before = [await cpuMs(), (await serverUse(url)).cpuMs, doubled] as const;
      const { ackMs, effectMs, tookMs, lost } = await send(way, events);
      const [process, server] = [await cpuMs(), (await serverUse(url)).cpuMs];
      rows.push([
        way,
        figure((events / ackMs) * 1_000),
        figure((tookMs.length / effectMs) * 1_000),
        `${figure(percentile(tookMs, 50))} / ${figure(percentile(tookMs, 99))}`,
        `${figure((process - before[0]) / events)} / ${figure((server - before[1]) / events)}`,
        String(lost + doubled - before[2]),
      ]);
      progress(rows.at(-1)?.join(" | ") ?? "");
    }
    return rows;
  } finally {
    await Promise.all(all.map((one) => one.stop()));
    await sink.close();
  }
}

/** Tells which process has a specialist. */
async function owners(url: string, all: readonly RunSubject[]): Promise<(handle: string) => RunSubject | undefined> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ readonly name: string; readonly shard: string }>(
      `SELECT p.name, l.objid AS shard FROM pg_locks l JOIN pg_stat_activity a USING (pid) JOIN retinue.process p ON a.application_name = 'retinue writer ' || p.number
        WHERE l.locktype = 'advisory' AND l.objsubid = 2 AND a.datname = current_database()`,
    );
    const byShard = new Map(rows.map(({ name, shard }) => [Number(shard), all.find(({ pid }) => name.endsWith(`:${pid}`))]));
    return (handle) => byShard.get(hashedShard(handle));
  } finally {
    await client.end();
  }
}
