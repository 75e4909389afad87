/** The idle crowd: thousands of specialists in one process that look at their network when it is time. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { shippedSaid } from "../harness/shipped.ts";
import { openSink } from "../harness/sink.ts";
import { figure, summarise } from "../harness/stats.ts";
import { startSubject, type Subject } from "../harness/subject.ts";
import { inTurns, goal, type BenchContext, type Goal, type Suite } from "../harness/suite.ts";

interface Weighed {
  readonly empty: { readonly heapMb: number; readonly rssMb: number };
  readonly now: { readonly heapMb: number; readonly rssMb: number };
  readonly startMs: number;
  readonly known: number;
}

interface Late {
  readonly looks: number;
  readonly p50?: number;
  readonly p99?: number;
  readonly most?: number;
}

/** What was seen of one contender, by name: NaN where it has no such figure. */
type Seen = Readonly<Record<(typeof FIGURES)[number], number>>;
const FIGURES = [
  "heapKb",
  "rssMb",
  "startMs",
  "settledMs",
  "cpuPercent",
  "requestsPerSecond",
  "looks",
  "lateP50",
  "lateP99",
  "lateMost",
] as const;
const NOTHING = Object.fromEntries(FIGURES.map((name) => [name, Number.NaN])) as Seen;

interface Contender {
  readonly name: string;
  readonly count: number;
  /** Retinue alone: what the goals are for. */
  readonly goals?: "idle" | "busy" | "schedules";
  measure(context: BenchContext): Promise<Seen>;
}

/** First looks are over by then. */
const SETTLE_MS = 60_000;
/** From then on a Starter's looks are spread over its period. */
const SPREAD_MS = 60_000;
const WATCH_MS = 60_000;
/** A whole minute begins within, and 18 seconds of it pass. */
const SCHEDULES_MS = 78_000;
const SCHEDULES = 100;

const WHY_RSS =
  "V8 lets a heap of this size nearly double before it collects: a collection at 40 % of growth keeps 59 MB, and costs 9 % of the processor of each event";

export const suite: Suite = {
  name: "crowd",
  title: "Idle crowd: specialists in one process that only look",
  repeats: inTurns,
  async run(context) {
    const contenders = contendersOf(context).filter(({ name }) => context.only === undefined || name.includes(context.only));
    const seen = new Map<Contender, Seen[]>(contenders.map((contender) => [contender, []]));
    const missing = new Map<Contender, string>();
    for (let run = 0; run < context.runs; run++)
      for (const contender of contenders) {
        if (missing.has(contender)) continue;
        const one = await contender.measure(context).catch((error: unknown) => {
          if (contender.goals !== undefined) throw error;
          return firstLine(error);
        });
        if (typeof one === "string")
          missing.set(contender, `${contender.name}, ${contender.count.toLocaleString("en")}: could not run: ${one}`);
        else seen.get(contender)?.push(one);
        context.progress(`${contender.name}, ${contender.count}: ${typeof one === "string" ? one : told(one)}`);
      }
    const measured = contenders.flatMap((contender) => {
      const all = seen.get(contender) ?? [];
      return all.length === 0 ? [] : [{ contender, figures: medians(all) }];
    });
    return {
      columns: [
        "",
        "count",
        "heap KB each",
        "RSS MB above none",
        "start / all have looked, s",
        "processor",
        "requests/s",
        "late ms p50 / p99 / most",
        "looks or runs",
      ],
      rows: [
        ...measured.map(({ contender, figures }) => row(contender, figures)),
        ...contenders
          .filter((contender) => missing.has(contender))
          .map(({ name, count }) => [name, count.toLocaleString("en"), "could not run", "", "", "", "", "", ""]),
      ],
      conditions: [
        `Each specialist watches the feed at the cadence its tier derives, with a cron schedule, a key of its own, rows on disk and shipped pacing. Heap after garbage collection and RSS as it stands, both above the same process before the first was made.`,
        `After the first looks (Starter: ${SPREAD_MS / 1_000} s later, when looks are spread over their period) the crowd is watched for ${WATCH_MS / 1_000} s: processor time and requests include the looks that fall into them. Lateness is from the time written down to the moment the request was sent.`,
        shippedSaid(),
        ...eachFurther(measured),
        "Peers with nothing armed: agents made (elizaOS: and initialised, on one PGlite in memory, without plugins) and kept, above the same process before the first was made. elizaOS gives back some 5 MB of its start while its agents are made, which counts for it. One whose agents are not all there a minute after its process began could not run.",
        `Schedules: ${SCHEDULES} that are due every minute and do nothing, watched for ${SCHEDULES_MS / 1_000} s from the start, so for at least 18 s of a whole minute. Lateness is from that minute's begin to the first run; of how many the last column says. Retinue keeps them on disk; Mastra as its guide shows, ticking at its default of 10 s, with its store in memory or in a libsql file.`,
        "elizaOS has nothing like a schedule without @elizaos/plugin-bootstrap, which depends on Bun: its lateness is not measured.",
        ...missing.values(),
      ],
      plots: [
        { title: "Heap each, KB", better: "less", column: "heap KB each", labels: 2 },
        { title: "Lateness, p99, ms", better: "less", column: "late ms p50 / p99 / most", part: 1, labels: 2 },
      ],
      goals: measured.flatMap(({ contender, figures }) => goalsOf(contender, figures)),
      ratios: ratiosOf(measured),
    };
  },
};

function contendersOf(context: BenchContext): readonly Contender[] {
  const { quick } = context;
  const crowd = (count: number, tier: Tier): Contender => ({
    name: `Retinue, all armed, ${tier}`,
    count,
    goals: tier === "free" ? "idle" : "busy", // busy: what it weighs and costs is shown, the goals are for idle ones
    measure: (one) => retinue({ count, tier }, one),
  });
  const agents = (name: string, file: string): readonly Contender[] =>
    (quick ? [20] : [1_000, 10_000]).map((count) => ({
      name: `${name}, nothing armed`,
      count,
      measure: () => weighAgents(file, count),
    }));
  const schedules = (name: string, file: string, settings: Readonly<Record<string, unknown>>): Contender => ({
    name: `${name}, schedules of a minute`,
    count: SCHEDULES,
    ...(file === "crowd.ts" ? { goals: "schedules" as const } : {}),
    measure: (one) => watchSchedules(file, settings, one),
  });
  return [
    ...(quick
      ? [crowd(200, "starter")]
      : // Free looks every few minutes, so that nothing is due while it is watched; Starter looks every minute or two.
        [crowd(1_000, "free"), crowd(10_000, "free"), crowd(10_000, "starter")]),
    ...agents("Mastra 1.71.0", "crowd-mastra.js"),
    ...agents("VoltAgent 2.10.0", "crowd-voltagent.js"),
    ...agents("elizaOS 1.7.2", "crowd-elizaos.js"),
    ...(quick
      ? []
      : [
          schedules("Retinue", "crowd.ts", { tier: "free", everyMinute: true }),
          schedules("Mastra 1.71.0 in memory", "crowd-schedules-mastra.js", { store: "memory" }),
          schedules("Mastra 1.71.0 + libsql 1.23.1", "crowd-schedules-mastra.js", { store: "libsql" }),
        ]),
  ];
}

type Tier = "free" | "starter";

async function retinue({ count, tier }: { readonly count: number; readonly tier: Tier }, context: BenchContext): Promise<Seen> {
  const { weighed, ...watched } = await watchCrowd({ count, tier }, context);
  return {
    ...NOTHING,
    ...watched,
    ...aboveNone(weighed, count),
  };
}

async function watchCrowd(
  { count, tier }: { readonly count: number; readonly tier: Tier },
  context: BenchContext,
): Promise<Partial<Seen> & { readonly weighed: Weighed }> {
  return inRetinue({ count, tier }, context, async (subject, requests) => {
    const began = performance.now();
    while (((await subject.ask("known")) as Weighed).known < count) {
      if (performance.now() - began > SETTLE_MS) throw new Error("the first looks took too long");
      await pause(250);
    }
    const settledMs = performance.now() - began;
    await subject.ask("weigh"); // collects garbage now, and not while it is watched
    await pause(tier === "starter" && !context.quick ? SPREAD_MS : 2_000);
    await subject.ask("watch");
    const requestsBefore = requests();
    const before = await subject.usage();
    const from = performance.now();
    await pause(context.quick ? 5_000 : WATCH_MS);
    const after = await subject.usage();
    const tookMs = performance.now() - from;
    const made = requests() - requestsBefore;
    const late = (await subject.ask("late")) as Late;
    return {
      weighed: (await subject.ask("weigh")) as Weighed,
      settledMs,
      cpuPercent: ((after.cpuMs - before.cpuMs) / tookMs) * 100,
      requestsPerSecond: (made / tookMs) * 1_000,
      ...lateness(late),
    };
  });
}

async function inRetinue<Result>(
  settings: Readonly<Record<string, unknown>>,
  context: BenchContext,
  use: (subject: Subject, requests: () => number) => Promise<Result>,
): Promise<Result> {
  const folder = join(context.folder, `crowd-${Math.round(performance.now())}`);
  mkdirSync(folder);
  const sink = await openSink({ onEffect: () => undefined });
  const subject = await startSubject("crowd.ts", { ...settings, sink: sink.port, folder }, "retinue");
  try {
    return await use(subject, () => sink.requests());
  } finally {
    await subject.kill();
    await sink.close();
  }
}

async function weighAgents(file: string, count: number): Promise<Seen> {
  const subject = await startSubject(file, { count }, "peer");
  const weighed = (await subject.ask("weigh")) as Weighed;
  await subject.kill();
  return { ...NOTHING, ...aboveNone(weighed, count) };
}

/** For everybody alike: above the same process with none. */
function aboveNone({ empty, now, startMs }: Weighed, count: number): Pick<Seen, "heapKb" | "rssMb" | "startMs"> {
  return { heapKb: ((now.heapMb - empty.heapMb) * 1_024) / count, rssMb: now.rssMb - empty.rssMb, startMs };
}

async function watchSchedules(file: string, settings: Readonly<Record<string, unknown>>, context: BenchContext): Promise<Seen> {
  const watch = async (subject: Subject, question: string): Promise<Seen> => {
    await pause(SCHEDULES_MS);
    return { ...NOTHING, ...lateness((await subject.ask(question)) as Late) };
  };
  if (file === "crowd.ts") return inRetinue({ count: SCHEDULES, ...settings }, context, (subject) => watch(subject, "schedules"));
  const folder = join(context.folder, `schedules-${Math.round(performance.now())}`);
  mkdirSync(folder);
  const subject = await startSubject(file, { count: SCHEDULES, folder, ...settings }, "peer");
  try {
    return await watch(subject, "late");
  } finally {
    await subject.kill();
  }
}

function lateness({ looks, p50, p99, most }: Late): Partial<Seen> {
  return p50 === undefined || p99 === undefined || most === undefined ? { looks } : { looks, lateP50: p50, lateP99: p99, lateMost: most };
}

function medians(all: readonly Seen[]): Seen {
  const median = (name: keyof Seen): number => {
    const values = all.map((one) => one[name]).filter((value) => !Number.isNaN(value));
    return values.length === 0 ? Number.NaN : summarise(values).median;
  };
  return Object.fromEntries(FIGURES.map((name) => [name, median(name)])) as Seen;
}

function row({ name, count, goals }: Contender, seen: Seen): readonly string[] {
  const settled = Number.isNaN(seen.settledMs) ? "" : ` / ${figure(seen.settledMs / 1_000)}`;
  const late = Number.isNaN(seen.lateP50) ? "–" : `${figure(seen.lateP50)} / ${figure(seen.lateP99)} / ${figure(seen.lateMost)}`;
  const ran = Number.isNaN(seen.looks) ? "–" : goals === "idle" || goals === "busy" ? figure(seen.looks) : `${seen.looks} of ${count}`;
  return [
    name,
    count.toLocaleString("en"),
    figure(seen.heapKb),
    figure(seen.rssMb),
    Number.isNaN(seen.startMs) ? "–" : `${figure(seen.startMs / 1_000)}${settled}`,
    Number.isNaN(seen.cpuPercent) ? "–" : `${figure(seen.cpuPercent)} %`,
    figure(seen.requestsPerSecond),
    late,
    ran,
  ];
}

const WHY_TOGETHER =
  "all are due at one moment and go through the store together, so that the first begins when most of the work for all is done: a third of a millisecond of the processor for each, from its time to the end of its run, in which no place stands out (collecting garbage a fifth, asking what is due an eighth)";

function goalsOf({ count, goals: kind }: Contender, seen: Seen): readonly Goal[] {
  const who = `${count.toLocaleString("en")} ${kind === "busy" ? "starter" : kind === "schedules" ? "schedules" : "free"}`;
  const late = Number.isNaN(seen.lateP99)
    ? []
    : [goal(`${who}: lateness, p99`, { most: 10 }, seen.lateP99, " ms", kind === "schedules" ? WHY_TOGETHER : undefined)];
  if (kind !== "idle") return kind === undefined ? [] : late;
  return [
    ...late,
    goal(
      `${who}: heap each`,
      { most: 4 },
      seen.heapKb,
      " KB",
      "what is there however many there are, the runtime and code compiled since it is run, is shared by few",
    ),
    ...(count === 10_000 ? [goal(`${who}: RSS above the same process with none`, { most: 60 }, seen.rssMb, " MB", WHY_RSS)] : []),
    goal(`${who}: start`, { most: 2 }, seen.startMs / 1_000, " s"),
    goal(`${who}: processor while idle`, { most: 1 }, seen.cpuPercent, " %"),
  ];
}

/** What a peer's agent weighs over what a specialist weighs. */
function ratiosOf(measured: readonly { readonly contender: Contender; readonly figures: Seen }[]): Readonly<Record<string, number>> {
  const mine = measured.filter(({ contender }) => contender.goals === "idle");
  const peers = measured.filter(({ contender, figures }) => contender.goals === undefined && !Number.isNaN(figures.heapKb));
  return Object.fromEntries(
    mine.flatMap(({ contender: { count }, figures: { heapKb } }) =>
      peers
        .filter(({ contender }) => contender.count === count)
        .map(({ contender: { name }, figures }) => [
          `heap each: ${name.replace(/ [\d.]+,.*$/, "")} ÷ Retinue, ${count.toLocaleString("en")}`,
          figures.heapKb / heapKb,
        ]),
    ),
  );
}

/** What does not depend on how many there are, told apart from what does. */
function eachFurther(measured: readonly { readonly contender: Contender; readonly figures: Seen }[]): readonly string[] {
  const [few, many] = measured
    .filter(({ contender }) => contender.goals === "idle")
    .map(({ contender: { count }, figures }) => ({ count, heapKb: figures.heapKb * count }));
  if (few === undefined || many === undefined) return [];
  const each = (many.heapKb - few.heapKb) / (many.count - few.count);
  const fixedMb = (few.heapKb - each * few.count) / 1_024;
  return [
    `From ${few.count.toLocaleString("en")} to ${many.count.toLocaleString("en")} each further specialist weighs ${figure(each)} KB. The other ${figure(fixedMb)} MB are there however many there are: the runtime itself, and code that Node has compiled and keeps because it is run; the peers beside it have run nothing yet.`,
  ];
}

function told(seen: Seen): string {
  return `${figure(seen.heapKb)} KB heap each, ${figure(seen.rssMb)} MB RSS, start ${figure(seen.startMs)} ms, late p99 ${figure(seen.lateP99)} ms, ran ${figure(seen.looks)}`;
}

function firstLine(error: unknown): string {
  return error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error);
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
