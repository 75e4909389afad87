/** The regression guard of the benchmarks: what it lets pass, and what it does not. */
import { expect, test } from "vitest";
import { compareRatios, guard, runsToCompare } from "../../bench/harness/guard.ts";

const before = { "effects ÷ pg-boss": 2 };
const holds = (now: number): boolean => compareRatios(before, { "effects ÷ pg-boss": now }).every((one) => one.holds);

test("a ratio that fell by 14 % holds, one that fell by 16 % does not", () => {
  expect(holds(2 * 0.86)).toBe(true);
  expect(holds(2 * 0.84)).toBe(false);
});

test("a ratio that rose holds", () => expect(holds(3)).toBe(true));

test("a ratio the run no longer gives does not hold", () => {
  expect(compareRatios(before, { "effects ÷ DBOS": 9 })).toEqual([{ name: "effects ÷ pg-boss", before: 2, now: undefined, holds: false }]);
});

test("a ratio without a baseline is not judged", () => expect(compareRatios({}, before)).toEqual([]));

test("a suite is compared over as many runs as its baseline has, and another count is refused", () => {
  expect(runsToCompare("effect", 2, undefined)).toBe(2);
  expect(runsToCompare("effect", 2, 2)).toBe(2);
  expect(() => runsToCompare("effect", 2, 3)).toThrow("the baseline of effect is of 2, got 3");
  expect(() => runsToCompare("quota", undefined, 3)).toThrow("nothing of quota");
});

test("every baseline that is kept says how many runs it is of", () => {
  const suites = guard.suites([]);
  expect(suites).toContain("discovery");
  for (const suite of suites) expect(guard.runs(suite, undefined), suite).toBeGreaterThan(0);
});
