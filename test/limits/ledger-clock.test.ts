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
    expect(time.heed(-8 * HOUR, 100)?.leaptMs).toBe(0);
    expect(time.jumped()).toBe(true);
    expect(time.heed(-1_500, 100)?.leaptMs).toBe(8 * HOUR - 1_500 - 6); // asleep: the time has passed, and 6 of it by slewing
    expect(time.now()).toBe(T0 + MINUTE + 8 * HOUR - 1_500);
    expect(time.jumped()).toBe(false);
  });

  test("tells by how much the network is ahead, between the two bounds that a date gives", () => {
    const { clock, at, pass } = clocks();
    const time = ledgerTime(clock);
    expect(time.heed(5 * HOUR, 200)).toEqual({ leastMs: 5 * HOUR, mostMs: 5 * HOUR + 1_200, leaptMs: 0 });
    pass(20 * MINUTE);
    at.wall += 5 * HOUR;
    expect(time.heed(0, 200)).toEqual({ leastMs: 0, mostMs: 1_200, leaptMs: 5 * HOUR - 120 }); // slewed by the rest
    expect(time.now()).toBe(T0 + 5 * HOUR + 20 * MINUTE);
    expect(time.heed(-40 * SECOND, 200)).toEqual({ leastMs: -40 * SECOND, mostMs: -38_800, leaptMs: 0 });
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
});
