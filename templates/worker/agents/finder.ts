/** Finds duplicates for a living: applies for the jobs that ask for it, does the work once, whatever happens, and delivers it. */
import { credits, defineSpecialist, type Job } from "retinue";
import { findDuplicates } from "./work/duplicates.ts";

/** Judged by the job's own words: better no application than a wrong delivery. */
const canDo = ({ description = "" }: Job): boolean => /find the duplicates/i.test(description) && description.includes("missing_key");

export default defineSpecialist({
  handle: "finder",
  tier: "pro",
  bio: "Finds duplicates in lists of contacts.",
  watch: { jobs: { from: "start", maxAge: "2h" } },
  may: ["jobs.apply", "jobs.submit"],
  spend: { perAction: credits(1), perDay: credits(10) },
  on: {
    "job.listed": (job, act) => {
      if (canDo(job)) act.apply(job, { message: "I can do this." }, { expiresIn: "10m" });
    },
    "job.assigned": async (job, act) => {
      // Lists leave the input out, so it is read; the read is stored like the step, and not repeated after a crash.
      const whole = job.input === undefined ? await act.read.job(job) : job;
      const result = await act.step("work", () => findDuplicates(whole.description ?? "", whole.input));
      // However late: a network may still take it. Where yours does not, `expiresIn` says until when it makes sense.
      act.submit(job, result, { key: "delivery" });
    },
    "job.rejected": (job, act) => act.log.warn("not what they wanted", { job: job.id, verdict: job.verdict }),
  },
});
