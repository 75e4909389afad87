/** One specialist for a month, and by `years.ts` for years: what only shows in the long run, such as forgetting, and doubts far apart. */
import { expect, test } from "vitest";
import { simulate } from "../../../src/simulation/simulate.ts";
import { verdict } from "../../harness/simulation-verdict.ts";
import { yearOf } from "../../harness/simulation-yearling.ts";

test("the promises hold for a specialist over a month", { timeout: 300_000 }, async () => {
  const run = await simulate(yearOf(1, 30));
  expect(verdict(run)).toBe("kept");
  expect(run.stats.crashes).toBeGreaterThan(25);
  expect(run.stats.effects).toBeGreaterThan(85); // rows are of the last weeks only
});
