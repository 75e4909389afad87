/** Quota: virtual days of one key with demand that never ends, through each limiter, before a strict server; with and without restarts. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { TIER_LIMITS } from "../../src/contract/tiers.ts";
import { startSubject } from "../harness/subject.ts";
import { shippedSaid } from "../harness/shipped.ts";
import { figure } from "../harness/stats.ts";
import type { BenchContext, Goal, Suite } from "../harness/suite.ts";

const LIMITERS = [
  "Retinue",
  "bottleneck 2.19.5, hour.chain(day)",
  "bottleneck 2.19.5, day.chain(hour)",
  "p-queue 10.0.0, strict, day around hour",
  "rate-limiter-flexible 11.4.0, Union",
  "@octokit/core 7.0.8, plugin-throttling 11.0.5",
  "@discordjs/rest 2.6.3",
] as const;
/** They take no budgets, so their server refuses what is over and says until when. */
const REACTING: readonly string[] = LIMITERS.slice(-2);
const TIERS = ["free", "starter"] as const;
/** A tier with many requests is for Retinue alone: bottleneck takes milliseconds for each. Pro is judged by `npm run limits`. */
const LARGE_TIERS = ["growth"] as const;
const HOURS = 48;
const RESTART_EVERY_HOURS = 7;
/** Enough for a restart within an hour's budget. */
const QUICK = { hours: 3, restartEveryHours: 0.7 };

interface Lived {
  readonly sent: number;
  /** Where the server refused what was over. */
  readonly refused?: number;
  readonly verdicts: { readonly sliding: number; readonly fixed: number; readonly anchored: number };
  readonly capacity: number;
}

export const suite: Suite = {
  name: "quota",
  title: `Quota: ${HOURS} virtual hours of an hour's and a day's budget`,
  repeats: () => "each once, on virtual time and seeded",
  async run(context) {
    const rows: string[][] = [];
    const goals: Goal[] = [];
    for (const limiter of LIMITERS.filter((name) => context.only === undefined || name.includes(context.only)))
      for (const tier of limiter === "Retinue" && !context.quick ? [...TIERS, ...LARGE_TIERS] : TIERS)
        for (const restarts of [false, true]) {
          const lived = await live(limiter, tier, restarts, context);
          const { sliding, fixed, anchored } = lived.verdicts;
          const { refused } = lived;
          const use = (lived.sent - (refused ?? 0)) / lived.capacity;
          const how = restarts ? `every ${restartHours(context)} h` : "none";
          rows.push([
            limiter,
            tier,
            how,
            String(lived.sent),
            ...(refused === undefined ? [sliding, fixed, anchored].map(String) : [`${refused} × 429`, "–", "–"]),
            `${(100 * use).toFixed(2)} %`,
          ]);
          context.progress(
            `${limiter}, ${tier}, restarts ${how}: ${lived.sent} sent, ${refused ?? sliding} over the sliding window, ${figure(100 * use)} % used`,
          );
          if (limiter !== "Retinue") continue;
          const over = sliding + fixed + anchored;
          goals.push({ name: `${tier}, restarts ${how}: over any window`, stated: "0", seen: String(over), met: over === 0 });
          if (!restarts)
            goals.push({ name: `${tier}: of what may be used`, stated: "≥ 98 %", seen: `${(100 * use).toFixed(2)} %`, met: use >= 0.98 });
        }
    return {
      columns: ["limiter", "tier", "restarts", "sent", "over, sliding", "over, fixed", "over, anchored", "of what may be used"],
      rows,
      conditions: [
        "Six callers that always want one more. Each request takes 50 to 800 ms and is counted by the server at some moment in between; the server refuses nothing and counts what was over, by sliding windows, by fixed ones at 24 alignments (summed), and by windows anchored at their first request.",
        "A restart ends the process at a moment it does not choose and begins anew at once, with what is on disk.",
        "Retinue is its admission and settlement on SQLite; 2 s late landing, default lane floors, all six lanes with demand. Its day is used to the last cell of a minute. Of what may be used: two days of the day's budget, since both windows start empty.",
        shippedSaid(),
        "The peers use their default stores, in memory, configured as their docs show for two windows. @octokit/plugin-throttling as it ships, its two handlers answering that it shall try again; @discordjs/rest as it ships.",
        "@octokit/plugin-throttling and @discordjs/rest take no budgets and react to answers: their server refuses what is over the sliding windows with 429, Retry-After and X-RateLimit headers of the window with least left, and does not count what it refused. Each 429 is a request over the limit; used is what was accepted.",
        "Growth is Retinue's alone; Pro, and 100 days of Free and Starter, are judged by the same server in `npm run limits`.",
        "DBOS queue limits have no row: a queue takes one window, not two, and counts it by PostgreSQL's own now(), so that neither can a day pass in less than a day nor a clock be turned.",
      ],
      plots: [
        { title: "Requests over a sliding window", better: "less", column: "over, sliding", labels: 3 },
        { title: "Of what may be used, %", better: "more", column: "of what may be used", labels: 3 },
      ],
      goals,
      ratios: {},
    };
  },
};

const restartHours = ({ quick }: BenchContext): number => (quick ? QUICK.restartEveryHours : RESTART_EVERY_HOURS);

async function live(limiter: string, tier: keyof typeof TIER_LIMITS, restarts: boolean, context: BenchContext): Promise<Lived> {
  const folder = join(context.folder, `${limiter}-${tier}-${restarts}`.replaceAll(/[^a-zA-Z0-9-]/g, ""));
  mkdirSync(folder);
  const { perHour, perDay } = TIER_LIMITS[tier];
  const settings = {
    limiter,
    enforced: REACTING.includes(limiter),
    limits: { perHour, perDay },
    hours: context.quick ? QUICK.hours : HOURS,
    ...(restarts ? { restartEveryHours: restartHours(context) } : {}),
    folder,
  };
  const subject = await startSubject("quota.ts", settings, limiter === "Retinue" ? "retinue" : "peer");
  try {
    return (await subject.ask("live")) as Lived;
  } finally {
    await subject.kill();
  }
}
