/** The promises over the store of facts, whose memory is compared with its rows after every few commits, at each death and before the end. */
import { describe, expect, test } from "vitest";
import { simulate } from "../../../src/simulation/simulate.ts";
import { CAST } from "../../harness/simulation-course.ts";
import { verdict } from "../../harness/simulation-verdict.ts";

describe("over facts, the promises hold and memory is what rows say", () => {
  test.each([1, 2, 3, 4, 5, 6])("for the whole cast for a day, seed %i", { timeout: 300_000 }, async (seed) => {
    const run = await simulate({ specialists: CAST, seed, days: 1, faults: "swarm", facts: true });
    expect(verdict(run)).toBe("kept");
    expect(run.tally.effects).toBeGreaterThan(10);
  });

  test("with every fault at once", { timeout: 300_000 }, async () => {
    const run = await simulate({ specialists: CAST, seed: 1, days: 2, faults: "all", facts: true });
    expect(verdict(run)).toBe("kept");
    expect(run.tally.crashes).toBeGreaterThan(20);
    expect(run.tally.doubts).toBeGreaterThan(10);
  });

  test("and news comes by webhook", { timeout: 300_000 }, async () => {
    const crowd = { followsPerHour: 6 };
    const run = await simulate({ specialists: CAST, seed: 3, days: 1, faults: "all", webhooks: true, crowd, facts: true });
    expect(verdict(run)).toBe("kept");
    expect(run.tally.deliveries).toBeGreaterThan(50);
    expect(run.tally.events["follower.new done"]).toBeGreaterThan(0);
  });
});
