/** How long nothing ran before a process began, while nobody has told it the time and once somebody has. */
import { describe, expect, test } from "vitest";
import { TIER_LIMITS } from "../../src/contract/tiers.ts";
import { DAY, HOUR, MINUTE, SECOND } from "../../src/core/units.ts";
import { quotaUse } from "../../src/limits/quota.ts";
import { createRedating } from "../../src/store/sqlite/clock-redating.ts";
import { KEY, openTables } from "../harness/limit-tables.ts";

const T0 = Date.UTC(2026, 2, 1, 12);
const ONE_LANE = { obligation: 100, reply: 0, act: 0, watch: 0, poll: 0, explore: 0 };

describe("a process that begins after a while in which nothing ran", () => {
  /** Sixty requests, and a restart twenty minutes later by a clock that may be ahead. */
  function restarted({ aheadMs }: { readonly aheadMs: number }) {
    const tables = openTables();
    tables.quota.register(KEY, TIER_LIMITS.free, ONE_LANE);
    for (let i = 0; i < 60; i++) tables.end(tables.admit({ now: T0 }).attempt ?? 0, { now: T0 });
    tables.forget();
    const beganAt = T0 + 20 * MINUTE + aheadMs;
    const redating = createRedating(tables.db, tables.quota);
    tables.one(() => redating.begin(beganAt));
    const hears = (aheadOf: number, at: number) => tables.one(() => redating.heed({ ahead: { leastMs: aheadOf, mostMs: aheadOf } }, at));
    const admitsAt = (at: number): boolean => tables.admit({ now: at }).verdict.kind === "admit";
    return { tables, redating, beganAt, hears, admitsAt };
  }

  test("frees nothing for a time that may not have passed, and does so once the network has told that it has", () => {
    const { beganAt, hears, admitsAt } = restarted({ aheadMs: 41 * MINUTE });
    expect(admitsAt(beganAt)).toBe(false);
    expect(admitsAt(beganAt + 59 * MINUTE)).toBe(false);
    hears(0, beganAt + 59 * MINUTE);
    expect(admitsAt(beganAt + 59 * MINUTE)).toBe(true);
  });

  test("frees what has left by the network's time and not by a clock that is ahead of it", () => {
    const { beganAt, hears, admitsAt } = restarted({ aheadMs: 10 * HOUR });
    hears(10 * HOUR, beganAt + MINUTE);
    expect(admitsAt(beganAt + MINUTE)).toBe(false);
    expect(admitsAt(beganAt + 39 * MINUTE)).toBe(false);
    expect(admitsAt(beganAt + 41 * MINUTE)).toBe(true);
  });

  test("frees nothing more where its clock is as far ahead as that of the process before", () => {
    const { tables, redating, hears, beganAt, admitsAt } = restarted({ aheadMs: HOUR });
    hears(HOUR, beganAt);
    for (const minutes of [10, 20]) {
      tables.forget();
      tables.one(() => redating.begin(beganAt + minutes * MINUTE));
      hears(HOUR, beganAt + minutes * MINUTE);
    }
    expect(admitsAt(beganAt + 39 * MINUTE)).toBe(false);
    expect(admitsAt(beganAt + 41 * MINUTE)).toBe(true);
  });

  test("still doubts what a process before it has believed that never heard the time", () => {
    const { tables, redating, beganAt, hears, admitsAt } = restarted({ aheadMs: DAY });
    expect(admitsAt(beganAt)).toBe(false);
    tables.forget();
    tables.one(() => redating.begin(T0 + 21 * MINUTE)); // set right
    expect(admitsAt(T0 + 22 * MINUTE)).toBe(false);
    hears(0, T0 + 22 * MINUTE);
    expect(admitsAt(T0 + 59 * MINUTE)).toBe(false);
    expect(admitsAt(T0 + 62 * MINUTE)).toBe(true);
  });

  test("goes on from its own clock where an earlier one was years ahead, and counts from then on what that one has asked", () => {
    const { tables, redating, beganAt, hears, admitsAt } = restarted({ aheadMs: 3_650 * DAY });
    hears(3_650 * DAY, beganAt);
    const usedAt = beganAt + HOUR;
    for (let i = 0; i < 59; i++) tables.end(tables.admit({ now: usedAt }).attempt ?? 0, { now: usedAt });
    const parkedAt = usedAt + MINUTE;
    tables.end(tables.admit({ now: parkedAt }).attempt ?? 0, { now: parkedAt, ending: "limited", retryAfterMs: 30 * MINUTE });
    tables.forget();
    const rightAt = T0 + 3 * HOUR;
    tables.one(() => redating.begin(rightAt));
    expect(quotaUse(tables.quota.load(KEY), rightAt).hour.used).toBeGreaterThanOrEqual(60);
    hears(0, rightAt + SECOND); // by an answer to another key's request
    expect(admitsAt(rightAt + 59 * MINUTE)).toBe(false);
    expect(admitsAt(rightAt + 62 * MINUTE)).toBe(true);
  });

  test("holds nothing longer where its clock is behind, so that time stands until it is set right", () => {
    const { tables, redating, beganAt, hears, admitsAt } = restarted({ aheadMs: 0 });
    tables.forget();
    tables.one(() => redating.begin(beganAt - 5 * HOUR));
    hears(-5 * HOUR, beganAt - 5 * HOUR);
    expect(admitsAt(T0 + 61 * MINUTE)).toBe(true);
  });

  test("counts from now on what was asked before anybody had told it the time", () => {
    const { tables, redating, beganAt, hears } = restarted({ aheadMs: 3 * HOUR });
    hears(0, beganAt);
    tables.forget();
    tables.one(() => redating.begin(beganAt + 2 * HOUR)); // down for longer: this clock is behind, and nobody can know
    tables.end(tables.admit({ now: beganAt + 2 * HOUR }).attempt ?? 0, { now: beganAt + 2 * HOUR, ending: "lost" });
    tables.forget();
    const rightAt = beganAt + 4 * HOUR;
    tables.one(() => redating.begin(rightAt));
    hears(0, rightAt);
    expect(quotaUse(tables.quota.load(KEY), rightAt + 59 * MINUTE).hour.used).toBe(1);
    expect(quotaUse(tables.quota.load(KEY), rightAt + 61 * MINUTE).hour.used).toBe(0);
  });

  test("believes its clock with the first answer of a network that does not tell the time", () => {
    const { tables, redating, beganAt, admitsAt } = restarted({ aheadMs: HOUR });
    expect(admitsAt(beganAt)).toBe(false);
    tables.one(() => redating.believe(beganAt + SECOND));
    expect(admitsAt(beganAt + SECOND)).toBe(true);
  });

  test("obeys a park for as long as it was to last", () => {
    const tables = openTables();
    tables.quota.register(KEY, TIER_LIMITS.free, ONE_LANE);
    tables.end(tables.admit({ now: T0 }).attempt ?? 0, { now: T0, ending: "limited", retryAfterMs: HOUR });
    tables.forget();
    tables.one(() => createRedating(tables.db, tables.quota).begin(T0 + 2 * HOUR));
    expect(tables.admit({ now: T0 + 2 * HOUR + 58 * MINUTE }).verdict.kind).toBe("wait");
    expect(tables.admit({ now: T0 + 2 * HOUR + 61 * MINUTE }).verdict.kind).toBe("admit");
  });

  test("leaves a request its time to land where the clock has gone back a little", () => {
    const { tables, redating, beganAt, hears } = restarted({ aheadMs: 2 * HOUR });
    hears(0, beganAt);
    tables.end(tables.admit({ now: beganAt }).attempt ?? 0, { now: beganAt, ending: "lost" });
    const used = (at: number): number => quotaUse(tables.quota.load(KEY), at).hour.used;
    let landedAt = beganAt + HOUR;
    while (used(landedAt) > 0) landedAt += SECOND;
    expect(landedAt).toBeGreaterThan(beganAt + HOUR + MINUTE); // it may land minutes later, and counts from then on
    tables.forget();
    tables.one(() => redating.begin(beganAt - SECOND));
    expect(used(landedAt - 30 * SECOND)).toBe(1);
  });

  test("a park ends over restarts in which nobody hears the time by the time in which something ran", () => {
    const { tables, redating, beganAt, hears, admitsAt } = restarted({ aheadMs: 0 });
    hears(0, beganAt);
    const parkedAt = beganAt + 45 * MINUTE;
    tables.end(tables.admit({ now: parkedAt }).attempt ?? 0, { now: parkedAt, ending: "limited", retryAfterMs: 3 * HOUR });
    for (let i = 0, at = parkedAt + MINUTE; i < 6; i++, at += HOUR) {
      tables.forget();
      tables.one(() => redating.begin(at)); // down for a minute, running for the rest of the hour
      tables.one(() => tables.quota.passTime(at + 59 * MINUTE));
    }
    expect(admitsAt(parkedAt + 6 * HOUR)).toBe(true);
  });

  test("deletes nothing that still counts", () => {
    const { tables, beganAt, hears } = restarted({ aheadMs: 2 * DAY });
    tables.prune(beganAt);
    hears(2 * DAY, beganAt);
    expect(quotaUse(tables.quota.load(KEY), beganAt).day.used).toBe(60);
  });
});

test("a clock that is days ahead when a process starts frees nothing, once the network has told the time", () => {
  for (const restarts of [1, 2]) {
    const tables = openTables();
    tables.quota.register(KEY, TIER_LIMITS.free, ONE_LANE);
    for (let i = 0; i < 60; i++) tables.end(tables.admit({ now: T0 + i * SECOND }).attempt ?? 0, { now: T0 + i * SECOND });
    const aheadMs = 3 * DAY;
    let now = T0 + 2 * MINUTE + aheadMs;
    for (let i = 0; i < restarts; i++) {
      now += SECOND;
      tables.forget();
      tables.one(() => createRedating(tables.db, tables.quota).begin(now));
      tables.one(() => tables.quota.recoverOpen(now, () => undefined));
      tables.end(tables.admit({ now }).attempt ?? 0, { now }); // the one that hears the time, or dies before
    }
    tables.one(() => createRedating(tables.db, tables.quota).heed({ ahead: { leastMs: aheadMs, mostMs: aheadMs } }, now));
    expect(tables.admit({ now: now + SECOND }).verdict.kind).toBe("wait");
    expect(tables.admit({ now: now + 50 * MINUTE }).verdict.kind).toBe("wait");
    expect(tables.admit({ now: now + HOUR + MINUTE }).verdict.kind).toBe("admit");
    tables.close();
  }
});

test("days in which nothing ran are believed where the network's time agrees, and told once", () => {
  const tables = openTables();
  tables.quota.register(KEY, TIER_LIMITS.free, ONE_LANE);
  for (let i = 0; i < 60; i++) tables.end(tables.admit({ now: T0 + i * SECOND }).attempt ?? 0, { now: T0 + i * SECOND });
  tables.forget();
  const now = T0 + 3 * DAY;
  const redating = createRedating(tables.db, tables.quota);
  tables.one(() => redating.begin(now));
  tables.one(() => redating.heed({ ahead: { leastMs: 0, mostMs: 0 } }, now));
  tables.one(() => redating.heed({ ahead: { leastMs: 3 * DAY, mostMs: 3 * DAY } }, now)); // of another process, which had nothing to skip
  expect(tables.admit({ now }).verdict.kind).toBe("admit");
  tables.close();
});
