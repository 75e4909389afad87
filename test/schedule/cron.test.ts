/** Cron expressions: what is refused says why, what is taken is right in its zone. */
import { describe, expect, test } from "vitest";
import { seededRandom } from "../../src/core/random.ts";
import { DAY, MINUTE } from "../../src/core/units.ts";
import { checkCron, cronTimes, nextCron } from "../../src/schedule/cron.ts";

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

  test("that never matches is refused", () => expect(() => checkCron("0 0 30 2 *", "UTC", NOW)).toThrow("never matches"));

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

describe("asked again and again", () => {
  // London's clocks go back within the span, and some questions fall on a time itself.
  const from = Date.parse("2026-10-20T00:00Z");
  test.each(["0 9 * * 1-5", "*/7 * * * *", "30 1 * * *"])("%s answers as if it had never been asked", (expression) => {
    const until = from + 10 * DAY;
    const times: number[] = [];
    for (const time of cronTimes(expression, "Europe/London", from)) if (times.push(time) && time > until) break;
    const random = seededRandom(expression);
    for (let i = 0; i < 300; i++) {
      const some = times[Math.floor(random.next() * times.length)] ?? from;
      const after = Math.min(until, [some, some - 1, some + 1, some - 3 * MINUTE, from + random.next() * 10 * DAY][i % 5] ?? from);
      expect(nextCron(expression, "Europe/London", after)).toBe(times.find((time) => time > after));
    }
  });
});
