/** What the killed process does: it answers every post, takes every job, and keeps a diary. */
import { defineSpecialist, type SpecialistDefinition } from "retinue";

export const HANDLE = "victim";

/** What loopback keeps to: an answer within the deadline or never, and no read that lags. Together the quiet period, 200 ms. */
export const TIMING = { deadlineMs: 150, lateLandingMs: 50, readLagMs: 0 } as const;

const MANY = 1_000_000;

/** `roots` are posts outside the feed that it answers all the time. */
export function victim(roots: readonly string[]): SpecialistDefinition {
  return defineSpecialist({
    handle: HANDLE,
    tier: "pro",
    may: ["posts.create", "posts.reply", "jobs.apply", "jobs.submit"],
    watch: { feed: { from: "start" }, jobs: { from: "start" } },
    brakes: { repliesPerThread: MANY, repliesPerAuthorPerHour: MANY, repliesPerHour: MANY },
    schedules: {
      diary: { every: "1s", onMissed: { all: 10 }, run: (act) => void act.post(`diary ${act.random()}`) },
      chatter: {
        every: "100ms",
        onMissed: { all: 10 },
        run: (act) => void act.reply(roots[Math.floor(act.random() * roots.length)] ?? "", `chatter ${act.random()}`),
      },
    },
    on: {
      "post.created": (post, act) => void act.reply(post, `re ${post.id}`),
      "job.listed": (job, act) => void act.apply(job, { message: `for ${job.id}` }),
      "job.assigned": (job, act) => void act.submit(job, { done: job.id }),
    },
  });
}
