/** The ledger's clock: never back, never faster than time passes, and it wakes up after a confirmed sleep. */
import { describe, expect, test } from "vitest";
import { DAY, HOUR, MINUTE, SECOND } from "../../src/core/units.ts";
import { ledgerTime } from "../../src/limits/ledger-clock.ts";

const T0 = Date.UTC(2026, 2, 1);

/** A wall clock and a monotonic one that the test moves by hand. */
function clocks() {
  const at = { wall: T0, mono: 5 };
  return {
    at,
    pass: (ms: number) => void ((at.wall += ms), (at.mono += ms)),
    clock: { now: () => at.wall, monotonic: () => at.mono, after: () => ({ cancel: () => undefined }), soon: () => undefined },
  };
}

describe("the ledger's time", () => {
  test("follows the clock while nothing odd happens", () => {
    const { clock, pass } = clocks();
    const time = ledgerTime(clock);
    pass(3 * HOUR);
    expect(time.now()).toBe(T0 + 3 * HOUR);
    expect(time.jumped()).toBe(false);
  });

  test("goes on steadily when the wall clock is set back", () => {
    const { clock, at, pass } = clocks();
    const time = ledgerTime(clock);
    at.wall -= DAY;
    pass(HOUR);
    expect(time.now()).toBe(T0 + HOUR);
    expect(time.lagMs()).toBe(-DAY);
  });

  test("does not follow a wall clock set forward, until a server's date agrees with it", () => {
    const { clock, at, pass } = clocks();
    const time = ledgerTime(clock);
    time.now();
    at.wall += 8 * HOUR;
    pass(MINUTE);
    expect(time.now()).toBeLessThan(T0 + MINUTE + SECOND);
    expect(time.jumped()).toBe(true);
    expect(time.heed(Number.NaN, 100)).toBeUndefined();
    expect(time.heed(-8 * HOUR, 100)).toMatchObject({ ahead: { leastMs: expect.any(Number) } });
    expect(time.heed(-8 * HOUR, 100)).toBeUndefined();
    expect(time.jumped()).toBe(true);
    expect(time.heed(-1_500, 100)?.redate).toBeUndefined(); // asleep: the time has passed
    expect(time.now()).toBe(T0 + MINUTE + 8 * HOUR - 1_500);
    expect(time.jumped()).toBe(false);
  });

  test("tells that it is behind the network, and what to date anew once it is right", () => {
    const { clock, at, pass } = clocks();
    const time = ledgerTime(clock);
    expect(time.heed(5 * HOUR, 100)).toMatchObject({ behind: { ms: 5 * HOUR, since: T0 }, ahead: { mostMs: -5 * HOUR } });
    pass(20 * MINUTE);
    expect(time.heed(5 * HOUR + SECOND, 100)).toBeUndefined(); // known
    at.wall += 5 * HOUR;
    expect(time.heed(0, 100)).toEqual({ behind: { ms: 0, since: T0 }, redate: { ms: 5 * HOUR, since: T0 }, leaptMs: 5 * HOUR });
    expect(time.now()).toBe(T0 + 5 * HOUR + 20 * MINUTE);
    expect(time.heed(0, 100)).toBeUndefined();
  });

  test("a machine that was behind and then slept dates anew by no more than it was behind", () => {
    const { clock, at, pass } = clocks();
    const time = ledgerTime(clock);
    time.heed(HOUR, 100);
    pass(MINUTE);
    at.wall += 9 * HOUR; // eight of them asleep
    expect(time.heed(0, 100)?.redate).toEqual({ ms: HOUR, since: T0 });
  });

  test("half a minute behind is dated anew too, and answers that travelled long do not hide how much it was", () => {
    const { clock, at, pass } = clocks();
    const time = ledgerTime(clock);
    expect(time.heed(28 * SECOND, 100)).toMatchObject({ behind: { ms: 28 * SECOND, since: T0 }, ahead: { mostMs: -28 * SECOND } });
    pass(MINUTE);
    expect(time.heed(30 * SECOND, 100)).toEqual({ behind: { ms: 30 * SECOND, since: T0 } });
    pass(MINUTE);
    expect(time.heed(-170 * SECOND, 200 * SECOND)).toBeUndefined(); // the process stood still while it was on its way
    at.wall += 30 * SECOND;
    expect(time.heed(-900, 100)).toEqual({ behind: { ms: 0, since: T0 }, redate: { ms: 29_100, since: T0 }, leaptMs: 29_100 });
    expect(time.now()).toBe(T0 + 2 * MINUTE + 30 * SECOND - 900);
    pass(MINUTE);
    expect(time.heed(-900, 100)).toBeUndefined();
  });

  test("tells with the first date that it hears how far it is ahead, between the two bounds that a date gives", () => {
    const { clock } = clocks();
    const time = ledgerTime(clock);
    expect(time.heed(-40 * SECOND, 200)).toEqual({ ahead: { leastMs: 38_800, mostMs: 40_000 } });
    expect(time.heed(-40 * SECOND, 200)).toBeUndefined();
  });

  test("a network whose clock is as ours, or behind it, tells nothing more", () => {
    const { clock, pass } = clocks();
    const time = ledgerTime(clock);
    time.heed(0, 100);
    for (const skew of [-3 * HOUR, -SECOND, 0, SECOND]) {
      pass(SECOND);
      expect(time.heed(skew, 100)).toBeUndefined();
    }
  });

  test("a jump smaller than what the server's date can rule out frees nothing early", () => {
    const { clock, at, pass } = clocks();
    const time = ledgerTime(clock);
    time.now();
    at.wall += 50 * SECOND;
    pass(MINUTE);
    time.heed(-50 * SECOND, 100);
    expect(time.now()).toBeLessThan(T0 + MINUTE + SECOND);
  });

  test("a clock slewed forward is followed at 100 parts per million", () => {
    const { clock, at, pass } = clocks();
    const time = ledgerTime(clock);
    time.now();
    for (let i = 0; i < 24; i++) {
      pass(HOUR);
      at.wall += SECOND;
    }
    expect(time.now()).toBe(T0 + DAY + 8_640);
  });

  test("many small jumps add up to no more than that", () => {
    const { clock, at, pass } = clocks();
    const time = ledgerTime(clock);
    for (let i = 0; i < 1_000; i++) {
      pass(10);
      at.wall += SECOND;
      time.now();
    }
    expect(time.now()).toBeLessThanOrEqual(T0 + 10_000 + 1);
  });

  test("goes on from what the store saw when the clock was set back while the process was down", () => {
    const { clock, pass } = clocks();
    const time = ledgerTime(clock, T0 + DAY);
    expect(time.now()).toBe(T0 + DAY);
    pass(HOUR);
    expect(time.now()).toBe(T0 + DAY + HOUR);
  });
});
