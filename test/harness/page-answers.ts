/** Answers of the console's routes as a busy week leaves them: matters of every kind, specialists in every condition. */
import type {
  UsageHour,
  LogEntry,
  Need,
  Needs,
  OrderRow,
  Page,
  PlanRow,
  SpecialistShown,
  TimelineEvent,
} from "../../src/console/page/answers.ts";
import type { Explanation } from "../../src/guardian/explanation.ts";
import type { InboxEntry } from "../../src/guardian/inbox-entries.ts";
import { DAY, HOUR, MINUTE } from "../../src/core/units.ts";
import type { Desk } from "./page-desk.ts";
import { JOBS, STANDING } from "./page-jobs.ts";

const now = Date.now();
const ago = (ms: number): number => now - ms;

export const HASH = "3f1c9a7be0d24c55b1f6a2e8d90471c3f7765e12ab04cd9938e1f0276b5d8a41";

const reject = (id: string) => ({ order: "reject", label: "Reject", with: { id }, takesReason: true, many: true }) as const;
const retry = (id: string, label = "Try it again") => ({ order: "retry", label, with: { id }, takesReason: true, many: true }) as const;
const settle = (id: string, verdict: string, label: string) =>
  ({ order: "settle", label, with: { id, verdict }, takesReason: true, many: verdict === "give-up" }) as const;

/** An action that waits for a yes. */
export function approval(id: string, text: string, over: Partial<Need> = {}): Need {
  const facts = {
    id,
    handle: "scribe",
    what: "jobs.create",
    target: "board",
    hash: HASH,
    since: ago(25 * MINUTE),
    expiresAt: now + 3 * HOUR,
  };
  return {
    key: `approval:${id}`,
    kind: "approval",
    handle: "scribe",
    subject: id,
    title: "jobs.create of scribe: board",
    message: "waits for the Guardian's approval; costs at most 12.5 credits",
    since: facts.since,
    until: facts.expiresAt,
    proposal: {
      ...facts,
      cost: { currency: "credits", micros: 12_500_000 },
      input: { title: "Proofread the weekly digest", description: text, budget: 12.5, tags: ["writing", "weekly"] },
    },
    orders: [{ order: "approve", label: "Approve", with: { id, hash: HASH }, takesReason: true, many: false }, reject(id)],
    ...over,
  };
}

const TEXT = "The digest of this week has 1,200 words.\nPlease check spelling and links, and keep the tone.\nDelivery until Friday, 18:00.";

const NEEDS: readonly Need[] = [
  approval("act_1", TEXT),
  {
    key: "key:herald",
    kind: "key",
    handle: "herald",
    subject: "herald",
    title: "herald is parked",
    message: "the network refuses its key (401 key_revoked)",
    hint: "put a working key into the environment or its file: it is read again automatically",
    since: ago(2 * HOUR),
    orders: [retry("herald", "Try the key again")],
  },
  {
    key: "parked:act_2",
    kind: "parked",
    handle: "scout",
    subject: "act_2",
    title: "posts.reply of scout: post_118",
    message: "the network refused it five times: the thread is locked",
    since: ago(26 * HOUR),
    orders: [retry("act_2"), settle("act_2", "give-up", "Give it up")],
  },
  {
    key: "doubt:act_3",
    kind: "doubt",
    handle: "courier",
    subject: "act_3",
    title: "jobs.deliver of courier: job_42",
    message: "the answer was lost, and the network lists two deliveries that could be ours",
    since: ago(40 * MINUTE),
    orders: [settle("act_3", "happened", "It happened"), settle("act_3", "did-not", "It did not happen: send it again")],
  },
  {
    key: "failing:scout:mention",
    kind: "failing",
    handle: "scout",
    subject: "evt_9",
    title: "7 mention.created of scout fail",
    message: "Cannot read properties of undefined (reading 'author')",
    since: ago(12 * MINUTE),
    orders: [retry("scout", "Handle 7 again")],
  },
];

export function needsOf(needs: readonly Need[]): Needs {
  const counts: Record<string, number> = {};
  for (const { kind } of needs) counts[kind] = (counts[kind] ?? 0) + 1;
  return { at: now, total: needs.length, counts, needs };
}

export function specialist(handle: string, over: Partial<SpecialistShown> = {}): SpecialistShown {
  return {
    handle,
    tier: "pro",
    trust: "established",
    accountId: `agt_${handle}`,
    retired: false,
    actions: { "posts.reply": 41, "jobs.apply": 6 },
    open: { ready: 1 },
    quota: { hour: { used: 38, limit: 120 }, day: { used: 412, limit: 2_000 } },
    cooldown: undefined,
    money: [{ currency: "credits", postedMicros: 61_000_000, heldMicros: 2_000_000, dayMicros: 14_500_000, dayCapMicros: 40_000_000 }],
    jobs: { applied: 31, assigned: 2, submitted: 1, paid: 112 },
    waits: [],
    parked: undefined,
    held: [],
    sources: [
      { name: "feed", dueAt: now + 4 * MINUTE, gaps: [], readFailure: undefined },
      { name: "jobs", dueAt: now + 11 * MINUTE, gaps: [], readFailure: undefined },
    ],
    ...over,
  };
}

/** All together, against the Guardian's own cap. */
const MONEY = [{ currency: "credits", postedMicros: 140_000_000, heldMicros: 2_000_000, dayMicros: 42_000_000, dayCapMicros: 60_000_000 }];

const SPECIALISTS: readonly SpecialistShown[] = [
  specialist("courier"),
  specialist("herald", { parked: { code: "key_refused", message: "the network refuses its key (401 key_revoked)", since: ago(2 * HOUR) } }),
  specialist("scout", {
    failing: {
      tries: 7,
      since: ago(12 * MINUTE),
      kind: "mention.created",
      message: "Cannot read properties of undefined (reading 'author')",
    },
    quota: { hour: { used: 112, limit: 120 }, day: { used: 1_580, limit: 2_000 } },
  }),
  specialist("scribe", {
    tier: "starter",
    trust: "newcomer",
    trustLacks: ["posts.vote", "jobs.submit"],
    waits: [
      {
        lane: "reply",
        rule: "quota_window",
        message: "the hour's 120 requests are used",
        since: ago(5 * MINUTE),
        until: now + 22 * MINUTE,
      },
    ],
    quota: { hour: { used: 120, limit: 120 }, day: { used: 903, limit: 2_000 } },
  }),
  specialist("watcher", { tier: undefined, quota: undefined, money: [], sources: [], open: {}, jobs: {} }),
];

const TIMELINE: Page<TimelineEvent> = {
  entries: [
    {
      seq: 31,
      id: "mention.created:post_120",
      kind: "mention.created",
      at: ago(9 * MINUTE),
      state: "done",
      author: "quill",
      text: "@scribe could you summarise the thread on moderation?",
      steps: [
        { name: "thread", bytes: 18_204 },
        { name: "model: summary", bytes: 1_032 },
      ],
      stepCount: 2,
      actions: [
        {
          id: "act_20",
          operation: "posts.reply",
          target: "post_120",
          state: "confirmed",
          words: "In short: three proposals, two of which agree on a trial period of a month.",
          created: "post_121",
          attempts: [
            { at: ago(8.8 * MINUTE), endedAt: ago(8.8 * MINUTE) + 2_300, outcome: "unknown", status: 502, message: "the server failed" },
            { at: ago(8.5 * MINUTE), endedAt: ago(8.5 * MINUTE) + 180, outcome: "confirmed", status: 201 },
          ],
          attemptCount: 2,
        },
      ],
    },
    {
      seq: 30,
      id: "job.assigned:job_42",
      kind: "job.assigned",
      at: ago(50 * MINUTE),
      state: "done",
      author: "atlas",
      text: "Proofread the weekly digest",
      steps: [],
      stepCount: 0,
      actions: [{ id: "act_1", operation: "jobs.create", target: "board", state: "proposed", attempts: [], attemptCount: 0 }],
    },
  ],
  next: 30,
};

const HOURS: readonly UsageHour[] = Array.from({ length: 72 }, (_, index) => ({
  at: Math.floor(now / HOUR) * HOUR - (71 - index) * HOUR,
  requests: Math.round(40 + 34 * Math.sin(index / 3.8) + ((index * 7) % 11)),
  late: { count: index % 9 === 0 ? 2 : 0, maxMs: index % 9 === 0 ? 4_000 + index * 120 : 0 },
  money: { credits: ((index * 13) % 17) * 100_000 },
}));

const LANES = ["obligation", "reply", "act", "watch", "poll", "explore"] as const;
const PLAN: PlanRow = {
  handle: "scribe",
  limits: { perHour: 120, perDay: 2_000 } as PlanRow["limits"],
  lanes: LANES.map((lane, i) => ({
    lane,
    floorPerDay: 100 + i * 20,
    floorPerHour: 6 + i,
    perDay: lane === "poll" ? 864 : i * 12,
    perHour: 36,
  })),
  sources: [{ name: "feed", everyMs: 2 * MINUTE, callsPerDay: 720, watchers: 1, discoveryMs: { mean: MINUTE, worst: 9 * MINUTE } }],
  perDay: 1_044,
  runsOutMs: { hour: undefined, day: undefined },
  warnings: [],
};

const LOG: readonly LogEntry[] = [
  {
    about: "action",
    seq: 20,
    id: "act_20",
    at: ago(9 * MINUTE),
    handle: "scribe",
    operation: "posts.reply",
    target: "post_120",
    state: "confirmed",
    created: "post_121",
    words: "In short: three proposals, two of which agree on a trial period of a month.",
  },
  {
    about: "failure",
    seq: 9,
    id: "evt_9",
    at: ago(12 * MINUTE),
    handle: "scout",
    kind: "mention.created",
    state: "failing",
    code: "handler_failed",
    message: "Cannot read properties of undefined (reading 'author')",
    tries: 3,
    file: "agents/scout.ts",
    line: 14,
    nextAt: now + 5 * MINUTE,
  },
  {
    about: "action",
    seq: 19,
    id: "act_1",
    at: ago(25 * MINUTE),
    handle: "scribe",
    operation: "jobs.create",
    target: "board",
    state: "proposed",
    words: "Proofread the weekly digest",
  },
  {
    about: "action",
    seq: 18,
    id: "act_3",
    at: ago(40 * MINUTE),
    handle: "courier",
    operation: "jobs.deliver",
    target: "job_42",
    state: "in_doubt",
    code: "answer_lost",
    message: "the answer was lost",
  },
  {
    about: "action",
    seq: 12,
    id: "act_2",
    at: ago(26 * HOUR),
    handle: "scout",
    operation: "posts.reply",
    target: "post_118",
    state: "parked",
    code: "thread_locked",
    message: "the thread is locked",
    words: "I can take this one.",
  },
];

const ORDERS: readonly OrderRow[] = [
  {
    seq: 4,
    who: "ada",
    from: "command",
    at: ago(30 * MINUTE),
    what: "approve",
    subject: "act_17",
    why: "within the budget",
    result: "approved: jobs.apply of courier",
  },
  {
    seq: 3,
    who: "guardian",
    from: "command",
    at: ago(3 * HOUR),
    what: "retry",
    subject: "act_2",
    result: "act_2 may have happened already, and must not happen twice",
    code: "may_have_happened",
  },
  { seq: 2, who: "ada", from: "command", at: ago(DAY), what: "halt", why: "odd replies", result: "halted: no specialist writes" },
];

const WHY: Explanation = {
  id: "act_1",
  about: "intent",
  handle: "scribe",
  what: "jobs.create",
  target: "board",
  state: "proposed",
  since: ago(25 * MINUTE),
  reasons: [{ rule: "approval_wanted", message: "waits for the Guardian's approval", since: ago(25 * MINUTE), until: now + 3 * HOUR }],
  input: { title: "Proofread the weekly digest", description: TEXT },
  event: {
    id: "job.assigned:job_42",
    kind: "job.assigned",
    at: ago(50 * MINUTE),
    author: "atlas",
    object: "job_42",
    title: "Weekly digest",
    text: "We need the digest checked before it goes out. You may hire somebody for it.",
  },
};

const RECEIVED: readonly InboxEntry[] = [
  {
    id: "mention.created:post_120",
    kind: "mention.created",
    at: ago(9 * MINUTE),
    state: "done",
    payload: { author: "quill", content: "@scribe could you summarise the thread on moderation?" },
  },
];

const paged = <Entry>(entries: readonly Entry[]): Page<Entry> => ({ entries, total: entries.length });

/** Everything that the page reads. */
export function busyWeek(): Desk["answers"] {
  return {
    "/api/needs": needsOf(NEEDS),
    "/api/specialists": { at: now, total: SPECIALISTS.length, rows: SPECIALISTS, money: MONEY },
    ...Object.fromEntries(
      SPECIALISTS.map((one) => [`/api/specialists/${one.handle}`, { at: now, specialist: one, plan: PLAN, standing: STANDING }]),
    ),
    ...Object.fromEntries(SPECIALISTS.map(({ handle }) => [`/api/specialists/${handle}/events`, TIMELINE])),
    ...Object.fromEntries(SPECIALISTS.map(({ handle }) => [`/api/specialists/${handle}/feed`, RECEIVED])),
    ...Object.fromEntries(SPECIALISTS.map(({ handle }) => [`/api/specialists/${handle}/jobs`, JOBS])),
    "/api/usage": { hours: HOURS },
    "/api/log": { ...paged(LOG), next: 12 },
    "/api/orders": paged(ORDERS),
    "/api/why": WHY,
  };
}
