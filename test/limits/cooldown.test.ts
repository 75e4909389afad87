/** 429s in every dialect: bounded, one park per burst, never shortened, never a tight loop. */
import { describe, expect, test } from "vitest";
import { seededRandom, type Random } from "../../src/core/random.ts";
import { DAY, HOUR, MINUTE, SECOND } from "../../src/core/units.ts";
import { clearCooldown, MAX_COOLDOWN_MS, MIN_COOLDOWN_MS, startCooldown } from "../../src/limits/cooldown.ts";
import { charge, newQuota, completeAttempt, takeable } from "../../src/limits/quota.ts";

const T0 = Date.UTC(2026, 2, 1);
const FREE = { perHour: 60, perDay: 500 };
const ONE_LANE = { obligation: 100, reply: 0, act: 0, watch: 0, poll: 0, explore: 0 };
/** No jitter, so that waits can be read off. */
const STEADY: Random = { ...seededRandom(1), next: () => 0 };

const fresh = () => newQuota(FREE, ONE_LANE);

describe("how long a key is parked", () => {
  test.each([
    ["a stated wait", 90 * SECOND, 90 * SECOND],
    ["a tiny one is raised to a second", 3, MIN_COOLDOWN_MS],
    ["a huge one is cut to 26 hours", 400 * DAY, MAX_COOLDOWN_MS],
    ["infinity is not a wait", Infinity, MINUTE],
    ["zero is not a wait", 0, MINUTE],
    ["a negative one is not a wait", -5_000, MINUTE],
    ["garbage is not a wait", Number.NaN, MINUTE],
    ["none stated", undefined, MINUTE],
  ])("%s", (_name, retryAfterMs, expected) => {
    const parked = startCooldown(fresh(), T0, { retryAfterMs, admittedAt: T0 - 1 }, STEADY);
    expect(parked.until - T0).toBe(expected);
  });

  test("jitter only ever adds, and at most half a minute", () => {
    for (let seed = 0; seed < 50; seed++) {
      const { until } = startCooldown(fresh(), T0, { retryAfterMs: 10 * HOUR, admittedAt: T0 }, seededRandom(seed));
      expect(until - T0).toBeGreaterThanOrEqual(10 * HOUR);
      expect(until - T0).toBeLessThanOrEqual(10 * HOUR + 30 * SECOND);
    }
  });

  test("without a stated wait and with a full window of our own, until that window frees", () => {
    const state = fresh();
    for (let i = 0; i < 60; i++) charge(state, T0, "obligation", 1);
    for (let i = 0; i < 60; i++) completeAttempt(state, T0, "obligation", 1, { answered: true });
    const parked = startCooldown(state, T0 + 10 * MINUTE, { admittedAt: T0 }, STEADY);
    expect(parked).toMatchObject({ reason: "window_full" });
    expect(parked.until).toBeGreaterThanOrEqual(T0 + HOUR);
    expect(parked.until).toBeLessThan(T0 + HOUR + 12 * SECOND);
  });

  test("a server that refuses although we have room is given longer each time", () => {
    const state = fresh();
    const waits: number[] = [];
    let now = T0;
    for (let i = 0; i < 9; i++) {
      const parked = startCooldown(state, now, { admittedAt: now }, STEADY);
      expect(parked.reason).toBe("backoff");
      waits.push((parked.until - now) / MINUTE);
      now = parked.until + 1;
    }
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60]);
  });
});

describe("one burst, one park", () => {
  test("ten 429s to attempts sent before the park raise the backoff once", () => {
    const state = fresh();
    const first = startCooldown(state, T0, { admittedAt: T0 - 100 }, STEADY);
    for (let i = 0; i < 9; i++) expect(startCooldown(state, T0 + 10, { admittedAt: T0 - 90 }, STEADY).changed).toBe(false);
    expect([state.consecutive429s, state.parkedUntil]).toEqual([1, first.until]);
  });

  test("within a burst a longer stated wait wins, and a shorter one never shortens", () => {
    const state = fresh();
    startCooldown(state, T0, { retryAfterMs: HOUR, admittedAt: T0 - 100 }, STEADY);
    expect(startCooldown(state, T0 + 1, { retryAfterMs: MINUTE, admittedAt: T0 - 90 }, STEADY).until).toBe(T0 + HOUR);
    expect(startCooldown(state, T0 + 2, { retryAfterMs: 2 * HOUR, admittedAt: T0 - 90 }, STEADY).until).toBe(T0 + 2 + 2 * HOUR);
    expect(state.consecutive429s).toBe(1);
  });

  test("a 429 to a later attempt never shortens a park either", () => {
    const state = fresh();
    const { until } = startCooldown(state, T0, { retryAfterMs: 5 * HOUR, admittedAt: T0 - 1 }, STEADY);
    expect(startCooldown(state, T0 + 9, { retryAfterMs: SECOND, admittedAt: T0 + 5 }, STEADY).until).toBe(until);
  });

  test("a complete answer to an attempt sent after the park makes the backoff start over; an older one does not", () => {
    const state = fresh();
    const { until } = startCooldown(state, T0, { admittedAt: T0 }, STEADY);
    expect(clearCooldown(state, T0 - 1)).toBe(false);
    expect(clearCooldown(state, until + 1)).toBe(true);
    expect(startCooldown(state, until + 2, { admittedAt: until + 2 }, STEADY).until - until - 2).toBe(MINUTE);
  });
});

test("a parked key admits nothing, says until when, and opens on time", () => {
  const state = fresh();
  startCooldown(state, T0, { retryAfterMs: 90 * SECOND, admittedAt: T0 }, STEADY);
  const take = (now: number) => takeable(state, now, { lane: "obligation", cost: 1, obligations: 0 });
  expect(take(T0 + 1)).toEqual({ ok: false, rule: "key_parked", window: "park", until: T0 + 90 * SECOND });
  expect(take(T0 + 90 * SECOND).ok).toBe(true);
});
