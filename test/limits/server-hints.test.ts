/** The server's remaining count corrects the quota, and only downwards. */
import { describe, expect, test } from "vitest";
import { TIER_LIMITS } from "../../src/contract/tiers.ts";
import { HOUR, MINUTE, SECOND } from "../../src/core/units.ts";
import { newQuota, quotaUse } from "../../src/limits/quota.ts";
import { believeDownwards } from "../../src/limits/server-hints.ts";
import { answer, ONE_LANE, take } from "../harness/quota-steps.ts";

const FREE = TIER_LIMITS.free;
const T0 = Date.UTC(2026, 2, 1);
describe("believing the server", () => {
  const hints = [
    { name: "named windows", hint: { remainingHour: 10 }, hour: 10, day: 500 },
    { name: "the day named", hint: { remainingDay: 7 }, hour: 60, day: 7 },
    { name: "an unnamed window is the hour", hint: { remaining: 12 }, hour: 12, day: 500 },
    { name: "an unnamed window that resets in five hours is the day", hint: { remaining: 12, resetMs: 5 * HOUR }, hour: 60, day: 12 },
    { name: "an hour just opened, rounded up, is no day", hint: { remaining: 12, resetMs: HOUR + 2 * SECOND }, hour: 12, day: 500 },
    { name: "a burst limit is neither", hint: { remaining: 0, resetMs: SECOND }, hour: 60, day: 500 },
    { name: "a limit that is not the key's is that of another window", hint: { remaining: 3, limit: 10 }, hour: 60, day: 500 },
    {
      name: "the limit of the hour is the hour's, near its end too",
      hint: { remaining: 3, limit: 60, resetMs: 5 * MINUTE },
      hour: 3,
      day: 500,
    },
    { name: "a window of stated length is no hour", hint: { remaining: 3, windowMs: 5 * MINUTE }, hour: 60, day: 500 },
    { name: "a day of stated length is the day", hint: { remaining: 3, windowMs: 24 * HOUR }, hour: 60, day: 3 },
    { name: "more than we think changes nothing", hint: { remainingHour: 1_000, remainingDay: 1e9 }, hour: 60, day: 500 },
    { name: "less than nothing is nothing", hint: { remainingHour: -5 }, hour: 0, day: 500 },
    {
      name: "what is no number is ignored",
      hint: { remainingHour: Number.NaN, remainingDay: Infinity, resetMs: Number.NaN },
      hour: 60,
      day: 500,
    },
  ] as const;
  test.each(hints)("$name", ({ hint, hour, day }) => {
    const state = newQuota(FREE, ONE_LANE);
    believeDownwards(state, T0, hint);
    const use = quotaUse(state, T0);
    expect(60 - use.hour.used).toBe(hour);
    expect(500 - use.day.used).toBe(day);
  });

  test("if the server agrees there is nothing to write down", () => {
    const state = newQuota(FREE, ONE_LANE);
    take(state, T0, 3);
    expect(believeDownwards(state, T0, { remainingHour: 57, remainingDay: 499 })).toEqual([]);
    expect(believeDownwards(state, T0, { remainingHour: 56 })).toMatchObject([{ window: "hour", count: 1 }]);
  });

  test("a stranger on our key shows as foreign calls, once, and they leave when the server says so", () => {
    const state = newQuota(FREE, ONE_LANE);
    take(state, T0, 10);
    answer(state, T0, 10);
    for (let i = 0; i < 5; i++) believeDownwards(state, T0, { remainingHour: 20, resetMs: 20 * MINUTE });
    expect(quotaUse(state, T0).hour.by["foreign"]).toBe(30);
    expect(quotaUse(state, T0 + 19 * MINUTE).hour.used).toBe(40);
    expect(quotaUse(state, T0 + 20 * MINUTE + 12 * SECOND).hour.used).toBe(10);
  });
});
