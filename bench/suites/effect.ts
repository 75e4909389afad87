/** Event to effect: a signed webhook over HTTP becomes one request to the network. Beside what people would build it with. */
import { hash } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { openBackends, type Backends, type Needing } from "../harness/backends.ts";
import { githubRequest, handleOf, SPECIALISTS } from "../harness/deliveries.ts";
import { diskFloor, floorSaid, type DiskFloor } from "../harness/disk.ts";
import { POSTGRES_SETTINGS } from "../harness/postgres.ts";
import { shareOut, startProcesses, serverUse } from "../harness/processes.ts";
import { REDIS_SETTINGS } from "../harness/redis.ts";
import { RESTATE_SETTINGS } from "../harness/restate.ts";
import { openSink } from "../harness/sink.ts";
import { shippedSaid } from "../harness/shipped.ts";
import { figure, percentile, spread, summarise } from "../harness/stats.ts";
import { startRunCommand } from "../harness/run-command.ts";
import { KEEPS_NOTHING, inTurns, goal, type BenchContext, type Goal, type Suite, type SuiteResult } from "../harness/suite.ts";

export interface Contender extends Needing {
  readonly file: string;
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Answers deliveries and makes no effect. */
  readonly answersOnly?: boolean;
  /** Keeps an event through the end of its process. */
  readonly keeps: string;
  /** The kind that is delivered to it. Default `post.created`. */
  readonly type?: string;
  /** Length of the words delivered to it. Default: a body of 0.15 KB. */
  readonly contentLength?: number;
  /** Each gets as many events as any other. Default `SPECIALISTS`. */
  readonly specialists?: number;
  /** Each has its share of the specialists. Default 1. */
  readonly processes?: number;
}

/** In a body of 1 KB. */
const LONG = 890;
/** As shipped, each key's requests are 50 ms apart: with so many keys that is no limit here. */
const RUN_SPECIALISTS = 256;
const RUN = "`retinue run`, its output read";

const CONTENDERS: readonly Contender[] = [
  { name: "floor: node:http + undici", file: "floor.js", keeps: "nothing" },
  { name: "fastify route that only verifies", file: "verify.js", answersOnly: true, keeps: "nothing" },
  { name: "Probot 14.3.2, reply by undici", file: "probot.js", settings: { by: "undici" }, keeps: "nothing" },
  { name: "Probot 14.3.2, reply by octokit", file: "probot.js", keeps: "nothing" },
  { name: "Retinue", file: "retinue.ts", keeps: "event, intent, attempt" },
  { name: "pg-boss 12.35.0", file: "pg-boss.js", needs: "postgres", keeps: "job" },
  { name: "DBOS 5.3.0", file: "dbos.js", needs: "postgres", keeps: "workflow" },
  { name: "BullMQ 6.7.0", file: "bullmq.js", needs: "redis", keeps: "job" },
  {
    name: "BullMQ 6.7.0, synced once a second",
    file: "bullmq.js",
    needs: "redis",
    appendfsync: "everysec",
    keeps: "job, but for the last second's",
  },
  { name: RUN, file: "retinue run", specialists: RUN_SPECIALISTS, keeps: "event, intent, attempt" },
  { name: "floor, bodies of 1 KB", file: "floor.js", contentLength: LONG, keeps: "nothing" },
  {
    name: "Probot 14.3.2, reply by undici, bodies of 1 KB",
    file: "probot.js",
    settings: { by: "undici" },
    contentLength: LONG,
    keeps: "nothing",
  },
  { name: "Retinue, bodies of 1 KB", file: "retinue.ts", contentLength: LONG, keeps: "event, intent, attempt" },
  {
    name: `${RUN}, bodies of 1 KB`,
    file: "retinue run",
    specialists: RUN_SPECIALISTS,
    contentLength: LONG,
    keeps: "event, intent, attempt",
  },
  { name: "Restate 1.7.12", file: "restate.js", needs: "restate", keeps: "invocation, step" },
];

const IN_FLIGHT = [1, 16, 64] as const;
const PACED_PER_SECOND = 300;
/** Length of a measurement, by the speed of the contender at this many in flight. */
const SECONDS_PER_RUN = 3;
/** Speed of most contenders at 16 in flight, beside 1 in flight. */
const FASTER_AT_16 = 3;
/** A process that runs for months has compiled its code: V8 compiles most of it within some thousand events. */
const WARM_UP = 5_000;
const WARM_UP_IN_FLIGHT = 16;
/** An effect that has not come by then is lost. */
const LATEST_MS = 20_000;

interface Measured {
  readonly acks: number;
  readonly effects: number;
  readonly p50: number;
  readonly p99: number;
  readonly cpuMs: number;
  /** Transactions of its PostgreSQL that wrote, for an event: each of ours is one statement. 0 without one. */
  readonly statements: number;
  /** Processor of its PostgreSQL, for an event; 0 without one. */
  readonly serverMs: number;
  /** Bytes of its PostgreSQL's log, for an event. */
  readonly walBytes: number;
  /** Bytes of its tables and their indexes, for an event. */
  readonly storedBytes: number;
  readonly lost: number;
  readonly doubled: number;
  readonly refused: number;
}

export const suite = effectSuite({
  name: "effect",
  title: "Event to effect: signed webhook in, one request out",
  contenders: CONTENDERS,
  judge,
});

export interface EffectSuite extends Pick<Suite, "name" | "title"> {
  /** The first one from `retinue.ts` is what the others are compared with. */
  readonly contenders: readonly Contender[];
  readonly judge: (contenders: readonly Contender[], of: MedianOf) => Pick<SuiteResult, "goals" | "ratios">;
}

/** A suite that measures its contenders from event to effect, one after the other. */
export function effectSuite({ name, title, contenders, judge: judged }: EffectSuite): Suite {
  return { name, title, repeats: inTurns, run: (context) => measureAll(contenders, judged, context) };
}

async function measureAll(contenders: readonly Contender[], judged: EffectSuite["judge"], context: BenchContext): Promise<SuiteResult> {
  const backends = await openBackends(contenders, context);
  try {
    const { able, missing } = backends;
    const seen = new Map<string, Measured[]>();
    const floors: DiskFloor[] = [];
    for (let run = 0; run < context.runs; run++) {
      floors.push(await diskFloor(context.folder, PACED_PER_SECOND));
      for (const contender of able) for (const inFlight of [...IN_FLIGHT, 0]) await once(contender, inFlight, run, seen, backends, context);
    }
    return report(able, { seen, judged }, [floorSaid(floors, PACED_PER_SECOND), ...missing]);
  } finally {
    await backends.stop();
  }
}

/** One measurement, kept under its name. In flight 0 stands for paced. */
async function once(
  contender: Contender,
  inFlight: number,
  run: number,
  seen: Map<string, Measured[]>,
  backends: Backends,
  context: BenchContext,
): Promise<void> {
  const key = keyOf(contender, inFlight);
  const database = `d${hash("sha256", `${key} ${run}`).slice(0, 40)}`;
  const folder = join(context.folder, `${database}-files`);
  mkdirSync(folder, { recursive: true });
  const settings = {
    ...contender.settings,
    folder,
    specialists: contender.specialists ?? SPECIALISTS,
    ...(await backends.settingsFor(contender, database)),
  };
  const known = seen.get(key) ?? [];
  const measured = await measure(contender, settings, inFlight, context.quick ? 300 : eventsFor(contender, inFlight, seen));
  seen.set(key, [...known, measured]);
  context.progress(
    `${contender.name}, ${inFlight === 0 ? `paced ${PACED_PER_SECOND}/s` : `${inFlight} in flight`}: ${figure(measured.effects)}/s, p99 ${figure(measured.p99)} ms` +
      (measured.lost + measured.doubled + measured.refused > 0
        ? `, lost ${measured.lost}, doubled ${measured.doubled}, refused ${measured.refused}`
        : ""),
  );
}

const keyOf = ({ name }: Contender, inFlight: number): string => `${name} ${inFlight}`;

/** About so many seconds' worth, from what was seen of the contender before. */
function eventsFor(contender: Contender, inFlight: number, seen: ReadonlyMap<string, readonly Measured[]>): number {
  if (inFlight === 0) return PACED_PER_SECOND * 6;
  const known = (at: number): number | undefined => seen.get(keyOf(contender, at))?.[0]?.effects;
  const alone = known(1) ?? 1_000;
  const pace = known(inFlight) ?? (inFlight === 1 ? alone : (known(16) ?? alone * FASTER_AT_16));
  return Math.round(Math.min(60_000, Math.max(2_000, pace * SECONDS_PER_RUN)) / 1_000) * 1_000;
}

async function measure(
  { file, answersOnly = false, processes = 1, ...form }: Contender,
  settings: Record<string, unknown>,
  inFlight: number,
  events: number,
): Promise<Measured> {
  const total = WARM_UP + events;
  const sentAt = new Float64Array(total);
  const tookMs = new Float64Array(total).fill(-1);
  let doubled = 0;
  let done = 0;
  let lastAt = 0;
  let arrived: () => void = () => undefined;
  const effect = (n: number): void => {
    if ((tookMs[n] ?? 0) >= 0) return void doubled++;
    lastAt = performance.now();
    tookMs[n] = lastAt - (sentAt[n] ?? 0);
    done++;
    arrived();
  };
  const sink = await openSink({ onEffect: effect });
  const subjects =
    file === "retinue run"
      ? [await startRunCommand({ folder: String(settings["folder"]), sink: sink.port, specialists: RUN_SPECIALISTS })]
      : await startProcesses(file, processes, { ...settings, sink: sink.port });
  const cpuMs = async (): Promise<number> => {
    const used = await Promise.all(subjects.map((subject) => subject.usage()));
    return used.reduce((sum, usage) => sum + usage.cpuMs, 0);
  };
  const server = () => serverUse(settings["postgres"]);
  try {
    const requests = Array.from({ length: total }, (_, n) => githubRequest(n, form));
    const part = async (from: number, to: number, atOnce: number): Promise<{ ackMs: number; effectMs: number; refused: number }> => {
      const send = shareOut(subjects, {
        requests: requests.slice(from, to),
        handleOf: (n) => handleOf(from + n, form),
        inFlight: atOnce === 0 ? 64 : atOnce,
        ...(atOnce === 0 ? { perSecond: PACED_PER_SECOND } : {}),
        onSent: (n) => (sentAt[from + n] ||= performance.now()),
        ...(answersOnly ? { onAnswer: (n: number) => effect(from + n) } : {}),
      });
      const began = performance.now();
      const end = await send();
      await until(
        () => done >= to,
        (tell) => (arrived = tell),
      );
      return { ackMs: end.tookMs, effectMs: lastAt - began, refused: end.refused };
    };
    await part(0, WARM_UP, WARM_UP_IN_FLIGHT);
    const before = { cpuMs: await cpuMs(), server: await server() };
    const { ackMs, effectMs, refused } = await part(WARM_UP, total, inFlight);
    const after = { cpuMs: await cpuMs(), server: await server() };
    const took = tookMs.subarray(WARM_UP).filter((ms) => ms >= 0);
    if (took.length === 0) throw new Error(`${file}: no effect at all; it wrote ${subjects.map((subject) => subject.said()).join("")}`);
    return {
      acks: (events / ackMs) * 1_000,
      effects: (took.length / effectMs) * 1_000,
      p50: percentile(took, 50),
      p99: percentile(took, 99),
      cpuMs: (after.cpuMs - before.cpuMs) / events,
      statements: (after.server.writes - before.server.writes) / events,
      serverMs: (after.server.cpuMs - before.server.cpuMs) / events,
      walBytes: (after.server.walBytes - before.server.walBytes) / events,
      storedBytes: (after.server.storedBytes - before.server.storedBytes) / events,
      lost: total - done,
      doubled,
      refused,
    };
  } finally {
    await Promise.all(subjects.map((subject) => subject.stop()));
    await sink.close();
  }
}

/** Resolves when `holds()`, or when it has not come to hold for too long. */
async function until(holds: () => boolean, listen: (tell: () => void) => void): Promise<void> {
  if (holds()) return;
  await new Promise<void>((resolve) => {
    const late = setTimeout(resolve, LATEST_MS);
    listen(() => {
      if (!holds()) return;
      clearTimeout(late);
      resolve();
    });
  });
}

function report(
  contenders: readonly Contender[],
  { seen, judged }: { readonly seen: ReadonlyMap<string, readonly Measured[]>; readonly judged: EffectSuite["judge"] },
  remarks: readonly string[],
): SuiteResult {
  const of = (contender: Contender, inFlight: number, what: keyof Measured) =>
    summarise((seen.get(keyOf(contender, inFlight)) ?? []).map((one) => one[what]));
  const areServed = contenders.some(({ needs }) => needs === "postgres");
  const said = (part: string, text: string): readonly string[] => (contenders.some((one) => one.name.includes(part)) ? [text] : []);
  const rows = contenders.map((contender) => {
    const retinue = contenders.find(({ file, contentLength }) => file === "retinue.ts" && contentLength === contender.contentLength);
    const rate = (what: "acks" | "effects"): string => IN_FLIGHT.map((n) => figure(of(contender, n, what).median)).join(" / ");
    const ratio = retinue === undefined ? "–" : figure(of(retinue, 16, "effects").median / of(contender, 16, "effects").median);
    return [
      contender.name,
      contender.keeps,
      rate("acks"),
      contender.answersOnly === true ? "–" : rate("effects"),
      `±${Math.round(spread(of(contender, 16, "effects")) * 50)} %`,
      `${figure(of(contender, 0, "p50").median)} / ${figure(of(contender, 0, "p99").median)}`,
      figure(of(contender, 16, "cpuMs").median),
      ...(areServed
        ? [
            `${figure(of(contender, 16, "serverMs").median)} / ${figure(of(contender, 64, "serverMs").median)}`,
            `${figure(of(contender, 16, "walBytes").median / 1_024)} / ${figure(of(contender, 64, "walBytes").median / 1_024)}`,
            figure(of(contender, 64, "storedBytes").median / 1_024),
          ]
        : []),
      contender.answersOnly === true ? "–" : ratio,
      String(of(contender, 16, "lost").most + of(contender, 16, "doubled").most),
    ];
  });
  const { goals, ratios } = judged(contenders, (contender, inFlight, what) => of(contender, inFlight, what).median);
  return {
    columns: [
      "",
      "keeps",
      "acks/s at 1 / 16 / 64",
      "effects/s at 1 / 16 / 64",
      "spread at 16",
      `paced ${PACED_PER_SECOND}/s p50 / p99 ms`,
      "CPU ms/event at 16",
      ...(areServed ? ["CPU of PostgreSQL ms/event at 16 / 64", "its log KB/event at 16 / 64", "its tables KB/event"] : []),
      "Retinue ÷ this",
      "lost + doubled",
    ],
    rows,
    conditions: [
      "Sender and network share one process, over bare sockets; each contender has its own; its database, where it has one, is on the same disk with fsync on.",
      `Lifted for Retinue: the tier (10⁹ requests an hour and a day), the brakes on replies, and spacing; ${SPECIALISTS} specialists. Not lifted: signature check, deduplication, one fsynced admission for each request, its settlement, halts, spending, approvals.`,
      ...said("Probot", "Probot: retry and throttling off, since with them on it replies once a second."),
      ...said(
        "BullMQ",
        "BullMQ: 64 at once, three attempts, done jobs forgotten after 10,000; appendfsync always, and once a second as its docs find enough.",
      ),
      "pg-boss: 20 connections, 8 workers, batches of 16, told of each job (notifyWorker) and otherwise looking every half second; jobs expire after a minute, three retries. DBOS: the workflow's id is the delivery's, its reply a step, everything else as it ships.",
      ...(areServed ? [`${POSTGRES_SETTINGS}.`] : []),
      ...said("BullMQ", `${REDIS_SETTINGS}.`),
      ...said("Restate", `${RESTATE_SETTINGS}.`),
      ...said(
        "processes",
        "Two and four processes: each has its share of the shards from the start, and keeps it; they look at nothing that a fleet looks at.",
      ),
      ...said(
        "`retinue run`",
        `\`retinue run\` is a process as its users start it, with ${RUN_SPECIALISTS} files of specialists, spacing as shipped, the tier and the brakes lifted; the sender's process reads what it prints. Bodies are of 0.15 KB, or of 1 KB where that is said; "Retinue ÷ this" is for bodies of the same size.`,
      ),
      "CPU is the contender's own process: what PostgreSQL, Redis and Restate's server take in theirs is not in it. That of PostgreSQL has a column; 0 where it has no part.",
      "In flight means sent and not answered. Whoever answers before working may lag behind its answers; effects/s counts until the last effect.",
      shippedSaid(),
      ...remarks,
    ],
    plots: [
      { title: "Effects a second, 16 in flight", better: "more", column: "effects/s at 1 / 16 / 64", part: 1 },
      { title: `Paced at ${PACED_PER_SECOND}/s: p99, ms`, better: "less", column: `paced ${PACED_PER_SECOND}/s p50 / p99 ms`, part: 1 },
    ],
    goals,
    ratios,
  };
}

const WHY_PACED =
  "an effect waits for the disk once or twice, and the floor never does: a COMMIT that moves a grown log to the file waits 5 to 15 ms, and whatever comes meanwhile waits";
const WHY_PROCESSOR =
  "an event that is kept is four rows, a signature and two HTTP exchanges under some twenty rules; the rows, the commit, the fsync and the signature alone cost about what the floor costs";

/** Times the floor's, in the same run. */
const MOST_PROCESSOR = 2;
const MOST_P50 = 3.5;
const MOST_P99 = 3;
/** Effects a second beside a peer, at 16 and 64 in flight. */
const LEAST_BESIDE: readonly (readonly [start: string, least: number])[] = [
  ["Probot 14.3.2, reply by undici", 0.5],
  ["BullMQ", 1.2],
  ["pg-boss", 3],
  ["DBOS", 6],
];

export type MedianOf = (contender: Contender, inFlight: number, what: keyof Measured) => number;

function judge(contenders: readonly Contender[], of: MedianOf): Pick<SuiteResult, "goals" | "ratios"> {
  const goals: Goal[] = [];
  const retinue = contenders.find(({ file }) => file === "retinue.ts");
  if (retinue === undefined) return { goals, ratios: {} };
  const floor = contenders.find(({ file }) => file === "floor.js");
  const besideFloor = (name: string, inFlight: number, what: keyof Measured, most: number, why: string): void => {
    if (floor === undefined) return;
    goals.push(goal(`${name}, beside the floor`, { most }, of(retinue, inFlight, what) / of(floor, inFlight, what), " ×", why));
  };
  besideFloor("processor an event, 16 in flight", 16, "cpuMs", MOST_PROCESSOR, WHY_PROCESSOR);
  besideFloor(`p50 paced at ${PACED_PER_SECOND}/s`, 0, "p50", MOST_P50, WHY_PACED);
  besideFloor(`p99 paced at ${PACED_PER_SECOND}/s`, 0, "p99", MOST_P99, WHY_PACED);
  for (const [start, least] of LEAST_BESIDE) {
    const peer = contenders.find(({ name, appendfsync }) => name.startsWith(start) && appendfsync !== "everysec");
    if (peer === undefined) continue;
    const why = peer.keeps === "nothing" ? KEEPS_NOTHING : WHY_PROCESSOR;
    for (const inFlight of [16, 64]) {
      const ratio = of(retinue, inFlight, "effects") / of(peer, inFlight, "effects");
      goals.push(goal(`effects/s at ${inFlight}, beside ${peer.name}`, { least }, ratio, " ×", why));
    }
  }
  return { goals, ratios: ratiosOf(contenders, retinue, of) };
}

/**
 * For the guard: a contender's processor time for an event over ours, which the disk and others on the machine change least. One is of
 * rates, to show what waits and takes no processor: DBOS waits for the same disk with each event.
 */
function ratiosOf(contenders: readonly Contender[], retinue: Contender, of: MedianOf): Readonly<Record<string, number>> {
  const beside = ["floor.js", "probot.js", "dbos.js"].flatMap((file) => contenders.find((one) => one.file === file) ?? []);
  const dbos = contenders.find(({ file }) => file === "dbos.js");
  return {
    ...Object.fromEntries(beside.map((peer) => [`CPU: ${peer.name} ÷ Retinue`, of(peer, 16, "cpuMs") / of(retinue, 16, "cpuMs")])),
    ...(dbos === undefined ? {} : { [`effects/s: Retinue ÷ ${dbos.name}`]: of(retinue, 16, "effects") / of(dbos, 16, "effects") }),
  };
}
