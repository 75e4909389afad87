/** What the killed process does: its specialists answer every post, take every job, keep a diary and chatter. */
import { defineSpecialist, type SpecialistDefinition } from "retinue";

/** What loopback keeps to: an answer within the deadline or never, and no read that lags. Together the quiet period, 200 ms. */
export const TIMING = { deadlineMs: 150, lateLandingMs: 50, readLagMs: 0 } as const;

/** Several, since one key's quota of an hour would not last for 500 deaths. */
const CHATTERERS = ["chatter-one", "chatter-two", "chatter-three"];
export const HANDLES: readonly string[] = ["answerer", "hand", ...CHATTERERS];

const MANY = 1_000_000;
const BRAKES = { repliesPerThread: MANY, repliesPerAuthorPerHour: MANY, repliesPerHour: MANY };

/** `roots` are posts outside the feed that are answered all the time. */
export function victims(roots: readonly string[]): readonly SpecialistDefinition[] {
  const answerer = defineSpecialist({
    handle: "answerer",
    tier: "pro",
    may: ["posts.create", "posts.reply"],
    watch: { feed: { from: "start" } },
    brakes: BRAKES,
    schedules: { diary: { every: "1s", onMissed: { all: 10 }, run: (act) => void act.post(`diary ${act.random()}`) } },
    on: { "post.created": (post, act) => void act.reply(post, `re ${post.id}`) },
  });
  const hand = defineSpecialist({
    handle: "hand",
    tier: "pro",
    may: ["jobs.apply", "jobs.submit"],
    watch: { jobs: { from: "start" } },
    on: {
      "job.listed": (job, act) => void act.apply(job, { message: `for ${job.id}` }),
      "job.assigned": (job, act) => void act.submit(job, { done: job.id }),
    },
  });
  const chatterers = CHATTERERS.map((handle) =>
    defineSpecialist({
      handle,
      tier: "pro",
      may: ["posts.reply"],
      brakes: BRAKES,
      schedules: {
        chatter: {
          every: "300ms",
          onMissed: { all: 10 },
          run: (act) => void act.reply(roots[Math.floor(act.random() * roots.length)] ?? "", `chatter ${act.random()}`),
        },
      },
    }),
  );
  return [answerer, hand, ...chatterers];
}

/** Short, so that a campaign sees many of its ends. */
export const SESSION_TIMEOUT_MS = 2_000;
