/** Discovery: from a job appearing to our application, at equal looks, by the product's own cadence and by fixed intervals. */
import { MINUTE } from "../../src/core/units.ts";
import { shippedSaid } from "../harness/shipped.ts";
import { figure, percentile } from "../harness/stats.ts";
import { startSubject } from "../harness/subject.ts";
import { goal, type BenchContext, type Goal, type Suite } from "../harness/suite.ts";

/** As each run tells it. */
interface Lived {
  readonly delaysMs: readonly number[];
  readonly missed: number;
  readonly looksPerDay: number;
  readonly feedPerDay: number;
  readonly callsPerDay: number;
  readonly refused: number;
}

interface Seen extends Lived {
  readonly mean: number;
}

const CROWDS = [1, 10] as const;
const DAYS = 4;
const LEAST_SOONER = 5;

export const suite: Suite = {
  name: "discovery",
  title: `Discovery: from a job appearing to our application, Free tier, ${DAYS} virtual days`,
  repeats: (runs) => `the jobs of ${runs} seeded run${runs === 1 ? "" : "s"} together`,
  async run(context) {
    const rows: string[][] = [];
    const goals: Goal[] = [];
    const ratios: Record<string, number> = {};
    for (const count of CROWDS)
      for (const webhooks of [false, true]) {
        const ours = await live({ count, webhooks }, context);
        const theirs = await live({ count, webhooks: false, looksPerDay: ours.looksPerDay }, context);
        const sooner = theirs.mean / ours.mean;
        const name = `${count === 1 ? "one" : count} with${webhooks ? "" : "out"} webhooks`;
        rows.push(rowOf(`Retinue${webhooks ? ", webhooks" : ""}`, count, ours, sooner), rowOf("fixed intervals", count, theirs, undefined));
        ratios[`${name}: sooner than fixed intervals`] = sooner;
        if (count === 10) goals.push(goal(`${name}: sooner than fixed intervals`, { least: LEAST_SOONER }, sooner, " ×"));
        context.progress(
          `${name}: ${figure(ours.mean / MINUTE)} min, fixed ${figure(theirs.mean / MINUTE)} min, ${figure(sooner)} × sooner`,
        );
      }
    return {
      columns: ["", "specialists", "looks at jobs a day, each", "all calls a day, each", "jobs", "missed", "mean", "p50", "p95", "sooner"],
      rows,
      conditions: [
        "Each specialist watches the feed and the jobs of a skill of its own, and applies as soon as it sees one. Eight jobs a day for each, at random moments, each gone after an hour; nobody is chosen. The first day, whose windows start empty, is not counted.",
        "Retinue runs whole, with shipped defaults, on virtual time and a store in memory; each request takes 100 ms. It derives its cadence, and specialists with keys of their own share looks at public lists.",
        "Fixed intervals: a loop for each that looks at the jobs as often a day as Retinue's did and at nothing else, from a moment of its own, shares nothing and applies at once.",
        shippedSaid(),
        "No webhook tells of a new job. With webhooks the feed is told, so that most looks go to the jobs.",
        "Minutes. The same seeds give the same figures, on any machine and under any load.",
      ],
      plots: [{ title: "From a job appearing to our application, mean minutes", better: "less", column: "mean", labels: 2 }],
      goals,
      ratios,
    };
  },
};

/** Several seeds, one after the other; their delays together. */
async function live(settings: Readonly<Record<string, unknown>>, context: BenchContext): Promise<Seen> {
  const all: Lived[] = [];
  for (let seed = 1; seed <= (context.quick ? 1 : context.runs); seed++) {
    const subject = await startSubject("discovery.ts", { ...settings, seed, days: context.quick ? 1 : DAYS }, "retinue");
    try {
      all.push((await subject.ask("live")) as Lived);
    } finally {
      await subject.kill();
    }
  }
  const delaysMs = all.flatMap((one) => one.delaysMs);
  const sum = (of: (one: Lived) => number): number => all.reduce((total, one) => total + of(one), 0);
  return {
    delaysMs,
    mean: delaysMs.reduce((total, ms) => total + ms, 0) / delaysMs.length,
    missed: sum((one) => one.missed),
    refused: sum((one) => one.refused),
    looksPerDay: sum((one) => one.looksPerDay) / all.length,
    feedPerDay: sum((one) => one.feedPerDay) / all.length,
    callsPerDay: sum((one) => one.callsPerDay) / all.length,
  };
}

function rowOf(name: string, count: number, seen: Seen, sooner: number | undefined): string[] {
  const minutes = (ms: number): string => figure(ms / MINUTE);
  return [
    name,
    String(count),
    figure(seen.looksPerDay),
    figure(seen.callsPerDay),
    String(seen.delaysMs.length + seen.missed),
    String(seen.missed),
    minutes(seen.mean),
    minutes(percentile(seen.delaysMs, 50)),
    minutes(percentile(seen.delaysMs, 95)),
    sooner === undefined ? "" : `${figure(sooner)} ×`,
  ];
}
