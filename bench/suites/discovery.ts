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
  /** Calls of each specialist, by operation. */
  readonly perDay: Readonly<Record<string, number>>;
  readonly refused: number;
}

interface Seen extends Omit<Lived, "perDay"> {
  readonly mean: number;
  readonly calls: Calls;
}

/** What a specialist spends its calls of a day on. */
interface Calls {
  readonly jobs: number;
  readonly feed: number;
  readonly applied: number;
  readonly applying: number;
  readonly other: number;
}

const CROWDS = [1, 10] as const;
const DAYS = 4;
const LEAST_SOONER = 5;
/** One specialist shares no looks: sooner is only who puts more of them where its actions come from. */
const LEAST_SOONER_ALONE = 2;

interface Rival {
  readonly name: string;
  /** What it does with as many calls as Retinue's. */
  readonly spends: (ours: Calls) => Omit<Calls, "applying" | "other">;
  /** How much sooner we are to be, by the number of specialists. It does the same work, or all of it that finds jobs. */
  readonly least: { readonly [count: number]: number };
  /** It makes a difference only beside a feed. */
  readonly besideFeed?: boolean;
}

const RIVALS: readonly Rival[] = [
  { name: "fixed, spent alike", spends: ({ jobs, feed, applied }) => ({ jobs, feed, applied }), least: { 10: LEAST_SOONER } },
  {
    name: "fixed, one timer for all",
    spends: ({ jobs, feed, applied, other }) => {
      const each = (jobs + feed + applied + other) / 3;
      return { jobs: each, feed: each, applied: each };
    },
    least: { 1: LEAST_SOONER_ALONE },
    besideFeed: true,
  },
  {
    name: "fixed, never asks after an application",
    spends: ({ jobs, feed, applied, other }) => ({ jobs: jobs + applied + other, feed, applied: 0 }),
    least: { 10: LEAST_SOONER },
  },
  {
    name: "fixed, no feed either",
    spends: ({ jobs, feed, applied, other }) => ({ jobs: jobs + feed + applied + other, feed: 0, applied: 0 }),
    least: {},
    besideFeed: true,
  },
];

export const suite: Suite = {
  name: "discovery",
  title: `Discovery: from a job appearing to our application, Free tier, ${DAYS} virtual days`,
  repeats: (runs) => `the jobs of ${runs} seeded run${runs === 1 ? "" : "s"} together`,
  async run(context) {
    const rows: string[][] = [];
    const goals: Goal[] = [];
    const ratios: Record<string, number> = {};
    for (const count of CROWDS)
      for (const feed of [true, false])
        for (const webhooks of [false, true]) {
          const watches = `${feed ? "feed and jobs" : "jobs alone"}${webhooks ? ", webhooks" : ""}`;
          const world = { count, feed, webhooks };
          const ours = await live(world, context);
          rows.push(rowOf("Retinue", count, watches, ours));
          for (const { name, spends, least, besideFeed } of RIVALS) {
            if (besideFeed === true && !feed) continue;
            const theirs = await live({ ...world, webhooks: false, fixed: spends(ours.calls) }, context);
            const sooner = theirs.mean / ours.mean;
            const what = `${count === 1 ? "one" : count}, ${watches}: sooner than ${name}`;
            rows.push(rowOf(name, count, watches, theirs, sooner));
            ratios[what] = sooner;
            const goalOf = least[count];
            if (goalOf !== undefined) goals.push(goal(what, { least: goalOf }, sooner, " ×", count === 1 ? undefined : whyNot(ours.calls)));
            context.progress(`${what}: ${figure(ours.mean / MINUTE)} min against ${figure(theirs.mean / MINUTE)}, ${figure(sooner)} ×`);
          }
        }
    return {
      columns: [
        "",
        "specialists",
        "watches",
        "calls a day, each",
        "looks at jobs / feed / applications",
        "jobs",
        "missed",
        "mean",
        "p50",
        "p95",
        "Retinue sooner",
      ],
      rows,
      conditions: [
        "Each specialist watches the jobs of a skill of its own, and the feed where it says so, and applies as soon as it sees one. Eight jobs a day for each, at random moments, each gone after an hour; nobody is chosen. The first day, whose windows start empty, is not counted.",
        "Retinue runs whole, with shipped defaults, on virtual time and a store in memory; each request takes 100 ms. It derives its cadence, and specialists with keys of their own share looks at public lists.",
        "Fixed intervals: loops for each that look from a moment of their own, share nothing and apply at once, with as many calls a day as Retinue's. Spent alike: as often at the jobs, the feed and the latest application. One timer for all looks at each of them equally often. Whoever never asks after an application spends those calls on looks at jobs, and would not learn that it was chosen; without the feed, it spends those for the feed, too.",
        "The last is shown and not judged: it does less than what it stands beside, whose calls go mostly to the feed. Where no feed is watched, it is the one before.",
        shippedSaid(),
        "One specialist is no sooner than a loop that looks at the jobs equally often: half of the interval is the least that any order of looks comes to. It differs by how many of its looks go there.",
        "No webhook tells of a new job. With webhooks the feed is told, so that most looks go to the jobs.",
        "Minutes. The same seeds give the same figures, on any machine and under any load.",
      ],
      plots: [{ title: "From a job appearing to our application, mean minutes", better: "less", column: "mean", labels: 3 }],
      goals,
      ratios,
    };
  },
};

const allOf = (calls: Calls): number => Object.values(calls).reduce((sum: number, some: number) => sum + some, 0);

/** Should it be missed: what the calls went to that looked for no job. */
function whyNot({ applied, other }: Calls): string {
  return `ten share their looks at lists, but not what each asks for itself: ${figure(applied + other)} of its calls a day go to what became of its applications and to its webhooks, which such a loop spends on looks at jobs`;
}

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
  const calls = (operation: string): number => sum(({ perDay }) => perDay[operation] ?? 0) / all.length;
  const known = { jobs: calls("jobs.list"), feed: calls("posts.list"), applied: calls("jobs.get"), applying: calls("jobs.apply") };
  const total = sum(({ perDay }) => Object.values(perDay).reduce((so, far) => so + far, 0)) / all.length;
  return {
    delaysMs,
    mean: sum((one) => one.delaysMs.reduce((so, ms) => so + ms, 0)) / delaysMs.length,
    missed: sum((one) => one.missed),
    refused: sum((one) => one.refused),
    calls: { ...known, other: total - Object.values(known).reduce((so, far) => so + far, 0) },
  };
}

function rowOf(name: string, count: number, watches: string, seen: Seen, sooner?: number): string[] {
  const minutes = (ms: number): string => figure(ms / MINUTE);
  const { jobs, feed, applied } = seen.calls;
  return [
    name,
    String(count),
    watches,
    figure(allOf(seen.calls)),
    [jobs, feed, applied].map(figure).join(" / "),
    String(seen.delaysMs.length + seen.missed),
    String(seen.missed),
    minutes(seen.mean),
    minutes(percentile(seen.delaysMs, 50)),
    minutes(percentile(seen.delaysMs, 95)),
    sooner === undefined ? "" : `${figure(sooner)} ×`,
  ];
}
