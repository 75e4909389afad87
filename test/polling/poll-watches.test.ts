/** What a job costs in requests, and that none that was given goes unnoticed: whole runtime, strict network, virtual time. */
import { describe, expect, test, vi } from "vitest";
import { HOUR, MINUTE } from "../../src/core/units.ts";
import { doJobs, type DoingJobs } from "../harness/job-doer.ts";

// Thousands of requests take seconds of a processor, which a busy machine shares out.
vi.setConfig({ testTimeout: 120_000 });

const AT_ONCE = { givesMs: () => 500, judgesMs: 0 };
const LISTS = ["ours", "open", "no standing"] as const;
const PAYMENTS: readonly (readonly [string, { readonly paysMs?: number }])[] = [
  ["shown", { paysMs: 30 * MINUTE }],
  ["never shown", {}],
];

describe.each(["free", "pro"] as const)("on %s", (tier) => {
  describe.each(LISTS)("if the list shows: %s", (list) => {
    test.each(PAYMENTS)("1,000 requests deliver 200 jobs, payment %s", async (_, pays) => {
      const { requests, delivered, refused, unnoticedMs } = await doJobs({ ...AT_ONCE, ...pays, tier, list, until: { requests: 1_000 } });
      expect(refused).toBe(0);
      expect((1_000 * delivered) / requests).toBeGreaterThanOrEqual(200);
      expect(unnoticedMs).toBeLessThanOrEqual(MINUTE);
    });
  });
});

test("an hour is used for jobs to its end, and no job that was given stays unnoticed for a minute", async () => {
  const { requests, delivered, refused, unnoticedMs } = await doJobs({ ...AT_ONCE, tier: "growth", list: "open", until: { ms: HOUR } });
  expect(refused).toBe(0);
  expect(requests).toBeGreaterThan(850);
  expect(delivered).toBeGreaterThan(220);
  expect(unnoticedMs).toBeLessThanOrEqual(MINUTE);
});

test.each<[string, Partial<DoingJobs>]>([
  ["is judged later and never paid", { judgesMs: 5 * MINUTE }],
  ["is never judged", {}],
])("what is delivered and %s takes no requests from jobs", async (_, ways) => {
  const { requests, delivered } = await doJobs({
    givesMs: () => 500,
    tier: "pro",
    list: "no standing",
    until: { requests: 1_500 },
    ...ways,
  });
  expect((1_000 * delivered) / requests).toBeGreaterThanOrEqual(200);
});

test("a network that gives after minutes is asked when it usually has: 1,000 requests deliver 190 jobs", async () => {
  const givesMs: DoingJobs["givesMs"] = (chance) => 2 * MINUTE * (1 + chance.next());
  const { requests, delivered, refused } = await doJobs({ givesMs, judgesMs: 0, tier: "free", list: "open", until: { requests: 800 } });
  expect(refused).toBe(0);
  expect((1_000 * delivered) / requests).toBeGreaterThanOrEqual(190);
});

test.each([
  ["free", "ours", "shown", { requests: 800 }],
  ["free", "open", "shown", { requests: 800 }],
  ["free", "open", "never shown", { requests: 800 }],
  ["free", "no standing", "never shown", { requests: 800 }],
  ["pro", "open", "never shown", { ms: 6 * MINUTE }],
  ["pro", "no standing", "shown", { ms: 6 * MINUTE }],
] as const)(
  "a job that %s is given after minutes (list: %s, payment %s) is noticed within a minute while the hour has room",
  async (tier, list, paid, until) => {
    const givesMs: DoingJobs["givesMs"] = (chance) => 2 * MINUTE * (1 + chance.next());
    const pays = paid === "shown" ? { paysMs: 30 * MINUTE } : {};
    const { delivered, refused, unnoticedMs } = await doJobs({ ...pays, givesMs, judgesMs: 0, tier, list, until });
    expect(refused).toBe(0);
    expect(delivered).toBeGreaterThan(100);
    expect(unnoticedMs).toBeLessThanOrEqual(MINUTE);
  },
);

test("a verdict and a payment that the list shows are told, and not asked for job by job", async () => {
  const ways = { givesMs: () => 500, judgesMs: MINUTE, paysMs: MINUTE, tier: "free", list: "ours" } as const;
  const { by, delivered, accepted, paid } = await doJobs({ ...ways, until: { requests: 400 } });
  expect(accepted).toBeGreaterThan(0.7 * delivered);
  expect(paid).toBeGreaterThan(0.7 * delivered);
  expect(by["GET jobs :id"]).toBeLessThan(1.3 * delivered);
});
