/** The quota ledger against a strict server. The long form is `campaign.ts`. */
import { describe, expect, test } from "vitest";
import { TIER_LIMITS } from "../../src/contract/tiers.ts";
import { seededRandom } from "../../src/core/random.ts";
import { DAY, HOUR, MINUTE, SECOND } from "../../src/core/units.ts";
import {
  changeLimits,
  charge,
  inheritCooldown,
  newQuota,
  quotaUse,
  recover,
  refund,
  completeAttempt,
  takeable,
} from "../../src/limits/quota.ts";
import { DEFAULT_FLOORS } from "../../src/limits/lanes.ts";
import { runWorld, type WorldOptions } from "../harness/ledger-simulation.ts";
import { answer, ONE_LANE, take } from "../harness/quota-steps.ts";
import { timesAsLong } from "../harness/times-as-long.ts";

const CLEAN = { sliding: 0, fixed: 0, anchored: 0 };
const FREE = TIER_LIMITS.free;
const T0 = Date.UTC(2026, 2, 1);
/** In copies of a small object by JSON, of 0.8 µs each: an admission takes 0.7 of one. */
const MOST_COPIES = 20;
describe("against a strict server", () => {
  test.each([
    ["free", 12],
    ["starter", 3],
    ["growth", 2],
    ["pro", 2],
  ] as const)("%s: nothing is over in any window, and at least 98 %% of the day is used", (tier, days) => {
    const { perHour, perDay } = TIER_LIMITS[tier];
    const { verdicts, utilisation } = runWorld({ limits: { perHour, perDay }, days, seed: 11 });
    expect(verdicts).toEqual(CLEAN);
    expect(utilisation).toBeGreaterThanOrEqual(0.98);
  });

  test("nothing is over with lost answers, crashes and a wall clock that jumps by up to a day either way", () => {
    for (let seed = 1; seed <= 6; seed++) {
      const wild = runWorld({
        limits: FREE,
        days: 8,
        seed,
        lost: 0.03,
        neverLeft: 0.03,
        crashEveryDays: 0.3,
        jumpEveryDays: 0.3,
        latencyMs: 20_000,
      });
      expect(wild.verdicts).toEqual(CLEAN);
      expect(wild.crashes + wild.jumps).toBeGreaterThan(20);
      expect(wild.utilisation).toBeGreaterThanOrEqual(0.98);
    }
  });

  const bugs: readonly NonNullable<WorldOptions["bug"]>[] = [
    "age from admission",
    "refund lost answers",
    "forget in flight at restart",
    "follow the wall clock",
  ];
  test.each(bugs)("the server would have caught a ledger that does this: %s", (bug) => {
    const seen = { sliding: 0, fixed: 0, anchored: 0 };
    for (let seed = 1; seed <= 4; seed++) {
      const { verdicts } = runWorld({
        limits: FREE,
        days: 4,
        seed,
        bug,
        lost: 0.1,
        crashEveryDays: 0.05,
        jumpEveryDays: 0.2,
        latencyMs: 29_000,
      });
      seen.sliding += verdicts.sliding;
    }
    expect(seen.sliding).toBeGreaterThan(0);
  });
});

describe("the ledger", () => {
  test("a request counts from its admission, and in flight it never ages", () => {
    const state = newQuota(FREE, ONE_LANE);
    expect(take(state, T0, 100)).toBe(60);
    expect(take(state, T0 + 3 * DAY, 1)).toBe(0);
    answer(state, T0 + 3 * DAY, 60);
    expect(take(state, T0 + 3 * DAY + HOUR - SECOND, 1)).toBe(0);
    expect(take(state, T0 + 3 * DAY + HOUR + 11 * SECOND, 100)).toBe(60);
  });

  test("both windows are charged or neither", () => {
    const state = newQuota({ perHour: 100, perDay: 3 }, ONE_LANE);
    expect(take(state, T0, 10)).toBe(3);
    const { hour, day } = quotaUse(state, T0);
    expect([hour.used, day.used]).toEqual([3, 3]);
  });

  test("a refusal says which window and the very time at which the request would pass", () => {
    const state = newQuota(FREE, ONE_LANE);
    take(state, T0, 60);
    answer(state, T0, 60);
    const refused = takeable(state, T0 + MINUTE, { lane: "obligation", cost: 1, obligations: 0 });
    expect(refused).toMatchObject({ ok: false, rule: "quota_window", window: "hour" });
    if (refused.ok) return;
    expect(takeable(state, refused.until - 1, { lane: "obligation", cost: 1, obligations: 0 }).ok).toBe(false);
    expect(takeable(state, refused.until, { lane: "obligation", cost: 1, obligations: 0 }).ok).toBe(true);
  });

  test("only what never left is given back; a lost answer counts to its deadline and the late bound, and then ages", () => {
    const state = newQuota({ perHour: 1, perDay: 10 }, ONE_LANE);
    take(state, T0, 1);
    refund(state, "obligation", 1);
    expect(take(state, T0, 5)).toBe(1);
    completeAttempt(state, T0 + SECOND, "obligation", 1, { answered: false, deadlineAt: T0 + 30 * SECOND });
    expect(take(state, T0 + HOUR + 2 * MINUTE + 29 * SECOND, 1)).toBe(0);
    expect(take(state, T0 + HOUR + 2 * MINUTE + 45 * SECOND, 1)).toBe(1);
  });

  test("a clock set back frees nothing", () => {
    const state = newQuota(FREE, ONE_LANE);
    take(state, T0, 60);
    answer(state, T0, 60);
    expect(take(state, T0 - 30 * DAY, 1)).toBe(0);
    expect(take(state, T0 + HOUR - MINUTE, 1)).toBe(0);
  });

  test("a request that is answered while the clock is set back counts as long as any other", () => {
    const state = newQuota({ perHour: 2, perDay: 10 }, ONE_LANE);
    take(state, T0, 1);
    answer(state, T0, 1);
    take(state, T0 - 50 * MINUTE, 1);
    answer(state, T0 - 50 * MINUTE, 1);
    expect(take(state, T0 + 20 * MINUTE, 1)).toBe(0);
    expect(take(state, T0 + HOUR + MINUTE, 5)).toBe(2);
  });

  test("a request that a crash left open counts from recovery", () => {
    const state = newQuota({ perHour: 2, perDay: 10 }, ONE_LANE);
    recover(state, T0, [{ lane: "obligation", cost: 2, deadlineAt: T0 - HOUR }]);
    expect(take(state, T0 + HOUR, 1)).toBe(0);
    expect(take(state, T0 + HOUR + 3 * MINUTE, 5)).toBe(2);
  });

  test("a tier change either way counts the same requests on", () => {
    const state = newQuota(FREE, ONE_LANE);
    take(state, T0, 60);
    answer(state, T0, 60);
    changeLimits(state, TIER_LIMITS.starter, ONE_LANE);
    expect(take(state, T0 + 1, 1_000)).toBe(240);
    answer(state, T0 + 1, 240);
    changeLimits(state, FREE, ONE_LANE);
    expect(take(state, T0 + 2 * SECOND, 1)).toBe(0);
    expect(take(state, T0 + HOUR + MINUTE, 1_000)).toBe(60);
  });

  test("a regenerated key starts with its predecessor's cooldown", () => {
    const old = newQuota(FREE, ONE_LANE);
    old.parkedUntil = T0 + MINUTE;
    const heir = newQuota(FREE, ONE_LANE);
    inheritCooldown(old, heir);
    expect(takeable(heir, T0, { lane: "obligation", cost: 1, obligations: 0 })).toMatchObject({ rule: "key_parked", until: T0 + MINUTE });
    expect(take(heir, T0 + MINUTE, 100)).toBe(60);
  });
});

test("admitting and settling costs little, in memory", () => {
  const state = newQuota(TIER_LIMITS.pro, DEFAULT_FLOORS);
  const random = seededRandom(3);
  const lanes = ["reply", "poll", "act"] as const;
  const inBatch = 2_000;
  let now = T0;
  const admit = (): void => {
    for (let i = 0; i < inBatch; i++) {
      const lane = random.pick(lanes);
      now += SECOND;
      if (!takeable(state, now, { lane, cost: 1, obligations: 3 }).ok) continue;
      charge(state, now, lane, 1);
      completeAttempt(state, now + 200, lane, 1, { answered: true });
    }
  };
  const copy = (): void => {
    for (let i = 0; i < inBatch; i++) JSON.parse(JSON.stringify({ at: i, lane: "reply", cost: 1, kind: "request" }));
  };
  expect(timesAsLong(admit, copy, MOST_COPIES)).toBeLessThanOrEqual(MOST_COPIES);
});
