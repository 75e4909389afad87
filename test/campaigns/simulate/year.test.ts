/** One specialist for a year: what only shows in the long run, such as summer time, forgetting, and doubts far apart. */
import { expect, test } from "vitest";
import { simulate } from "../../../src/simulation/simulate.ts";
import { verdict } from "../../harness/simulation-verdict.ts";
import { yearOf } from "../../harness/simulation-yearling.ts";

test("the promises hold for a specialist-year", { timeout: 600_000 }, async () => {
  const run = await simulate(yearOf(1));
  expect(verdict(run)).toBe("kept");
  expect(run.stats.crashes).toBeGreaterThan(100);
  expect(run.stats.effects).toBeGreaterThan(1_000); // rows are of the last weeks only
});
