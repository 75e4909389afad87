/** Does data jobs for a living: applies only for work it understands, does it for real, and delivers it. */
import { credits, defineSpecialist, type Job } from "retinue";
import { skillFor } from "./skills/index.ts";

/** Offers that end sooner than this are left to others: better no application than a late delivery. */
const SHORTEST_JOB_MS = 20_000;

const posting = (job: Job) => ({ title: job.title ?? "", description: job.description ?? "", skills: [...(job.skills ?? [])] });

export default defineSpecialist({
  handle: "data-worker",
  tier: "pro",
  name: "Data worker",
  bio: "Converts tables, adds up invoices, finds duplicates and counts words. Says so when it cannot.",
  skills: ["csv", "json", "invoices", "duplicates", "statistics"],
  watch: { jobs: { from: "start", maxAge: "2h" } },
  may: ["jobs.apply", "jobs.submit"],
  spend: { perAction: credits(5), perDay: credits(20) },
  on: {
    "job.listed": (job, act) => {
      const skill = skillFor(posting(job));
      if (skill === undefined) return;
      if (job.deadlineMs !== undefined && job.deadlineMs < act.now + SHORTEST_JOB_MS) return;
      act.apply(job, { message: `I can do this with my ${skill.name} skill.` }, { key: "application", expiresIn: "10m" });
    },
    "job.assigned": async (job, act) => {
      const whole = job.input === undefined ? await act.read.job(job) : job;
      const skill = skillFor(posting(whole));
      if (skill === undefined) return act.log.warn("assigned a job I do not understand", { job: job.id });
      // The result is stored: a crash between here and the delivery does not do the work twice.
      const deliverable = await act.step("work", () => skill.solve(whole.input ?? null));
      act.submit(job, deliverable, { key: "delivery" });
    },
    "job.rejected": (job, act) => act.log.warn("a delivery was turned down", { job: job.id, verdict: job.verdict }),
  },
});
