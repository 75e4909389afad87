/** Takeover: how long the events of a process that ends, or stops, lie until another does them, and whether they are done twice. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { openBackends, type Backends, type Needing } from "../harness/backends.ts";
import { openModel, THINK_MS } from "../harness/model.ts";
import { POSTGRES_SETTINGS } from "../harness/postgres.ts";
import { ANSWER_MS, strike, type Fault, type FaultTimes, type FaultToll } from "../harness/process-fault.ts";
import { keepReplies } from "../harness/replies.ts";
import { startRunCommand, type RunSubject } from "../harness/run-command.ts";
import { sharedOut } from "../harness/shared-out.ts";
import { shippedSaid } from "../harness/shipped.ts";
import { openSink } from "../harness/sink.ts";
import { figure, percentile } from "../harness/stats.ts";
import { startSubject, type Subject } from "../harness/subject.ts";
import { goal, type BenchContext, type Goal, type Suite } from "../harness/suite.ts";

interface Contender extends Needing {
  /** A subject; without one, `retinue run`. */
  readonly file?: string;
  readonly settings?: Readonly<Record<string, unknown>>;
}

/** Each job has a worker, since a worker that thinks fetches nothing. Both intervals and the heartbeat are the shortest it takes. */
const PG_BOSS = { workers: 32, batchSize: 1, supervision: { superviseIntervalSeconds: 1, monitorIntervalSeconds: 1 } } as const;
const HEARTBEAT_S = 10;
const EXPIRY_S = 5;
/** As pg-boss ships it. */
const SHIPPED_EXPIRY_S = 900;

const RETINUE = "Retinue, `retinue run`";
const CONTENDERS: readonly Contender[] = [
  { name: RETINUE, needs: "postgres" },
  {
    name: "pg-boss 12.35.0, heartbeat",
    file: "pg-boss.js",
    needs: "postgres",
    settings: { ...PG_BOSS, expireInSeconds: SHIPPED_EXPIRY_S, heartbeatSeconds: HEARTBEAT_S },
  },
  {
    name: `pg-boss 12.35.0, expiry ${EXPIRY_S} s`,
    file: "pg-boss.js",
    needs: "postgres",
    settings: { ...PG_BOSS, expireInSeconds: EXPIRY_S },
  },
  { name: "DBOS 5.3.0", file: "dbos.js", needs: "postgres" },
];

const FAULTS: readonly Fault[] = ["SIGTERM", "SIGKILL", "SIGSTOP"];
const PROCESSES = 3;
const PER_SECOND = 40;
/** As shipped, a specialist handles one event at a time: with so many, none waits for another. */
const SPECIALISTS = 192;
const FORM = { type: "mention.created", specialists: SPECIALISTS } as const;
const TIMES: FaultTimes = { warmMs: 12_000, waitMs: 60_000, stoppedMs: 30_000, afterMs: 30_000 };
const QUICK: FaultTimes = { warmMs: 4_000, waitMs: 10_000, stoppedMs: 5_000, afterMs: 10_000 };

interface Toll extends Omit<FaultToll, "lost"> {
  readonly lost: number;
  /** Without an effect, and known as such: ours alone knows doubt. */
  readonly inDoubt: number;
}

export const suite: Suite = {
  name: "takeover",
  title: "Takeover: the events of a process that ends, until another does them",
  repeats: () => "each fault once",
  async run(context) {
    const backends = await openBackends(CONTENDERS, context);
    const rows: string[][] = [];
    const goals: Goal[] = [];
    try {
      for (const contender of backends.able)
        for (const fault of FAULTS) {
          const toll = await ordeal(contender, fault, { backends, context });
          rows.push(rowOf(contender, fault, toll));
          context.progress(`${rows.at(-1)?.join(" | ")}; ${toll.events} events`);
          if (contender.name === RETINUE) goals.push(...judge(fault, toll));
        }
    } finally {
      await backends.stop();
    }
    return {
      columns: [
        "",
        "fault",
        "accepted and not done",
        "from the fault to the effect, p50 / max s",
        "only once it was back",
        "doubled",
        "lost",
        "in doubt",
        "longest without a 2xx, s",
      ],
      rows,
      conditions: [...conditions(), ...backends.missing],
      plots: [
        {
          title: "From the fault to the last effect, s",
          better: "less",
          column: "from the fault to the effect, p50 / max s",
          part: 1,
          labels: 2,
        },
      ],
      goals,
      ratios: {},
    };
  },
};

function conditions(): readonly string[] {
  const seconds = (ms: number): string => `${ms / 1_000} s`;
  return [
    `${PROCESSES} processes of each contender on one server, each contender in a database of its own. ${PER_SECOND} signed deliveries a second, in turn to all processes; each handler asks a model, which answers after ${seconds(THINK_MS)}, and then replies once. A delivery without a 2xx within ${seconds(ANSWER_MS)} is sent to the next process with the same id; the struck process is sent no more after the first that fails, until it is back.`,
    `After ${seconds(TIMES.warmMs)} the eldest process gets a signal. SIGTERM: the orderly end of each, as its docs describe it. SIGSTOP: SIGCONT follows ${seconds(TIMES.stoppedMs)} later. A process that ended is started again with the same identity as soon as its events are done, and ${seconds(TIMES.waitMs)} after the fault at the latest: what comes only then counts as once it was back (for SIGSTOP, what comes after SIGCONT). ${seconds(TIMES.afterMs)} later the rest is lost.`,
    `Accepted and not done: acknowledged with a 2xx before the fault, without an effect, and either the struck process had asked the model about it last, or none had. Times are from the signal to the first effect at the network, and contain the thought: the goals for SIGTERM and SIGKILL subtract its ${seconds(THINK_MS)}, because it begins again elsewhere (or ends where it began, sooner). Doubled and lost are of all events of the run, by the network's own log. The longest without a 2xx is of all deliveries, repeats included, also of those sent while the process came back.`,
    `Retinue: the fleet as shipped (session_timeout 16 s, read-back after the shipped quiet period); the thought is a step. Lifted: the tier (10⁹ requests an hour and a day) and the brakes on replies. ${SPECIALISTS} specialists that take webhooks and poll nothing. In doubt: a reply that was begun and has no effect, which waits for the quiet period by design, and is neither lost nor done.`,
    `pg-boss: ${PG_BOSS.workers} workers of one job each a process, looking every half second and told of each job (notifyWorker); supervision and monitor every second (60 s as shipped). A job of a dead process waits for a heartbeat of ${HEARTBEAT_S} s (the shortest it takes; none as shipped) or for its expiry: ${SHIPPED_EXPIRY_S / 60} minutes as shipped, longer than this suite waits; with ${EXPIRY_S} s, any longer thought would run twice. Before it replies, a handler looks at its job's signal. SIGTERM: boss.stop(), which waits for running jobs.`,
    "DBOS: an executor id for each process, thought and reply as steps. Without Conductor, which is a service beside it, a workflow is recovered when a process with the same executor id is launched, so by the supervisor that starts it: at once as a rule, here after the wait. SIGTERM: DBOS.shutdown with workflowCompletionTimeoutMS of 30 s (as shipped it waits for nothing).",
    `${POSTGRES_SETTINGS}. Network, model and sender share one process; all share the processors of this machine.`,
    shippedSaid(),
  ];
}

async function ordeal(
  { name, needs, file, settings }: Contender,
  fault: Fault,
  { backends, context }: { readonly backends: Backends; readonly context: BenchContext },
): Promise<Toll> {
  const database = `takeover_${name.replaceAll(/\W/g, "").toLowerCase()}_${fault.toLowerCase()}`;
  const server = await backends.settingsFor({ name, ...(needs === undefined ? {} : { needs }) }, database);
  const url = String(server["postgres"]);
  const folder = join(context.folder, database);
  mkdirSync(folder);
  const replies = keepReplies(FORM);
  const sink = await openSink(replies);
  const model = await openModel();
  const common = { fault, processes: PROCESSES, perSecond: PER_SECOND, form: FORM, replies, model, times: context.quick ? QUICK : TIMES };
  try {
    if (file !== undefined) {
      const start = (process: number): Promise<Subject> =>
        startSubject(
          file,
          { ...settings, ...server, folder, sink: sink.port, model: model.port, executorID: `process-${process}` },
          "peer",
        );
      const toll = await strike({ ...common, start, ready: () => Promise.resolve() });
      return { ...toll, lost: toll.lost.length, inDoubt: 0 };
    }
    let doubts: ReadonlySet<string> = new Set();
    const start = (process: number): Promise<RunSubject> =>
      startRunCommand({
        folder: join(folder, `process-${process}`),
        sink: sink.port,
        specialists: SPECIALISTS,
        store: url,
        isQuiet: true,
        model: model.port,
      });
    const toll = await strike({
      ...common,
      start,
      ready: () => sharedOut(url, PROCESSES),
      atEnd: async (one: RunSubject) => void (doubts = await one.inDoubt()),
    });
    const inDoubt = toll.lost.filter((n) => doubts.has(`e${n}`)).length;
    return { ...toll, lost: toll.lost.length - inDoubt, inDoubt };
  } finally {
    await sink.close();
    await model.close();
  }
}

function rowOf({ name }: Contender, fault: Fault, { hit, tookMs, onlyBack, doubled, lost, inDoubt, unansweredMs }: Toll): string[] {
  const took = tookMs.length === 0 ? "–" : `${figure(percentile(tookMs, 50) / 1_000)} / ${figure(Math.max(...tookMs) / 1_000)}`;
  const counts = [onlyBack, doubled, lost].map(String);
  return [name, fault, String(hit), took, ...counts, name === RETINUE ? String(inDoubt) : "–", figure(unansweredMs / 1_000)];
}

const MOST_S: Readonly<Record<Fault, number>> = { SIGTERM: 1, SIGKILL: 2, SIGSTOP: 20 };

const START = "the others look a second apart, and taking shards is a start, for which they share the processors with all the rest";
const WHY: Readonly<Record<Fault, string>> = {
  SIGTERM: START,
  SIGKILL: START,
  SIGSTOP: `the server ends the session that writes after 16 s of silence; a stopped process still counts as one that takes shards, so they are left to it for 1.5 s more; ${START}`,
};

/** What another never did is no time at all: it misses any goal. */
function judge(fault: Fault, { hit, tookMs, inDoubt, doubled, lost }: Toll): readonly Goal[] {
  const areAllDone = hit > 0 && tookMs.length >= hit - inDoubt;
  const lastMs = areAllDone ? Math.max(...tookMs) : Number.POSITIVE_INFINITY;
  const thoughtMs = fault === "SIGSTOP" ? 0 : THINK_MS;
  return [
    goal(
      `${fault}: last effect${thoughtMs === 0 ? "" : ", without the second of thinking"}`,
      { most: MOST_S[fault] },
      Math.max(0, lastMs - thoughtMs) / 1_000,
      " s",
      WHY[fault],
    ),
    goal(`${fault}: lost`, { most: 0 }, lost, ""),
    goal(`${fault}: doubled`, { most: 0 }, doubled, ""),
  ];
}
