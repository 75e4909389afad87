/** Several processes on one store: kills, stops, lost connections and ends in order, and what the others make of it. */
import { expect, test } from "vitest";
import { simulate } from "../../../src/simulation/simulate.ts";
import { CAST } from "../../harness/simulation-options.ts";
import { verdict } from "../../harness/simulation-verdict.ts";

const faults = { crashes: 20, stopsPerDay: 24, disconnectionsPerDay: 24, departuresPerDay: 12, lostReplies: 0.1, pileUps: 0.05 } as const;
const several = { specialists: CAST, hours: 6, processes: 3, faults } as const;

test.each([2, 5])("the promises hold for a fleet, and its work goes on, seed %i", { timeout: 300_000 }, async (seed) => {
  const run = await simulate({ ...several, seed, webhooks: true });
  expect(verdict(run)).toBe("kept");
  const { takeovers, crashes, stops, disconnections, departures, effects } = run.stats;
  for (const count of [crashes, stops, disconnections, departures]) expect(count).toBeGreaterThan(0);
  expect(takeovers).toBeGreaterThan(30);
  expect(effects).toBeGreaterThan(50);
});

test("the same seed is the same run", { timeout: 300_000 }, async () => {
  const short = { ...several, hours: 2 };
  expect(await simulate(short)).toEqual(await simulate(short));
});

test("without faults each process keeps its specialists, and one specialist is in one process", { timeout: 300_000 }, async () => {
  const { stats, ok } = await simulate({ ...several, hours: 4, faults: "none" });
  expect({ ok, takeovers: stats.takeovers, lives: stats.lives }).toEqual({ ok: true, takeovers: 0, lives: CAST.length });
  const alone = await simulate({ ...several, specialists: CAST.slice(0, 1), hours: 4, faults: { departuresPerDay: 48 } });
  expect(alone.ok).toBe(true);
  expect(alone.stats.takeovers).toBeGreaterThan(0);
});

test("faults among processes do nothing to one alone", { timeout: 300_000 }, async () => {
  const { stats, ok } = await simulate({ specialists: CAST, hours: 4, faults: { disconnectionsPerDay: 99, departuresPerDay: 99 } });
  expect({ ok, ...stats }).toMatchObject({ ok: true, lives: 1, disconnections: 0, departures: 0, takeovers: 0 });
});

test("as many processes as nobody has are refused", async () => {
  for (const processes of [0, 1.5, 17])
    await expect(simulate({ specialists: CAST, processes })).rejects.toMatchObject({ code: "option_invalid" });
});
