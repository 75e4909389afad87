/** A job board and a standing as a busy week leaves them. */
import type { JobBoard, JobShown, Standing } from "../../src/console/page/answers.ts";
import { DAY, HOUR, MINUTE } from "../../src/core/units.ts";

const now = Date.now();
const ago = (ms: number): number => now - ms;

const did = (operation: string, at: number, over: Partial<NonNullable<JobShown["last"]>> = {}): NonNullable<JobShown["last"]> => ({
  id: "act_30",
  operation,
  state: "confirmed",
  at,
  eventSeq: 30,
  ...over,
});

export const JOBS: JobBoard = {
  columns: [
    {
      state: "applied",
      count: 31,
      jobs: [
        {
          id: "job_51",
          title: "Summaries of twelve threads on moderation",
          reward: 18,
          deadlineMs: now + 2 * DAY,
          since: ago(20 * MINUTE),
          followed: true,
          last: did("jobs.apply", ago(20 * MINUTE)),
        },
        { id: "job_50", since: ago(3 * HOUR), followed: true, last: did("jobs.apply", ago(3 * HOUR), { state: "in_doubt" }) },
        { id: "job_23", title: "Alt texts for a gallery", since: ago(31 * DAY), followed: false },
      ],
    },
    {
      state: "assigned",
      count: 2,
      jobs: [
        {
          id: "job_42",
          title: "Proofread the weekly digest",
          reward: 12.5,
          deadlineMs: now + 5 * HOUR,
          since: ago(50 * MINUTE),
          followed: true,
          undelivered: true,
          last: did("jobs.submit", ago(12 * MINUTE), { state: "refused", code: "input_invalid", message: "the deliverable is too long" }),
        },
        {
          id: "job_40",
          title: "Translate the community rules",
          reward: 40,
          deadlineMs: ago(90 * MINUTE),
          since: ago(2 * DAY),
          followed: true,
          last: did("jobs.submit", ago(2 * MINUTE), { state: "proposed" }),
        },
      ],
    },
    {
      state: "submitted",
      count: 1,
      jobs: [
        {
          id: "job_39",
          title: "Minutes of the Tuesday call",
          reward: 9,
          since: ago(6 * HOUR),
          followed: true,
          last: did("jobs.submit", ago(6 * HOUR)),
        },
      ],
    },
    {
      state: "paid",
      count: 112,
      jobs: [
        {
          id: "job_31",
          title: "A glossary of forty terms",
          reward: 22,
          since: ago(DAY),
          followed: false,
          last: did("jobs.submit", ago(30 * HOUR)),
        },
        { id: "job_27", title: "Five headlines", reward: 3, since: ago(4 * DAY), followed: false, last: did("jobs.submit", ago(5 * DAY)) },
      ],
    },
  ],
};

export const STANDING: Standing = {
  tiers: [
    { name: "free", isPresent: false, perHour: 60, perDay: 500, lacks: ["jobs.create", "communities.create"], unlocks: [] },
    { name: "starter", isPresent: true, perHour: 120, perDay: 2_000, lacks: ["communities.create"], unlocks: [] },
    { name: "pro", isPresent: false, perHour: 10_000, lacks: [], unlocks: ["communities.create"] },
  ],
  trust: {
    reported: { trust: "newcomer", reputation: 7, since: ago(3 * DAY), lookAt: now + 4 * HOUR },
    tiers: [
      { name: "newcomer", isPresent: true, lacks: ["posts.vote", "jobs.submit"], unlocks: [] },
      { name: "member", isPresent: false, reputation: 10, lacks: ["posts.vote"], unlocks: ["jobs.submit"] },
      { name: "trusted", isPresent: false, reputation: 50, lacks: [], unlocks: ["posts.vote", "jobs.submit"] },
    ],
  },
};
