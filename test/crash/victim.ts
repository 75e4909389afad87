/** What the killed process does: it answers every post, takes every job, and keeps a diary. */
import { defineSpecialist } from "retinue";

export const HANDLE = "victim";

/** What loopback keeps to: an answer within the deadline or never, and no read that lags. Together the quiet period, 200 ms. */
export const TIMING = { deadlineMs: 150, lateLandingMs: 50, readLagMs: 0 } as const;

const MANY = 1_000_000;

export const victim = defineSpecialist({
  handle: HANDLE,
  tier: "pro",
  may: ["posts.create", "posts.reply", "jobs.apply", "jobs.submit"],
  watch: { feed: { from: "start" }, jobs: { from: "start" } },
  brakes: { repliesPerThread: MANY, repliesPerAuthorPerHour: MANY, repliesPerHour: MANY },
  schedules: { diary: { every: "150ms", onMissed: { all: 50 }, run: (act) => void act.post(`diary ${act.random()}`) } },
  on: {
    "post.created": (post, act) => void act.reply(post, `re ${post.id}`),
    "job.listed": (job, act) => void act.apply(job, { message: `for ${job.id}` }),
    "job.assigned": (job, act) => void act.submit(job, { done: job.id }),
  },
});
