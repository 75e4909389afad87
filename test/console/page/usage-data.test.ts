/** Rows of hours as plots: an hour without a request is zero, not missing. */
import { expect, test } from "vitest";
import type { UsageHour } from "../../../src/console/page/answers.ts";
import { plotsOf } from "../../../src/console/page/usage-data.ts";

const HOUR = 3_600_000;
const row = (hour: number, requests: number, money: UsageHour["money"] = {}, maxMs = 0): UsageHour => ({
  at: hour * HOUR,
  requests,
  late: { count: maxMs > 0 ? 1 : 0, maxMs },
  money,
});

test("hours between two rows are drawn as zero, in their order", () => {
  const [requests] = plotsOf([row(13, 7), row(10, 5)]);
  expect(requests).toMatchObject({ values: [5, 0, 0, 7], summary: "12 requests in 4 hours" });
  expect(requests?.times).toEqual([10, 11, 12, 13].map((hour) => hour * 3_600));
});

test("each currency and lateness have plots of their own", () => {
  const plots = plotsOf([row(1, 1, { usd: 1_500_000 }), row(2, 1, { credits: 2_000_000 }, 90_400)]);
  expect(plots.map(({ title, values, summary }) => [title, values, summary])).toEqual([
    ["Requests an hour", [1, 1], "2 requests in 2 hours"],
    ["credits an hour", [0, 2], "2 credits spent"],
    ["usd an hour", [1.5, 0], "1.5 usd spent"],
    ["Latest event of an hour, in seconds", [0, 90.4], "1 late event, at most 91 s"],
  ]);
});

test("a row of long ago does not make a plot without end", () => {
  expect(plotsOf([row(0, 1), row(1_000_000, 1)])[0]?.values.length).toBeLessThanOrEqual(24 * 92);
  expect(plotsOf([])[0]?.values).toEqual([]);
});
