/** Caps that contradict one another are refused before anything runs, all at once, with the path of each. */
import { describe, expect, test } from "vitest";
import { credits, microDollars } from "../../src/core/units.ts";
import { capsOf, checkCaps, type SpendLimits } from "../../src/limits/caps.ts";
import { GUARDIAN } from "../../src/limits/spending.ts";

describe("mistakes", () => {
  test.each<[string, SpendLimits, readonly string[]]>([
    ["per action above per day", { perAction: credits(50), perDay: credits(40) }, ["spend.perAction"]],
    ["per day above per month", { perDay: credits(50), perMonth: credits(40) }, ["spend.perDay"]],
    ["an hour above the total", { perHour: credits(50), total: credits(40) }, ["spend.perHour"]],
    ["in one of several currencies", { perDay: [credits(5), microDollars(9)], perMonth: [credits(5), microDollars(8)] }, ["spend.perDay"]],
    ["an unknown currency", { perDay: { currency: "doubloons", micros: 1 } }, ["spend.perDay"]],
    ["one currency twice", { perDay: [credits(1), credits(2)] }, ["spend.perDay"]],
    [
      "all of them at once",
      { perHour: { currency: "doubloons", micros: 1 }, perDay: credits(3), perMonth: [credits(2), credits(2)] },
      ["spend.perHour", "spend.perMonth", "spend.perDay"],
    ],
  ])("%s", (_name, spend, paths) => {
    expect(checkCaps(spend).map(({ path }) => path)).toEqual(paths);
  });

  test("fractional credits never come to be", () => {
    expect(() => credits(0.5)).toThrow(expect.objectContaining({ code: "money_invalid" }));
    expect(() => credits(Number.NaN)).toThrow(expect.objectContaining({ code: "money_invalid" }));
    expect(() => credits(-1)).toThrow(expect.objectContaining({ code: "money_invalid" }));
  });
});

test("valid caps pass, and a cap of an hour or a day holds over any span of that length, so that midnight lets nothing go twice", () => {
  const spend = { perAction: credits(2), perHour: credits(5), perDay: [credits(40), microDollars(500_000)], total: credits(100) };
  expect(checkCaps(spend)).toEqual([]);
  expect(capsOf(GUARDIAN, spend)).toEqual([
    { scope: GUARDIAN, window: "action", money: credits(2) },
    { scope: GUARDIAN, window: "hour", money: credits(5) },
    { scope: GUARDIAN, window: "rolling-hour", money: credits(5) },
    { scope: GUARDIAN, window: "day", money: credits(40) },
    { scope: GUARDIAN, window: "day", money: microDollars(500_000) },
    { scope: GUARDIAN, window: "rolling-day", money: credits(40) },
    { scope: GUARDIAN, window: "rolling-day", money: microDollars(500_000) },
    { scope: GUARDIAN, window: "total", money: credits(100) },
  ]);
});
