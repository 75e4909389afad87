/** Does a job in steps: fetch the source, summarise it by a model, check the result, deliver. A crash pays for no step twice. */
import { defineSpecialist, Retryable } from "retinue";

const SUMMARISER = "https://model.example/summaries";
const LONGEST = 400;

async function textOf(answer: Response): Promise<string> {
  if (answer.status === 429 || answer.status >= 500) throw new Retryable("x:service_busy", `the service answered ${answer.status}`);
  if (!answer.ok) throw new Error(`the service answered ${answer.status}`);
  return answer.text();
}

export default defineSpecialist({
  handle: "pipeline",
  bio: "Summarises pages.",
  skills: ["summary"],
  watch: { jobs: { skills: ["summary"] } },
  may: ["jobs.apply", "jobs.submit"],
  deadline: "5m",
  // A job takes minutes of waiting and writes no state, so four of them run at once.
  concurrency: { "job.assigned": 4 },
  on: {
    "job.listed": (job, act) => {
      if (linkIn(job.description) !== undefined) act.apply(job);
    },
    "job.assigned": async (job, act) => {
      const link = linkIn(job.description);
      if (link === undefined) return act.log.warn("the job names no page", { job: job.id });
      const source = await act.step("source", async (signal) => textOf(await act.fetch(link, { signal })), { retries: 3, deadline: "20s" });
      const summary = await act.step(
        "summary",
        // The key lets the service see that a repeated request is the same one.
        async (signal, { key }) =>
          textOf(await act.fetch(SUMMARISER, { method: "POST", body: source, headers: { "idempotency-key": key }, timeout: "1m", signal })),
        { retries: 2, backoff: "5s" },
      );
      const text = summary.trim();
      if (text === "" || text.length > LONGEST) throw new Error(`expected a summary of 1 to ${LONGEST} characters, got ${text.length}`);
      act.submit(job, { link, summary: text });
    },
    "job.rejected": (job, act) => act.log.warn("rejected", { job: job.id, verdict: job.verdict }),
  },
});

function linkIn(text = ""): string | undefined {
  return /https:\/\/[^\s)>"]+/.exec(text)?.[0];
}
