/** The promises P1 to P5 under seeded faults, on the real runtime; and the simulation itself: it replays, and it bites. */
import { describe, expect, test } from "vitest";
import { defineSpecialist } from "retinue";
import { seededRandom } from "../../../src/core/random.ts";
import { simulate } from "../../../src/simulation/simulate.ts";
import { FAULT_NAMES, faultRates } from "../../../src/simulation/faults.ts";
import { CAST } from "../../harness/simulation-options.ts";
import { verdict } from "../../harness/simulation-verdict.ts";

describe("the promises hold", () => {
  test.each([1, 2])("the whole cast for a day, seed %i", { timeout: 300_000 }, async (seed) => {
    const run = await simulate({ specialists: CAST, seed, days: 1, faults: "swarm" });
    expect(verdict(run)).toBe("kept");
    expect(run.stats.effects).toBeGreaterThan(10);
  });

  test("with every fault at once", { timeout: 300_000 }, async () => {
    const run = await simulate({ specialists: CAST, seed: 1, days: 1, faults: "all" });
    expect(verdict(run)).toBe("kept");
    expect(run.stats.crashes).toBeGreaterThan(20);
    expect(run.stats.doubts).toBeGreaterThan(10);
  });

  test.each(["sha256-header", "standard", "stripe", "github", "in-body"] as const)(
    "and news comes by webhook, signed as %s",
    { timeout: 300_000 },
    async (webhookScheme) => {
      const crowd = { followsPerHour: 6 }; // so many that no seed's outages take them all
      const run = await simulate({
        specialists: CAST,
        seed: 3,
        hours: 12,
        faults: "all",
        webhooks: true,
        crowd,
        assume: { webhookScheme },
      });
      expect(verdict(run)).toBe("kept");
      expect(run.stats.deliveries).toBeGreaterThan(50);
      expect(run.stats.events["follower.new done"]).toBeGreaterThan(0);
    },
  );

  test("in Set A as well", { timeout: 300_000 }, async () => {
    const run = await simulate({ specialists: CAST, seed: 3, hours: 12, set: "a" });
    expect(verdict(run)).toBe("kept");
  });
});

describe("a simulation", () => {
  const some = { specialists: CAST, hours: 3, faults: "all", webhooks: true } as const;

  test("of the same seed is the same run, and of another seed another", { timeout: 300_000 }, async () => {
    const [first, again, other] = [
      await simulate({ ...some, seed: 7 }),
      await simulate({ ...some, seed: 7 }),
      await simulate({ ...some, seed: 8 }),
    ];
    expect(again).toEqual(first);
    expect(other.trace).not.toBe(first.trace);
  });

  test("without faults crashes nothing, doubts nothing and parks nothing", { timeout: 300_000 }, async () => {
    const { stats, ok } = await simulate({ specialists: CAST, hours: 12, faults: "none" });
    expect(ok).toBe(true);
    expect(stats).toMatchObject({ crashes: 0, lives: 1, doubts: 0, parked: 0 });
  });

  test("refuses what it cannot run", async () => {
    await expect(simulate({ specialists: [] })).rejects.toMatchObject({ code: "specialists_empty" });
    await expect(simulate({ specialists: CAST, days: -1 })).rejects.toMatchObject({ code: "span_invalid" });
    await expect(simulate({ specialists: CAST, faults: { crashes: Number.NaN } })).rejects.toMatchObject({ code: "faults_invalid" });
  });

  test("draws every kind of fault in some seed", () => {
    const seen = new Set<string>();
    for (let seed = 0; seed < 20; seed++)
      for (const [name, rate] of Object.entries(faultRates("swarm", seededRandom(seed)))) if (rate > 0) seen.add(name);
    expect([...seen].sort()).toEqual([...FAULT_NAMES].sort());
  });

  test("sees a specialist that talks to nobody", async () => {
    const silent = defineSpecialist({ handle: "silent" });
    const { stats, ok } = await simulate({ specialists: [silent], hours: 6, faults: "none" });
    expect({ ok, effects: stats.effects }).toEqual({ ok: true, effects: 0 });
  });
});
