/** Receiving webhooks: verified, stored, deduplicated and answered, beside a route that only verifies and what others would use. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { openBackends, type Backends, type Needing } from "../harness/backends.ts";
import { githubRequest, slackRequest, SPECIALISTS } from "../harness/deliveries.ts";
import { diskFloor, floorSaid, type DiskFloor } from "../harness/disk.ts";
import { drive } from "../harness/load.ts";
import { POSTGRES_SETTINGS } from "../harness/postgres.ts";
import { REDIS_SETTINGS } from "../harness/redis.ts";
import { openSink } from "../harness/sink.ts";
import { shippedSaid } from "../harness/shipped.ts";
import { figure, percentile, spread, summarise, type Summary } from "../harness/stats.ts";
import { startSubject, type Subject } from "../harness/subject.ts";
import { KEEPS_NOTHING, inTurns, goal, type BenchContext, type Goal, type Suite, type SuiteResult } from "../harness/suite.ts";
import { delivered } from "../subjects/webhook.ts";

interface Contender extends Needing {
  readonly file: string;
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly requestOf?: (n: number) => Buffer;
  /** What is still there after the end of its process. */
  readonly keeps: string;
}

const VERIFY = "fastify route that only verifies";
const RETINUE = "Retinue, handling nothing";
const CONTENDERS: readonly Contender[] = [
  { name: VERIFY, file: "verify.js", keeps: "nothing" },
  { name: RETINUE, file: "retinue.ts", settings: { replies: false }, requestOf: unhandled, keeps: "delivery, as it came" },
  { name: "Probot 14.3.2", file: "receivers.js", settings: { peer: "probot" }, keeps: "nothing" },
  { name: "Bolt 5.1.0", file: "receivers.js", settings: { peer: "bolt" }, requestOf: slackRequest, keeps: "nothing" },
  { name: "BullMQ 6.7.0", file: "receivers.js", settings: { peer: "bullmq" }, needs: "redis", keeps: "job" },
  {
    name: "BullMQ 6.7.0, synced once a second",
    file: "receivers.js",
    settings: { peer: "bullmq" },
    needs: "redis",
    appendfsync: "everysec",
    keeps: "job, but for the last second's",
  },
  { name: "pg-boss 12.35.0", file: "receivers.js", settings: { peer: "pg-boss" }, needs: "postgres", keeps: "job" },
];

const IN_FLIGHT = 64;
const WARM_UP = 2_000;
const SECONDS_PER_RUN = 4;
/** Sockets of the paced half: enough that a slow answer holds nobody else up. */
const PACED_SOCKETS = 256;
/** Deliveries sent once more at the end, of which nothing may be kept. */
const REPEATED = 200;
const WIRE_PER_SECOND = 20;
const SYNCS_PER_SECOND = 300;

interface Measured {
  readonly perSecond: number;
  readonly p99: number;
  readonly cpuMs: number;
  readonly rssMb: number;
  readonly halfP50: number;
  readonly halfP99: number;
  /** Of the repeated ones, how many were taken again; undefined where nobody counts. */
  readonly again: number | undefined;
  readonly refused: number;
}

export const suite: Suite = {
  name: "webhooks",
  title: "Receiving webhooks: verified, stored, deduplicated, answered",
  repeats: inTurns,
  async run(context) {
    const backends = await openBackends(CONTENDERS, context);
    try {
      const { able, missing } = backends;
      const seen = new Map<string, Measured[]>();
      const wire: number[] = [];
      const floors: DiskFloor[] = [];
      for (let run = 0; run < context.runs; run++) {
        floors.push(await diskFloor(context.folder, SYNCS_PER_SECOND));
        for (const contender of able) {
          const measured = await measure(contender, run, seen.get(contender.name)?.[0], backends, context);
          seen.set(contender.name, [...(seen.get(contender.name) ?? []), measured]);
          context.progress(
            `${contender.name}: ${figure(measured.perSecond)}/s, p99 ${figure(measured.p99)} ms, at half load ${figure(measured.halfP99)} ms, refused ${measured.refused}, again ${measured.again ?? "–"}`,
          );
        }
        if (able.some(({ name }) => name === RETINUE)) wire.push(await toTheWire(run, context));
        context.progress(`to the wire, p50: ${figure(wire.at(-1) ?? NaN)} ms`);
      }
      return report(able, seen, wire, [floorSaid(floors, SYNCS_PER_SECOND), ...missing]);
    } finally {
      await backends.stop();
    }
  },
};

/** As many as it takes at 64 in flight, then half as many a second, then some of them again. */
async function measure(
  contender: Contender,
  run: number,
  before: Measured | undefined,
  backends: Backends,
  context: BenchContext,
): Promise<Measured> {
  const name = `w${CONTENDERS.indexOf(contender)}r${run}`;
  const folder = join(context.folder, name);
  mkdirSync(folder, { recursive: true });
  const settings = {
    ...contender.settings,
    folder,
    specialists: SPECIALISTS,
    ...(await backends.settingsFor(contender, name)),
  };
  const subject = await startSubject(contender.file, settings, contender.name === RETINUE ? "retinue" : "peer");
  try {
    const sender = sending(subject.port, contender.requestOf ?? githubRequest);
    await sender.send({ total: context.quick ? 200 : WARM_UP, inFlight: IN_FLIGHT });
    const full = context.quick ? 500 : Math.round(Math.min(80_000, Math.max(4_000, (before?.perSecond ?? 2_000) * SECONDS_PER_RUN)));
    const began = await subject.usage();
    const flat = await sender.send({ total: full, inFlight: IN_FLIGHT });
    const ended = await subject.usage();
    const perSecond = (full / flat.tookMs) * 1_000;
    const half = await sender.send({
      total: Math.max(200, Math.round((perSecond / 2) * (context.quick ? 1 : SECONDS_PER_RUN))),
      inFlight: PACED_SOCKETS,
      perSecond: perSecond / 2,
    });
    return {
      perSecond,
      p99: percentile(flat.took, 99),
      cpuMs: (ended.cpuMs - began.cpuMs) / full,
      rssMb: ended.rssMb,
      halfP50: percentile(half.took, 50),
      halfP99: percentile(half.took, 99),
      again: await repeat(subject, sender),
      refused: flat.refused + half.refused,
    };
  } finally {
    await subject.stop();
  }
}

/** How many of the repeated ones a contender took for new. */
async function repeat(subject: Subject, sender: ReturnType<typeof sending>): Promise<number | undefined> {
  const kept = async (): Promise<number | undefined> => {
    const told = await subject.ask("kept");
    return typeof told === "object" && told !== null && "kept" in told ? Number(told.kept) : undefined;
  };
  const before = await kept();
  if (before === undefined) return undefined;
  await sender.send({ total: REPEATED, inFlight: 16, from: 0 });
  return ((await kept()) ?? NaN) - before;
}

interface Load {
  readonly total: number;
  readonly inFlight: number;
  readonly perSecond?: number;
  /** Sends what was sent before, from here. */
  readonly from?: number;
}

/** Every delivery is another one. They are made beforehand, so that signing them is not what is measured. */
function sending(port: number, requestOf: (n: number) => Buffer) {
  let next = 0;
  return {
    async send({ total, inFlight, perSecond, from = next }: Load) {
      const requests = Array.from({ length: total }, (_, i) => requestOf(from + i));
      next = Math.max(next, from + total);
      const sentAt = new Float64Array(total);
      const took = new Float64Array(total);
      const end = await drive({
        port,
        total,
        requests,
        inFlight,
        ...(perSecond === undefined ? {} : { perSecond }),
        onSent: (n) => void (sentAt[n] ||= performance.now()),
        onAnswer: (n) => void (took[n] = performance.now() - (sentAt[n] ?? 0)),
      });
      return { ...end, took };
    },
  };
}

/** The whole runtime as it ships, spacing between requests of one key included: from a delivery's first byte to the request it causes. */
async function toTheWire(run: number, context: BenchContext): Promise<number> {
  const folder = join(context.folder, `wire${run}`);
  mkdirSync(folder, { recursive: true });
  const warm = context.quick ? 20 : WIRE_PER_SECOND * 5;
  const total = warm + (context.quick ? 20 : WIRE_PER_SECOND * 15);
  const sentAt = new Float64Array(total);
  const took: number[] = [];
  let seen = 0;
  const all = Promise.withResolvers<void>();
  const sink = await openSink({
    onEffect(n) {
      if (n >= warm) took.push(performance.now() - (sentAt[n] ?? 0));
      if (++seen === total) all.resolve();
    },
  });
  const subject = await startSubject("retinue.ts", { sink: sink.port, folder, specialists: SPECIALISTS, spacing: "as shipped" }, "retinue");
  try {
    const requests = Array.from({ length: total }, (_, n) => githubRequest(n));
    await drive({
      port: subject.port,
      total,
      requests,
      inFlight: 16,
      perSecond: WIRE_PER_SECOND,
      onSent: (n) => void (sentAt[n] ||= performance.now()),
    });
    await all.promise;
    return percentile(took, 50);
  } finally {
    await subject.stop();
    await sink.close();
  }
}

/** Of a kind that nobody handles: it is read, kept and shown, and nothing follows from it. */
function unhandled(n: number): Buffer {
  return githubRequest(n, { type: "bench.seen" });
}

function report(
  contenders: readonly Contender[],
  seen: ReadonlyMap<string, readonly Measured[]>,
  wire: readonly number[],
  remarks: readonly string[],
): SuiteResult {
  const of = ({ name }: Contender, what: keyof Measured): Summary => summarise((seen.get(name) ?? []).map((one) => one[what] ?? NaN));
  const byName = (name: string): Contender | undefined => contenders.find((one) => one.name === name);
  const verify = byName(VERIFY);
  const retinue = byName(RETINUE);
  const rows = contenders.map((contender) => {
    const rate = of(contender, "perSecond");
    const again = of(contender, "again").most;
    return [
      contender.name,
      contender.keeps,
      figure(rate.median),
      `±${Math.round(spread(rate) * 50)} %`,
      verify === undefined ? "–" : figure(rate.median / of(verify, "perSecond").median),
      figure(of(contender, "p99").median),
      `${figure(of(contender, "halfP50").median)} / ${figure(of(contender, "halfP99").median)}`,
      figure(of(contender, "cpuMs").median),
      figure(of(contender, "rssMb").median),
      Number.isNaN(again) ? "–" : `${again} of ${REPEATED}`,
      String(of(contender, "refused").most),
    ];
  });
  const { goals, ratios } = judge(contenders, retinue, verify, (contender, what) => of(contender, what).median, wire);
  return {
    columns: [
      "",
      "keeps",
      `acks/s at ${IN_FLIGHT}`,
      "spread",
      "÷ only verifying",
      `p99 ms at ${IN_FLIGHT}`,
      "at half its rate: p50 / p99 ms",
      "CPU ms each",
      "RSS MB",
      "repeats taken for new",
      "refused",
    ],
    rows,
    conditions: [
      `The sender is one process over bare sockets, each contender another; a payload of ${JSON.stringify(delivered(1)).length} bytes, every one another; databases on the same disk, with fsync on.`,
      "Retinue runs whole, and its deliveries are of a kind nobody handles, which it reads and keeps as they came; of the others no worker runs, and handlers do nothing. pg-boss: the delivery's id is the job's primary key, 20 connections. BullMQ: it is the job's id; appendfsync always, and once a second as its docs find enough. Probot and Bolt keep nothing.",
      `${POSTGRES_SETTINGS}. ${REDIS_SETTINGS}.`,
      `To the wire: the whole runtime with everything on and requests spaced as shipped, ${SPECIALISTS} specialists, ${WIRE_PER_SECOND} deliveries a second, from the first byte sent to the request that arrived.`,
      shippedSaid(),
      ...remarks,
    ],
    plots: [
      { title: `Deliveries taken a second, ${IN_FLIGHT} in flight`, better: "more", column: `acks/s at ${IN_FLIGHT}` },
      { title: "At half its rate: p99, ms", better: "less", column: "at half its rate: p50 / p99 ms", part: 1 },
    ],
    goals,
    ratios,
  };
}

const WHY_VERIFY =
  "the route is bound by the processor alone, what keeps its deliveries by memory and disk as well: the ratio moves with the machine, 0.27 to 0.46 were seen on one within a day";
const WHY_REDIS =
  "Redis keeps its jobs, in a process of its own that works beside it: between 0.71 and 1.24 × were seen on one machine within a day, by what else it did";

function judge(
  contenders: readonly Contender[],
  retinue: Contender | undefined,
  verify: Contender | undefined,
  of: (contender: Contender, what: keyof Measured) => number,
  wire: readonly number[],
): { readonly goals: readonly Goal[]; readonly ratios: Record<string, number> } {
  const goals: Goal[] = [];
  const ratios: Record<string, number> = {};
  if (retinue === undefined) return { goals, ratios };
  const mine = of(retinue, "perSecond");
  for (const peer of contenders) {
    // A goal is to be as fast as what keeps as much, or nothing at all.
    if (peer === retinue || peer.appendfsync === "everysec") continue;
    const ratio = mine / of(peer, "perSecond");
    const why = peer === verify ? WHY_VERIFY : peer.keeps === "nothing" ? KEEPS_NOTHING : peer.needs === "redis" ? WHY_REDIS : undefined;
    goals.push(goal(`deliveries/s at ${IN_FLIGHT}, beside ${peer.name}`, { least: peer === verify ? 0.4 : 1 }, ratio, " ×", why));
    if (peer.keeps === "nothing") ratios[`CPU: ${peer.name} ÷ Retinue`] = of(peer, "cpuMs") / of(retinue, "cpuMs");
    if (peer.needs === "redis") ratios[`acks/s: Retinue ÷ ${peer.name}`] = ratio;
  }
  const crowded =
    "each answer waits for the disk, and at half of what it takes at most sender and contender fill both processors" +
    (verify === undefined ? "" : `: the route that keeps nothing has ${figure(of(verify, "halfP99"))} ms at its own half`);
  goals.push(goal("p99 acknowledgement at half load", { most: 20 }, of(retinue, "halfP99"), " ms", crowded));
  goals.push(goal("repeats taken for new", { most: 0 }, of(retinue, "again"), ""));
  goals.push(goal("webhook to request on the wire, p50", { most: 10 }, summarise(wire).median, " ms"));
  return { goals, ratios };
}
