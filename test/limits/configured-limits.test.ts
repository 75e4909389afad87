/** Limits with mistakes are refused before anything runs, all at once, with the path of each. */
import { describe, expect, test } from "vitest";
import { credits, microDollars } from "../../src/core/units.ts";
import { LANES } from "../../src/contract/operations.ts";
import { capsOf, checkLimits, floorsOf, priceOf, type LimitsToCheck } from "../../src/limits/configured-limits.ts";
import { DEFAULT_FLOORS } from "../../src/limits/lanes.ts";
import { GUARDIAN } from "../../src/limits/spending.ts";

const paths = (limits: LimitsToCheck): string[] => checkLimits(limits).map(({ path }) => path);

describe("mistakes", () => {
  test.each<[string, LimitsToCheck, string]>([
    ["per action above per day", { spend: { perAction: credits(50), perDay: credits(40) } }, "spend.perAction"],
    ["per day above per month", { spend: { perDay: credits(50), perMonth: credits(40) } }, "spend.perDay"],
    ["a rolling day above the total", { spend: { rollingDay: credits(50), total: credits(40) } }, "spend.rollingDay"],
    ["a plain number", { spend: { perDay: 40 } }, "spend.perDay"],
    ["fractions of a millionth", { spend: { perDay: { currency: "credits", micros: 1.5 } } }, "spend.perDay"],
    ["not a number", { spend: { perDay: { currency: "credits", micros: Number.NaN } } }, "spend.perDay"],
    ["negative", { spend: { perDay: { currency: "credits", micros: -1 } } }, "spend.perDay"],
    ["too large to be exact", { spend: { perDay: { currency: "credits", micros: 2 ** 60 } } }, "spend.perDay"],
    ["an unknown currency", { spend: { perDay: { currency: "doubloons", micros: 1 } } }, "spend.perDay"],
    ["one currency twice", { spend: { perDay: [credits(1), credits(2)] } }, "spend.perDay"],
    ["nothing", { spend: { perDay: null } }, "spend.perDay"],
    ["a cap that does not exist", { spend: { perWeek: credits(1) } }, "spend.perWeek"],
    ["no object", { spend: 12 }, "spend"],
    ["floors above 100 %", { lanes: { reply: 60, poll: 41 } }, "lanes"],
    ["a negative floor", { lanes: { reply: -1 } }, "lanes.reply"],
    ["a floor that is no number", { lanes: { reply: Number.NaN } }, "lanes.reply"],
    ["a lane that does not exist", { lanes: { chat: 10 } }, "lanes.chat"],
    ["half a reply", { brakes: { repliesPerThread: 0.5 } }, "brakes.repliesPerThread"],
    ["no duration", { brakes: { sameTextWithin: "soon" } }, "brakes.sameTextWithin"],
    ["a brake that does not exist", { brakes: { perWeek: 1 } }, "brakes.perWeek"],
    ["an unknown zone", { zone: "Mars/Olympus" }, "zone"],
    ["a zone that is no text", { zone: 3 }, "zone"],
    ["a price without currency", { prices: { "posts.create": 3 } }, "prices.posts.create"],
    ["a price of nothing", { prices: { "posts.create": null } }, "prices.posts.create"],
  ])("%s", (_name, limits, path) => {
    expect(paths(limits)).toEqual([path]);
    expect(checkLimits(limits)[0]?.severity).toBe("error");
  });

  test("all of them are told at once", () => {
    expect(paths({ spend: { perDay: 3, perYear: 1 }, lanes: { reply: 200 }, zone: "X/Y" })).toEqual([
      "spend.perYear",
      "spend.perDay",
      "lanes.reply",
      "zone",
    ]);
  });

  test("fractional credits never come to be", () => {
    expect(() => credits(0.5)).toThrow(expect.objectContaining({ code: "money_invalid" }));
    expect(() => credits(Number.NaN)).toThrow(expect.objectContaining({ code: "money_invalid" }));
    expect(() => credits(-1)).toThrow(expect.objectContaining({ code: "money_invalid" }));
  });

  test("an operation that may be done but has no price gets a warning, and its price refuses", () => {
    expect(
      checkLimits({ prices: { "posts.create": "free", "jobs.create": "unknown" }, may: ["posts.create", "jobs.create", "posts.reply"] }),
    ).toMatchObject([
      { path: "prices.jobs.create", severity: "warning" },
      { path: "prices.posts.reply", severity: "warning" },
    ]);
    for (const stated of [undefined, null, "unknown", 0, 3, "3", { currency: "credits", micros: -1 }])
      expect(priceOf(stated)).toEqual({ kind: "unknown" });
    expect([priceOf("free"), priceOf(credits(2))]).toEqual([{ kind: "free" }, { kind: "priced", worst: credits(2) }]);
  });
});

describe("what is right", () => {
  const spend = { perAction: credits(25), perDay: [credits(40), microDollars(500_000)], rollingMonth: credits(100) };

  test("passes, and becomes caps", () => {
    expect(
      checkLimits({
        spend,
        lanes: { reply: 40 },
        zone: "Europe/London",
        brakes: { hops: 0, sameTextWithin: "1h" },
        prices: { "posts.reply": "free" },
      }),
    ).toEqual([]);
    expect(capsOf(GUARDIAN, spend)).toEqual([
      { scope: GUARDIAN, window: "action", money: credits(25) },
      { scope: GUARDIAN, window: "day", money: credits(40) },
      { scope: GUARDIAN, window: "day", money: microDollars(500_000) },
      { scope: GUARDIAN, window: "rolling-day", money: credits(40) },
      { scope: GUARDIAN, window: "rolling-day", money: microDollars(500_000) },
      { scope: GUARDIAN, window: "rolling-month", money: credits(100) },
    ]);
  });

  test("a cap of a day holds over any 24 hours, so midnight lets nothing go twice, unless the rolling one is stated", () => {
    expect(capsOf(GUARDIAN, { perDay: credits(4), rollingDay: credits(6) })).toEqual([
      { scope: GUARDIAN, window: "day", money: credits(4) },
      { scope: GUARDIAN, window: "rolling-day", money: credits(6) },
    ]);
  });

  test("floors left out share what the named ones leave, and never pass 100 % together", () => {
    expect(floorsOf()).toEqual(DEFAULT_FLOORS);
    const floors = floorsOf({ reply: 80, explore: 0 });
    expect(floors.reply).toBe(80);
    expect(LANES.reduce((sum, lane) => sum + floors[lane], 0)).toBeCloseTo(100);
    expect(floorsOf({ reply: 10 }).poll).toBe(20);
  });
});
