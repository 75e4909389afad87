/** The real process on a real disk, killed under load: judged by the network's own record, never by ours. */
import { expect, test } from "vitest";
import { campaign } from "./campaign.ts";

test("25 kill -9 under load lose nothing and double nothing", { timeout: 240_000 }, async () => {
  const report = await campaign({ kills: 25, seed: 1 });
  expect(report.doubled).toEqual([]);
  expect(report.lost).toEqual([]);
  expect(report.effects).toBeGreaterThan(100);
  expect(report.doubts).toBeGreaterThan(5);
  // A thousandth of what reading back can settle may need a person: with so few, none.
  expect(report.parked).toBe(0);
});
