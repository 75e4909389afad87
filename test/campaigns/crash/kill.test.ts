/** The real process on a real disk, killed under load: judged by the network's own record, never by ours. */
import { expect, test } from "vitest";
import { campaign } from "./campaign.ts";
import { openStoreServer } from "./store-server.ts";

test("6 kill -9 under load lose nothing and double nothing", { timeout: 240_000 }, async () => {
  const report = await campaign({ kills: 6, seed: 1 });
  expect(report.drift).toEqual([]);
  expect(report.doubled).toEqual([]);
  expect(report.lost).toEqual([]);
  expect(report.effects).toBeGreaterThan(100);
  expect(report.doubts).toBeGreaterThan(5);
  for (const mishap of ["stops", "broken", "late", "swallowedRequests", "swallowedAnswers"] as const)
    expect(report[mishap], mishap).toBeGreaterThan(0);
  // What a process that dies all the time could not read back any more, and told: were it most, little would be shown.
  expect(report.passedOver).toBeLessThan(report.said / 2);
  // A thousandth of what reading back can settle may need a person: with so few, none.
  expect(report.parked, JSON.stringify(report.parkedFor)).toBe(0);
});

test(
  "5 lives on a server that cuts connections and crashes, some stopped until another takes over, lose nothing and double nothing",
  { timeout: 240_000 },
  async () => {
    const server = await openStoreServer(18);
    try {
      const report = await campaign({ kills: 5, seed: 5, server });
      expect(report.drift).toEqual([]);
      expect(report.doubled).toEqual([]);
      expect(report.lost).toEqual([]);
      expect(report.effects).toBeGreaterThan(100);
      expect(report.parked, JSON.stringify(report.parkedFor)).toBe(0);
    } finally {
      await server.stop();
    }
  },
);
