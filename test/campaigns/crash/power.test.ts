/** Power cuts under load, on a disk that keeps only what was flushed; and on one that lies about it, so that the test is seen to bite. */
import { expect, test, type TestContext } from "vitest";
import { campaign } from "./campaign.ts";
import { canTrace } from "./forgetful-disk.ts";

const needsStrace = ({ skip }: TestContext): void => skip(!canTrace, "needs strace, which is not here or may not trace");

test("power cuts under load lose nothing and double nothing", { timeout: 240_000 }, async (context) => {
  needsStrace(context);
  const report = await campaign({ kills: 4, seed: 3, power: {} });
  expect(report.forgotten).toBeGreaterThan(0);
  expect(report.doubled).toEqual([]);
  expect(report.lost).toEqual([]);
  expect(report.effects).toBeGreaterThan(50);
});

test("a disk that lies about flushing is found out, since what was done is done again", { timeout: 240_000 }, async (context) => {
  needsStrace(context);
  const report = await campaign({ kills: 4, seed: 3, power: { lies: true } });
  expect(report.doubled.length).toBeGreaterThan(0);
});
