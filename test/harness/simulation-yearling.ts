/** One specialist for a year, with every kind of fault now and then: its quiet life makes a year short enough to simulate. */
import { defineSpecialist } from "retinue";
import type { SimulateOptions } from "../../src/simulation/simulate-options.ts";

/** A quiet one: a digest every night in the hour that summer time skips and repeats. */
const yearling = defineSpecialist({
  handle: "yearling",
  watch: { feed: { maxAge: "48h" } },
  may: ["posts.create", "posts.reply"],
  schedules: {
    digest: { cron: "30 1 * * *", zone: "Europe/London", onMissed: "once", run: (act) => void act.post(`Digest of ${act.now}`) },
  },
  on: { "post.created": (post, act) => void act.reply(post, `Noted: ${post.id}`, { expiresIn: "1d" }) },
});

const crowd = { postsPerHour: 0.1, repliesPerHour: 0.02, jobsPerHour: 0, followsPerHour: 0, takesPerHour: 0 };
const faults = {
  crashes: 1,
  stopsPerDay: 0.2,
  outagesPerDay: 0.05,
  clockJumpsPerDay: 0.1,
  keyRotationsPerDay: 0.05,
  haltsPerDay: 0.05,
  refusedConnections: 0.02,
  lostRequests: 0.05,
  lostReplies: 0.05,
  lateLandings: 0.05,
  failedAfter: 0.05,
  limited: 0.02,
};

export function yearOf(seed: number, days = 365): SimulateOptions {
  return { specialists: [yearling], seed, days, crowd, faults };
}
