/** The idle crowd: thousands of specialists in one process that look at their network when it is time. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { openSink } from "../harness/sink.ts";
import { figure } from "../harness/stats.ts";
import { startSubject } from "../harness/subject.ts";
import { goal, type BenchContext, type Goal, type Suite } from "../harness/suite.ts";

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

interface Idle {
  readonly weighed: Weighed;
  readonly late: Late;
  readonly settledMs: number;
  readonly cpuPercent: number;
  readonly requestsPerSecond: number;
}

/** Free looks every few minutes, so that nothing is due while the crowd is watched; Starter looks every minute or two. */
const CROWDS = [
  { count: 1_000, tier: "free" },
  { count: 10_000, tier: "free" },
  { count: 10_000, tier: "starter" },
] as const;
type Crowd = { readonly count: number; readonly tier: (typeof CROWDS)[number]["tier"] };
/** First looks are over by then. */
const SETTLE_MS = 60_000;
/** From then on a Starter's looks are spread over its period. */
const SPREAD_MS = 60_000;
const WATCH_MS = 60_000;
/** What bin/retinue.js runs with. */
const SHIPPED_FLAGS = ["--max-semi-space-size=4"];

export const suite: Suite = {
  name: "crowd",
  title: "Idle crowd: specialists in one process that only look",
  async run(context) {
    const rows: string[][] = [];
    const goals: Goal[] = [];
    const crowds: readonly Crowd[] = context.quick ? [{ count: 200, tier: "starter" }] : CROWDS;
    const { weighed: alone } = await retinue({ count: 1, tier: "free" }, context);
    for (const { count, tier } of crowds) {
      const { weighed, late, settledMs, cpuPercent, requestsPerSecond } = await retinue({ count, tier }, context);
      const heapKb = ((weighed.now.heapMb - alone.now.heapMb) * 1_024) / count;
      const rssMb = weighed.now.rssMb - alone.now.rssMb;
      const lateness =
        late.p99 === undefined ? "–" : `${figure(late.p50 ?? 0)} / ${figure(late.p99)} / ${figure(late.most ?? 0)} (${late.looks})`;
      rows.push([
        `Retinue, all armed, ${tier}`,
        count.toLocaleString("en"),
        figure(heapKb),
        figure(rssMb),
        `${figure(weighed.startMs / 1_000)} / ${figure(settledMs / 1_000)}`,
        `${figure(cpuPercent)} %`,
        figure(requestsPerSecond),
        lateness,
      ]);
      context.progress(
        `Retinue, ${count} ${tier}: ${figure(heapKb)} KB heap each, ${figure(rssMb)} MB RSS, start ${figure(weighed.startMs)} ms, late p99 ${figure(late.p99 ?? Number.NaN)} ms`,
      );
      const who = `${count.toLocaleString("en")} ${tier}`;
      if (late.p99 !== undefined) goals.push(goal(`${who}: lateness of looks, p99`, { most: 10 }, late.p99, " ms"));
      if (tier === "starter") continue; // busy: what it weighs and costs is shown, the goals are for idle ones
      goals.push(goal(`${who}: heap each`, { most: 4 }, heapKb, " KB"));
      if (count === 10_000) goals.push(goal(`${who}: RSS above the same process with none`, { most: 60 }, rssMb, " MB"));
      goals.push(goal(`${who}: start`, { most: 2 }, weighed.startMs / 1_000, " s"));
      goals.push(goal(`${who}: processor while idle`, { most: 1 }, cpuPercent, " %"));
    }
    const missing: string[] = [];
    for (const [name, file] of [
      ["Mastra 1.71.0, nothing armed", "crowd-mastra.js"],
      ["VoltAgent 2.10.0, nothing armed", "crowd-voltagent.js"],
    ] as const)
      for (const count of context.quick ? [200] : [1_000])
        try {
          const subject = await startSubject(file, { count });
          const { empty, now, startMs } = (await subject.ask("weigh")) as Weighed;
          await subject.kill();
          rows.push([
            name,
            count.toLocaleString("en"),
            figure(((now.heapMb - empty.heapMb) * 1_024) / count),
            figure(now.rssMb - empty.rssMb),
            figure(startMs / 1_000),
            "–",
            "–",
            "–",
          ]);
        } catch (error) {
          missing.push(`${name} could not run: ${error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error)}`);
        }
    return {
      columns: [
        "",
        "count",
        "heap KB each",
        "RSS MB above none",
        "start / all have looked, s",
        "processor",
        "requests/s",
        "looks late ms p50 / p99 / most (looks)",
      ],
      rows,
      conditions: [
        `Each specialist watches the feed at the cadence its tier derives, with a cron schedule, a key of its own, rows on disk and shipped pacing, under Node as the command runs it (${SHIPPED_FLAGS.join(" ")}). Heap after garbage collection and RSS as it stands, both above the same process with one specialist.`,
        `After the first looks (Starter: ${SPREAD_MS / 1_000} s later, when looks are spread over their period) the crowd is watched for ${WATCH_MS / 1_000} s: processor time and requests include the looks that fall into them. Lateness is from the time written down to the moment the request was sent.`,
        ...missing,
      ],
      goals,
      ratios: {},
    };
  },
};

async function retinue({ count, tier }: Crowd, context: BenchContext): Promise<Idle> {
  const folder = join(context.folder, `crowd-${count}-${tier}`);
  mkdirSync(folder);
  const sink = await openSink({ onEffect: () => undefined });
  const subject = await startSubject("crowd.ts", { count, tier, sink: sink.port, folder }, SHIPPED_FLAGS);
  try {
    const began = performance.now();
    while (((await subject.ask("known")) as Weighed).known < count) {
      if (performance.now() - began > SETTLE_MS) throw new Error("the first looks took too long");
      await pause(250);
    }
    const settledMs = performance.now() - began;
    await subject.ask("weigh"); // collects garbage now, and not while it is watched
    await pause(tier === "starter" && !context.quick ? SPREAD_MS : 2_000);
    await subject.ask("watch");
    const requests = sink.requests();
    const before = await subject.usage();
    const from = performance.now();
    await pause(context.quick || count === 1 ? 5_000 : WATCH_MS);
    const after = await subject.usage();
    const tookMs = performance.now() - from;
    const made = sink.requests() - requests;
    const late = (await subject.ask("late")) as Late;
    const weighed = (await subject.ask("weigh")) as Weighed;
    return {
      weighed,
      late,
      settledMs,
      cpuPercent: ((after.cpuMs - before.cpuMs) / tookMs) * 100,
      requestsPerSecond: (made / tookMs) * 1_000,
    };
  } finally {
    await subject.kill();
    await sink.close();
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
