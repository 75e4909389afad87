/** Jobs: how many are delivered for a thousand requests, and that none that was given goes unnoticed. */
import { HOUR, MINUTE, SECOND } from "../../src/core/units.ts";
import type { Tally } from "../../test/harness/strict-jobs.ts";
import { shippedSaid } from "../harness/shipped.ts";
import { figure } from "../harness/stats.ts";
import { startSubject } from "../harness/subject.ts";
import { goal, type BenchContext, type Goal, type Suite } from "../harness/suite.ts";

const TIERS = ["free", "pro"] as const;
const LISTS = ["ours", "open", "no standing"] as const;
const LEAST_PER_1000 = 200;
const MOST_UNNOTICED_S = 60;

export const suite: Suite = {
  name: "jobs",
  title: "Jobs: delivered for 1,000 requests on a strict network",
  repeats: () => "one run, the same on any machine",
  async run(context) {
    const rows: string[][] = [];
    const goals: Goal[] = [];
    const ratios: Record<string, number> = {};
    for (const tier of TIERS)
      for (const slow of [false, true])
        for (const list of LISTS)
          for (const paysMs of [undefined, 30 * MINUTE]) {
            if (slow && (paysMs !== undefined || list === "ours")) continue;
            const until = tier === "pro" && !context.quick ? { ms: HOUR } : { requests: context.quick ? 200 : 1_000 };
            const world = { tier, list, judgesMs: 0, until, ...(paysMs === undefined ? {} : { paysMs }) };
            const ours = await live({ world, slow }, context);
            const loop = await live({ world, slow, loop: true }, context);
            const gives = slow ? "in 2 to 4 minutes" : "at once";
            const what = `${tier}, ${gives}, list: ${list}, payment ${paysMs === undefined ? "never shown" : "shown"}`;
            for (const [name, tally] of [
              ["Retinue", ours],
              ["asks once", loop],
            ] as const)
              rows.push(rowOf(name, what, tally));
            ratios[what] = per1000(ours) / per1000(loop);
            if (!slow) goals.push(goal(`${what}: jobs`, { least: LEAST_PER_1000 }, per1000(ours), " for 1,000 requests"));
            goals.push(goal(`${what}: unnoticed`, { most: MOST_UNNOTICED_S }, ours.unnoticedMs / SECOND, " s"));
          }
    return {
      columns: ["", "network", "requests", "jobs", "for 1,000 requests", "list / apply / get / submit", "unnoticed"],
      rows,
      conditions: [
        "A network in a function, which counts each request and refuses what is over the hour or the day. Twenty jobs are open at any time. It gives a job half a second, or two to four minutes, after the application, and accepts it when it is delivered; payment shows half an hour later, or never. Its list shows also ours as they stand, the open ones alone, or jobs without their standing.",
        "One specialist that applies for every job and delivers at once. Free: until 1,000 requests are made, some two days. Pro: one hour.",
        "The loop that asks once knows when each job will be given, and never asks for a verdict or a payment: list, apply, get, submit, evenly over the quota. 250 jobs for 1,000 requests are what that makes.",
        "Unnoticed: the longest time for which a job was given, not known to be so, and the hour and the day had room.",
        shippedSaid(),
      ],
      plots: [{ title: "Jobs delivered for 1,000 requests", better: "more", column: "for 1,000 requests", labels: 2 }],
      goals,
      ratios,
    };
  },
};

async function live(settings: Readonly<Record<string, unknown>>, context: BenchContext): Promise<Tally> {
  const subject = await startSubject("jobs.ts", settings, "retinue");
  try {
    const tally = (await subject.ask("live")) as Tally;
    context.progress(`${JSON.stringify(settings)}: ${tally.delivered} jobs, ${tally.requests} requests`);
    return tally;
  } finally {
    await subject.kill();
  }
}

function per1000({ delivered, requests }: Tally): number {
  return (1_000 * delivered) / requests;
}

function rowOf(name: string, what: string, tally: Tally): string[] {
  const { by, requests, delivered, unnoticedMs } = tally;
  const counts = ["GET jobs", "POST jobs :id apply", "GET jobs :id", "POST jobs :id submit"].map((kind) => figure(by[kind] ?? 0));
  return [name, what, figure(requests), figure(delivered), figure(per1000(tally)), counts.join(" / "), `${figure(unnoticedMs / SECOND)} s`];
}
