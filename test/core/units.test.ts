/** Durations and money: whole numbers or a refusal, and texts that a person reads without a slip of the unit. */
import { expect, test } from "vitest";
import { credits, DAY, durationMs, HOUR, microDollars, microsOf, MINUTE, SECOND, showDuration, showMoney } from "../../src/core/units.ts";

test.each<[string | number, number]>([
  ["90s", 90 * SECOND],
  ["1h30m", 90 * MINUTE],
  [" 2D ", 2 * DAY],
  ["0.5h", 30 * MINUTE],
  ["1w", 7 * DAY],
  ["250ms", 250],
  ["0s", 0],
  [1_500, 1_500],
  [0, 0],
])("%j is a duration", (given, ms) => {
  expect(durationMs(given)).toBe(ms);
});

test.each<string | number>(["", "5", "5 minutes", "1h 30m", "-5s", "s", "1.h", "1h!", "1e3s", `${"9".repeat(400)}d`, -1, NaN, Infinity])(
  "%j is none",
  (given) => {
    expect(() => durationMs(given)).toThrow(expect.objectContaining({ code: "duration_invalid" }));
  },
);

test("money is whole: an amount that cannot be counted exactly is refused", () => {
  expect(credits(3)).toEqual({ currency: "credits", micros: 3_000_000 });
  expect(microDollars(1)).toEqual({ currency: "usd", micros: 1 });
  for (const amount of [0.5, -1, NaN, Infinity, Number.MAX_SAFE_INTEGER])
    expect(() => credits(amount)).toThrow(expect.objectContaining({ code: "money_invalid" }));
  for (const amount of [0.5, -1, NaN, 2 ** 53])
    expect(() => microDollars(amount)).toThrow(expect.objectContaining({ code: "money_invalid" }));
});

test("an amount that a network states rounds up to whole millionths, but for the error of binary fractions", () => {
  expect([1.1, 0.1 + 0.2, 12.5, 0.000_000_1, 0].map(microsOf)).toEqual([1_100_000, 300_000, 12_500_000, 1, 0]);
});

test.each([-1, -0.000_000_1, NaN, Infinity, 1e15])("%d is no amount", (amount) => {
  expect(microsOf(amount)).toBeUndefined();
});

test.each<[number, string]>([
  [0, "0ms"],
  [-5, "0ms"],
  [250, "250ms"],
  [999.6, "1s"],
  [SECOND, "1s"],
  [MINUTE - 1, "1m"],
  [HOUR - 1, "1h"],
  [DAY - 1, "1d"],
  [65 * MINUTE + 30 * SECOND, "1h 5m"],
  [2 * DAY + 5 * MINUTE, "2d"],
  [400 * DAY, "400d"],
])("%d ms reads %s", (ms, shown) => {
  expect(showDuration(ms)).toBe(shown);
});

test("money is shown in units of its currency", () => {
  expect([showMoney({ currency: "credits", micros: 12_500_000 }), showMoney(microDollars(1))]).toEqual(["12.5 credits", "0.000001 usd"]);
});
