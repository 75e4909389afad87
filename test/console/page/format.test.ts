/** Times, amounts and numbers as people read them. */
import { expect, test } from "vitest";
import { plural, showAgo, showAmount, showShortSpan, showSpan, showTime, words } from "../../../src/console/page/format.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

test.each([
  [0, "under 1m"],
  [5 * MINUTE, "5m"],
  [2 * HOUR, "2h"],
  [2 * HOUR + 3 * MINUTE, "2h 3m"],
  [50 * HOUR + 3 * MINUTE, "2d 2h"],
  [48 * HOUR, "2d"],
])("%i ms is %s", (ms, text) => expect(showSpan(ms)).toBe(text));

test("short spans are exact", () => expect([12.4, 1_540, 2 * HOUR].map(showShortSpan)).toEqual(["12 ms", "1.5 s", "2h"]));

test("a time is told from now", () => {
  expect([0, 5 * MINUTE, -5 * MINUTE, -1].map((before) => showAgo(HOUR - before, HOUR))).toEqual([
    "just now",
    "5m ago",
    "in 5m",
    "in under 1m",
  ]);
});

test("another day has its date", () => {
  const noon = new Date(2026, 10, 21, 12, 5).getTime();
  expect(showTime(noon, noon + HOUR)).toBe("12:05");
  expect(showTime(noon, noon + 48 * HOUR)).toBe("21 Nov, 12:05");
});

test("amounts are exact to the millionth", () => {
  expect(showAmount({ micros: 12_500_001, currency: "credits" })).toBe("12.500001 credits");
  expect([plural(1, "request"), plural(1_200, "request")]).toEqual(["1 request", "1,200 requests"]);
  expect(words("in_doubt")).toBe("in doubt");
});
