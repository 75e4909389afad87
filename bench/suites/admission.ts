/** Admission: the transaction before each request, as many a second as it goes. */
import { join } from "node:path";
import { shippedSaid } from "../harness/shipped.ts";
import { figure, spread, summarise } from "../harness/stats.ts";
import { startSubject } from "../harness/subject.ts";
import { inTurns, goal, type BenchContext, type Suite } from "../harness/suite.ts";
import { REQUESTS, type IdleKeys } from "../harness/idle-keys.ts";
import type { AdmissionSpeed } from "../harness/ledger.ts";

const KEYS = 64;

const DURABLE = "Retinue, SQLite with fsync, 64 at a time";
const MEMORY = "Retinue, SQLite in memory, 64 at a time";
const SINGLE = "one row, one commit, one fsync";
const LIBRARY = "rate-limiter-flexible 11.4.0, Union";
const IDLE = "Retinue, idle keys";

export const suite: Suite = {
  name: "admission",
  title: "Admission: hour and day charged, a row on disk, before each request",
  repeats: inTurns,
  async run(context) {
    const count = context.quick ? 2_000 : 60_000;
    const load = (path: string, atOnce: number) => ({ load: { path, keys: KEYS, count, atOnce } });
    const contenders: readonly {
      readonly name: string;
      readonly keeps: string;
      readonly settings: (path: string) => Record<string, unknown>;
    }[] = [
      {
        name: "Retinue, SQLite with fsync, 1 at a time",
        keeps: "attempt",
        settings: (path) => ({ load: { path, keys: KEYS, count: count / 10, atOnce: 1 } }),
      },
      { name: DURABLE, keeps: "attempt", settings: (path) => load(path, 64) },
      { name: "Retinue, SQLite with fsync, 256 at a time", keeps: "attempt", settings: (path) => load(path, 256) },
      { name: MEMORY, keeps: "nothing", settings: () => load(":memory:", 64) },
      { name: SINGLE, keeps: "row", settings: (path) => ({ single: path, count: count / 10 }) },
      {
        name: "p-queue 10.0.0, strict, day around hour",
        keeps: "nothing",
        settings: () => ({ limiter: "p-queue 10.0.0, strict, day around hour", count: count / 4 }),
      },
      {
        name: LIBRARY,
        keeps: "nothing",
        settings: () => ({ limiter: LIBRARY, count }),
      },
      {
        name: "bottleneck 2.19.5, hour.chain(day)",
        keeps: "nothing",
        settings: () => ({ limiter: "bottleneck 2.19.5, hour.chain(day)", count: 1_000 }),
      },
    ];
    const idle = context.only === undefined || IDLE.includes(context.only) ? await weigh(context) : undefined;
    const able = contenders.filter(({ name }) => context.only === undefined || name.includes(context.only));
    const seen = new Map<string, Partial<AdmissionSpeed>[]>();
    for (let run = 0; run < context.runs; run++)
      for (const { name, settings } of able) {
        const subject = await startSubject(
          "admission.ts",
          settings(join(context.folder, `admission-${run}-${name.length}.sqlite`)),
          name.startsWith("Retinue") ? "retinue" : "peer",
        );
        try {
          const speed = (await subject.ask("go")) as Partial<AdmissionSpeed>;
          seen.set(name, [...(seen.get(name) ?? []), speed]);
          context.progress(`${name}: ${figure(speed.perSecond ?? 0)}/s`);
        } finally {
          await subject.stop();
        }
      }
    const perSecond = (name: string) => summarise((seen.get(name) ?? []).map((speed) => speed.perSecond ?? 0));
    return {
      columns: ["", "keeps", "admitted/s", "spread", "CPU µs each", "wait p50 / p99 ms"],
      rows: able.map(({ name, keeps }) => {
        const waits = (seen.get(name) ?? []).flatMap(({ p50Ms, p99Ms }) =>
          p50Ms === undefined || p99Ms === undefined ? [] : [{ p50Ms, p99Ms }],
        );
        const cpu = (seen.get(name) ?? []).flatMap(({ cpuMicros }) => cpuMicros ?? []);
        const median = (what: "p50Ms" | "p99Ms"): string => figure(summarise(waits.map((one) => one[what])).median);
        return [
          name,
          keeps,
          figure(perSecond(name).median),
          `±${Math.round(spread(perSecond(name)) * 50)} %`,
          cpu.length === 0 ? "–" : figure(summarise(cpu).median),
          waits.length === 0 ? "–" : `${median("p50Ms")} / ${median("p99Ms")}`,
        ];
      }),
      conditions: [
        `${KEYS} keys; each admission is followed by its settlement, which is counted into the time and not into the number. The tier is lifted; both windows are charged.`,
        "CPU is the process's, its collector's threads included, for an admission with its settlement: what else runs on the machine changes it least.",
        ...(idle === undefined
          ? []
          : [
              `A key that nobody has used for two days takes ${figure(idle.idleBytes)} bytes of heap, one that sent ${REQUESTS} requests in the last hour ${figure(idle.recentBytes)}.`,
            ]),
        shippedSaid(),
        "The libraries keep their counts in memory and lose them with the process.",
      ],
      plots: [
        { title: "Admitted a second", better: "more", column: "admitted/s" },
        { title: "Wait, p99, ms", better: "less", column: "wait p50 / p99 ms", part: 1 },
      ],
      goals: [
        ...(seen.has(DURABLE)
          ? [goal("admissions on SQLite with fsync, 64 at a time", { least: 12_000 }, perSecond(DURABLE).median, "/s")]
          : []),
        ...(seen.has(MEMORY) ? [goal("admissions in memory", { least: 50_000 }, perSecond(MEMORY).median, "/s")] : []),
        ...(idle === undefined ? [] : [goal("heap of an idle key", { most: 1_536 }, idle.idleBytes, " bytes")]),
      ],
      ratios: ratiosOf((name) => (seen.get(name) ?? []).flatMap(({ cpuMicros }) => cpuMicros ?? [])),
    };
  },
};

/** Of the processor's time for each, which the disk and others on the machine change least. */
function ratiosOf(cpuOf: (name: string) => readonly number[]): Readonly<Record<string, number>> {
  const pairs = [
    ["CPU: single commit ÷ durable admission", SINGLE, DURABLE],
    ["CPU: rate-limiter-flexible ÷ admission in memory", LIBRARY, MEMORY],
  ] as const;
  return Object.fromEntries(
    pairs.flatMap(([name, beside, ours]) => {
      const [theirs, mine] = [cpuOf(beside), cpuOf(ours)];
      return theirs.length === 0 || mine.length === 0 ? [] : [[name, summarise(theirs).median / summarise(mine).median]];
    }),
  );
}

async function weigh(context: BenchContext): Promise<IdleKeys> {
  const subject = await startSubject("admission.ts", { idle: context.quick ? 1_000 : 10_000 }, "retinue");
  try {
    const weight = (await subject.ask("go")) as IdleKeys;
    context.progress(`${IDLE}: ${figure(weight.idleBytes)} bytes each`);
    return weight;
  } finally {
    await subject.stop();
  }
}
