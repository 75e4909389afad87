/** Cron expressions: what is refused says why, what is taken is right in its zone. */
import { describe, expect, test } from "vitest";
import { checkCron, nextCron } from "../../src/schedule/cron.ts";

const NOW = Date.parse("2026-11-21T00:00Z");

describe("a cron expression", () => {
  test.each([
    ["0 9 * *", "4 fields"],
    ["61 * * * *", "minute"],
    ["a b c d e", "illegal"],
    ["", "fields"],
    ["* * * * * * * *", "8 fields"],
    ["2026-12-01T00:00:00", "fields"],
  ])("%j is refused", (expression, why) => expect(() => checkCron(expression, "UTC", NOW)).toThrow(why));

  test("that never comes is refused", () => expect(() => checkCron("0 0 30 2 *", "UTC", NOW)).toThrow("never comes"));

  test.each([
    ["0 9 * * 1-5", "Europe/London", "2026-11-23T09:00:00.000Z"],
    ["0 9 * * 1-5", "America/New_York", "2026-11-23T14:00:00.000Z"],
    ["0 9 * * 1-5", "Asia/Kathmandu", "2026-11-23T03:15:00.000Z"],
    ["30 0 29 2 *", "UTC", "2028-02-29T00:30:00.000Z"],
    ["@daily", "Pacific/Auckland", "2026-11-21T11:00:00.000Z"],
    ["*/10 * * * * *", "UTC", "2026-11-21T00:00:10.000Z"],
  ])("%j in %s next comes at %s", (expression, zone, next) =>
    expect(new Date(nextCron(expression, zone, NOW) ?? 0).toISOString()).toBe(next),
  );
});
