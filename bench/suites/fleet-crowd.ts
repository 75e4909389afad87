/**
 * A store on PostgreSQL: the cost of an event among few and among many specialists. Both are there at once, each with a server of its own,
 * and take short turns: the speed of a machine drifts by more within minutes than what is looked for.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { githubRequest, handleOf } from "../harness/deliveries.ts";
import { POSTGRES_SETTINGS, startPostgres, type Postgres } from "../harness/postgres.ts";
import { serverUse, shareOut, startProcesses, type ServerUse } from "../harness/processes.ts";
import { shippedSaid } from "../harness/shipped.ts";
import { openSink, type Sink } from "../harness/sink.ts";
import { figure, summarise } from "../harness/stats.ts";
import type { Subject } from "../harness/subject.ts";
import { goal, inTurns, type BenchContext, type Goal, type Suite } from "../harness/suite.ts";

const SIZES = [100, 10_000] as const;
const [FEW, MANY] = SIZES;
const IN_FLIGHT = [16, 64] as const;
/** Turns of each size at each number in flight, and the events of one. */
const TURNS = 12;
const EVENTS = 4_000;
/** Each of the many has had so many events before: the first ones of a specialist make rows that stay. */
const FIRST_EVENTS = 4;
/** An effect that has not come by then is lost. */
const LATEST_MS = 20_000;
/** Flat is within this share, in percent. */
const FLAT = 20;
const WHY =
  "quota and usage are counted in rows of a key and a specialist: those of few are counted many times before they are written, those of many once or twice";

/** Of all turns of one size at one number in flight; what follows the turns is in it. */
interface Cost {
  readonly events: number;
  readonly tookMs: number;
  readonly processMs: number;
  readonly serverMs: number;
  readonly walBytes: number;
  /** Transactions that write: each is one statement. */
  readonly writes: number;
}

interface Crowd {
  readonly specialists: number;
  readonly subject: Subject;
  readonly sink: Sink;
  readonly postgres: Postgres;
  readonly url: string;
  /** Resolves when there are so many effects, and rejects if they do not come. */
  reached(count: number): Promise<void>;
  sent: number;
}

export const suite: Suite = {
  name: "fleet-crowd",
  title: "A store on PostgreSQL: the cost of an event among few and many specialists",
  repeats: inTurns,
  async run(context) {
    const runs: (readonly Cost[])[] = [];
    for (let run = 0; run < context.runs; run++) runs.push(await measure(run, context));
    return report(runs);
  },
};

/** One cost for each number in flight and size. */
const CASES = IN_FLIGHT.flatMap((inFlight) => SIZES.map((specialists) => ({ inFlight, specialists })));

async function measure(run: number, { quick, folder, progress }: BenchContext): Promise<readonly Cost[]> {
  const [scale, turns] = quick ? [10, 2] : [1, TURNS];
  const crowds: Crowd[] = [];
  try {
    for (const specialists of SIZES) crowds.push(await openCrowd(specialists / scale, join(folder, `crowd-${run}-${specialists}`)));
    for (const crowd of crowds) await deliver(crowd, (MANY / scale) * FIRST_EVENTS, IN_FLIGHT[0]);
    const costs: Cost[] = [];
    for (const inFlight of IN_FLIGHT) {
      const before = await Promise.all(crowds.map(useOf));
      const tookMs = crowds.map(() => 0);
      for (let turn = 0; turn < turns; turn++)
        for (const [at, crowd] of [...crowds.entries()].toSorted(([a], [b]) => (turn % 2 === 0 ? a - b : b - a)))
          tookMs[at] = (tookMs[at] ?? 0) + (await deliver(crowd, EVENTS / scale, inFlight));
      for (const [at, crowd] of crowds.entries())
        costs.push(costBetween(before[at], await useOf(crowd), { events: (turns * EVENTS) / scale, tookMs: tookMs[at] ?? 0 }));
    }
    for (const [i, { inFlight, specialists }] of CASES.entries())
      progress(`run ${run + 1}: ${specialists.toLocaleString("en")} specialists, ${inFlight} in flight: ${said(costAt(costs, i))}`);
    return costs;
  } finally {
    await Promise.all(crowds.map(({ subject, sink }) => Promise.all([subject.stop(), sink.close()])));
    await Promise.all(crowds.map(({ postgres }) => postgres.stop()));
  }
}

async function openCrowd(specialists: number, folder: string): Promise<Crowd> {
  mkdirSync(folder);
  const postgres = await startPostgres(folder);
  const url = await postgres.database("crowd");
  let count = 0;
  let arrived: () => void = () => undefined;
  const sink = await openSink({ onEffect: () => (count++, arrived()) });
  const [subject] = await startProcesses("retinue.ts", 1, { polls: false, folder, specialists, postgres: url, sink: sink.port });
  if (subject === undefined) throw new Error("no process was started");
  const reached = (wanted: number): Promise<void> =>
    new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`${wanted} effects are due, and ${count} came`)), LATEST_MS);
      arrived = () => {
        if (count < wanted) return;
        clearTimeout(late);
        resolve();
      };
      arrived();
    });
  return { specialists, subject, sink, postgres, url, reached, sent: 0 };
}

/** Sends events, and resolves when each has led to its effect. Returns the time it took. */
async function deliver(crowd: Crowd, events: number, inFlight: number): Promise<number> {
  const from = crowd.sent;
  crowd.sent += events;
  const form = { type: "mention.created", specialists: crowd.specialists };
  const requests = Array.from({ length: events }, (_, n) => githubRequest(from + n, form));
  const send = shareOut([crowd.subject], { requests, handleOf: (n) => handleOf(from + n, form), inFlight, onSent: () => undefined });
  const began = performance.now();
  await send();
  await crowd.reached(crowd.sent);
  return performance.now() - began;
}

interface Use {
  readonly processMs: number;
  readonly server: ServerUse;
}

async function useOf({ subject, url }: Crowd): Promise<Use> {
  return { processMs: (await subject.usage()).cpuMs, server: await serverUse(url) };
}

function costBetween(before: Use | undefined, after: Use, work: Pick<Cost, "events" | "tookMs">): Cost {
  if (before === undefined) throw new Error("no use was measured before");
  return {
    ...work,
    processMs: after.processMs - before.processMs,
    serverMs: after.server.cpuMs - before.server.cpuMs,
    walBytes: after.server.walBytes - before.server.walBytes,
    writes: after.server.writes - before.server.writes,
  };
}

const costOf = ({ processMs, serverMs, events }: Cost): number => (processMs + serverMs) / events;

function said({ processMs, serverMs, tookMs, events }: Cost): string {
  return `${figure((events / tookMs) * 1_000)}/s, process ${figure(processMs / events)} ms, server ${figure(serverMs / events)} ms`;
}

function costAt(costs: readonly Cost[], at: number): Cost {
  const cost = costs[at];
  if (cost === undefined) throw new Error(`no cost was measured of case ${at}`);
  return cost;
}

function report(runs: readonly (readonly Cost[])[]) {
  const median = (at: number, of: (cost: Cost) => number): number => summarise(runs.map((costs) => of(costAt(costs, at)))).median;
  /** What an event among many costs more than one among few in the same run, in percent. */
  const more = (at: number): number =>
    summarise(runs.map((costs) => (costOf(costAt(costs, at + 1)) / costOf(costAt(costs, at)) - 1) * 100)).median;
  return {
    columns: ["", "effects/s", "process ms/event", "server ms/event", "both", "its log KB/event", "statements/event"],
    rows: CASES.map(({ inFlight, specialists }, i) => [
      `${specialists.toLocaleString("en")} specialists, ${inFlight} in flight`,
      figure(median(i, ({ events, tookMs }) => (events / tookMs) * 1_000)),
      figure(median(i, ({ processMs, events }) => processMs / events)),
      figure(median(i, ({ serverMs, events }) => serverMs / events)),
      figure(median(i, costOf)),
      figure(median(i, ({ walBytes, events }) => walBytes / events / 1_024)),
      figure(median(i, ({ writes, events }) => writes / events)),
    ]),
    conditions: [
      `Each size has a process and a server of its own; they take ${TURNS} turns of ${EVENTS.toLocaleString("en")} events each at 16 in flight, and as many at 64, each size first in every other turn. They take deliveries and poll nothing. Each of the many has had ${FIRST_EVENTS} events before, and the few as many together.`,
      "Processor time of the process and of the whole server from the first turn at so many in flight to the last, their pauses included. A goal is the middle of what each run shows. Lifted: the tier (10⁹ requests an hour and a day), the brakes on replies, and spacing.",
      `${POSTGRES_SETTINGS}.`,
      shippedSaid(),
    ],
    plots: [],
    goals: IN_FLIGHT.map((inFlight, i): Goal =>
      goal(
        `processor of an event at ${inFlight}, ${MANY.toLocaleString("en")} specialists beside ${FEW}`,
        { most: FLAT },
        more(i * SIZES.length),
        " %",
        WHY,
      ),
    ),
    ratios: {},
  };
}
