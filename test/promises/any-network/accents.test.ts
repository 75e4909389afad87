/** Networks nobody tuned for, joined by a doctor's reads and a person's marks, carry the whole cast with every promise held. */
import { describe, expect, test } from "vitest";
import { CAST } from "../../campaigns/accents/cast.ts";
import { runAccent, shortcomings } from "../../campaigns/accents/join.ts";

const CALM = [3, 10, 41, 72];
const DOCUMENTED = [2, 81];
const STORMY = [5, 16];

describe("a network in another accent", () => {
  test.each(CALM)("of seed %i is joined, and the cast does all it does elsewhere", async (seed) => {
    const run = await runAccent({ seed, set: seed % 2 === 0 ? "b" : "a", cast: CAST, minutes: 1 });
    expect(shortcomings(run)).toEqual([]);
  });

  test.each(DOCUMENTED)("of seed %i is joined by its own document, without a line from a person", async (seed) => {
    const run = await runAccent({ seed, set: seed % 2 === 0 ? "b" : "a", cast: CAST, minutes: 1, documented: true });
    expect(run.marks).toBe(0);
    expect(shortcomings(run)).toEqual([]);
  });

  test.each(STORMY)("of seed %i holds every promise when answers are lost", async (seed) => {
    const timing = { deadlineMs: "10s", lateLandingMs: "2s", readLagMs: "1s" };
    const faults = { lostReplies: 0.06, lostRequests: 0.03, slowReplies: 0.05 };
    // Reading back what was lost can use up an hour of the Free tier, and would then wait for the next one.
    const cast = CAST.map((definition) => ({ ...definition, tier: "pro" as const }));
    const run = await runAccent({ seed, set: seed % 2 === 0 ? "b" : "a", cast, minutes: 1, faults, timing });
    expect(run.problems.filter((problem) => /^P\d/.test(problem))).toEqual([]);
    expect(run.jobs.accepted).toBeGreaterThan(0);
  });
});
