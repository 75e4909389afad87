/** The time by which requests age, over restarts and wrong clocks, while nobody has told the time and once the network has. */
import { describe, expect, test } from "vitest";
import { TIER_LIMITS } from "../../src/contract/tiers.ts";
import { asKeyId } from "../../src/core/ids.ts";
import { seededRandom } from "../../src/core/random.ts";
import { DAY, HOUR, MINUTE, SECOND } from "../../src/core/units.ts";
import { ledgerTime } from "../../src/limits/ledger-clock.ts";
import { quotaUse } from "../../src/limits/quota.ts";
import { KEY, openTables, type TestTables } from "../harness/limit-tables.ts";
import { StrictServer } from "../harness/strict-server.ts";

const T0 = Date.UTC(2026, 2, 1, 12);
const ONE_LANE = { obligation: 100, reply: 0, act: 0, watch: 0, poll: 0, explore: 0 };

function use(tables: TestTables, requests: number, at: number): void {
  for (let i = 0; i < requests; i++) tables.end(tables.admit({ now: at }).attempt ?? 0, { now: at });
}

/** A process begins; an earlier one in the same tables is over. */
function begins(tables: TestTables, now: number): void {
  tables.forget();
  tables.one(() => tables.quota.begin(now));
}

/** An answer comes from a network that this clock is ahead of by so much. */
function hears(tables: TestTables, aheadMs: number, now: number): void {
  tables.one(() => tables.quota.heed({ leastMs: -aheadMs, mostMs: -aheadMs, leaptMs: 0 }, now));
}

describe("a process that begins after a while in which nothing ran", () => {
  /** Sixty requests by a right clock, and a restart twenty minutes later by a clock that may be ahead. */
  function restarted({ aheadMs }: { readonly aheadMs: number }) {
    const tables = openTables();
    begins(tables, T0);
    tables.quota.register(KEY, TIER_LIMITS.free, ONE_LANE);
    hears(tables, 0, T0);
    use(tables, 60, T0);
    const beganAt = T0 + 20 * MINUTE + aheadMs;
    begins(tables, beganAt);
    return { tables, beganAt, admitsAt: (at: number): boolean => tables.admit({ now: at }).verdict.kind === "admit" };
  }

  test("frees nothing for a time that may not have passed, and does so once the network has told that it has", () => {
    const { tables, beganAt, admitsAt } = restarted({ aheadMs: 41 * MINUTE });
    expect(admitsAt(beganAt)).toBe(false);
    expect(admitsAt(beganAt + 59 * MINUTE)).toBe(false);
    hears(tables, 0, beganAt + 59 * MINUTE);
    expect(admitsAt(beganAt + 59 * MINUTE)).toBe(true);
  });

  test("frees what has left by the network's time and not by a clock that is ahead of it", () => {
    const { tables, beganAt, admitsAt } = restarted({ aheadMs: 10 * HOUR });
    hears(tables, 10 * HOUR, beganAt + MINUTE);
    expect(admitsAt(beganAt + MINUTE)).toBe(false);
    expect(admitsAt(beganAt + 39 * MINUTE)).toBe(false);
    expect(admitsAt(beganAt + 41 * MINUTE)).toBe(true);
  });

  test("loses nothing where its clock is as far ahead as that of the process before", () => {
    const { tables, beganAt, admitsAt } = restarted({ aheadMs: HOUR });
    hears(tables, HOUR, beganAt);
    for (const minutes of [10, 20]) {
      begins(tables, beganAt + minutes * MINUTE);
      hears(tables, HOUR, beganAt + minutes * MINUTE);
    }
    expect(admitsAt(beganAt + 39 * MINUTE)).toBe(false);
    expect(admitsAt(beganAt + 41 * MINUTE)).toBe(true);
  });

  test("still doubts what a process before it has believed that never heard the time", () => {
    const { tables, beganAt, admitsAt } = restarted({ aheadMs: DAY });
    expect(admitsAt(beganAt)).toBe(false);
    begins(tables, T0 + 21 * MINUTE); // set right
    expect(admitsAt(T0 + 22 * MINUTE)).toBe(false);
    hears(tables, 0, T0 + 22 * MINUTE);
    expect(admitsAt(T0 + 59 * MINUTE)).toBe(false);
    expect(admitsAt(T0 + 62 * MINUTE)).toBe(true);
  });

  test("goes on from its own clock where an earlier one was years ahead", () => {
    const { tables, beganAt, admitsAt } = restarted({ aheadMs: 3_650 * DAY });
    hears(tables, 3_650 * DAY, beganAt);
    const usedAt = beganAt + HOUR;
    use(tables, 59, usedAt);
    tables.end(tables.admit({ now: usedAt }).attempt ?? 0, { now: usedAt, ending: "limited", retryAfterMs: 30 * MINUTE });
    const rightAt = T0 + 3 * HOUR;
    begins(tables, rightAt);
    expect(quotaUse(tables.quota.load(KEY), rightAt).hour.used).toBeGreaterThanOrEqual(60);
    hears(tables, 0, rightAt + SECOND); // by an answer to another key's request
    expect(admitsAt(rightAt + 59 * MINUTE)).toBe(false);
    expect(admitsAt(rightAt + 62 * MINUTE)).toBe(true);
  });

  test("gives the requests back after an hour at work where its clock is behind, also when it is set right meanwhile", () => {
    for (const isSetRight of [false, true]) {
      const { tables, beganAt, admitsAt } = restarted({ aheadMs: 0 });
      const behindAt = beganAt - 5 * HOUR;
      begins(tables, behindAt);
      hears(tables, -5 * HOUR, behindAt);
      let startedAt = behindAt;
      if (isSetRight) {
        tables.one(() => tables.quota.heed({ leastMs: 0, mostMs: 0, leaptMs: 5 * HOUR }, beganAt));
        startedAt = beganAt;
      }
      expect(admitsAt(startedAt + 59 * MINUTE)).toBe(false);
      expect(admitsAt(startedAt + 62 * MINUTE)).toBe(true);
    }
  });

  test("counts from now on what was asked before anybody had told it the time", () => {
    const { tables, beganAt } = restarted({ aheadMs: 3 * HOUR });
    hears(tables, 0, beganAt);
    begins(tables, beganAt + 2 * HOUR); // down for longer: this clock is behind, and nobody can know
    tables.end(tables.admit({ now: beganAt + 2 * HOUR }).attempt ?? 0, { now: beganAt + 2 * HOUR, ending: "lost" });
    const rightAt = beganAt + 4 * HOUR;
    begins(tables, rightAt);
    hears(tables, 0, rightAt);
    expect(quotaUse(tables.quota.load(KEY), rightAt + 59 * MINUTE).hour.used).toBe(1);
    expect(quotaUse(tables.quota.load(KEY), rightAt + 62 * MINUTE).hour.used).toBe(0);
  });

  test("believes its clock with the first answer of a network that never tells the time", () => {
    const tables = openTables();
    begins(tables, T0);
    tables.quota.register(KEY, TIER_LIMITS.free, ONE_LANE);
    use(tables, 60, T0);
    const beganAt = T0 + 80 * MINUTE;
    begins(tables, beganAt);
    expect(tables.admit({ now: beganAt }).verdict.kind).toBe("wait");
    tables.one(() => tables.quota.heed(undefined, beganAt + SECOND));
    expect(tables.admit({ now: beganAt + SECOND }).verdict.kind).toBe("admit");
  });

  test("an answer without a time confirms nothing where the network has told its time before", () => {
    const { tables, beganAt, admitsAt } = restarted({ aheadMs: DAY });
    tables.one(() => tables.quota.heed(undefined, beganAt + SECOND));
    expect(admitsAt(beganAt + SECOND)).toBe(false);
  });

  test("obeys a park for as long as it was to last", () => {
    const tables = openTables();
    begins(tables, T0);
    tables.quota.register(KEY, TIER_LIMITS.free, ONE_LANE);
    tables.end(tables.admit({ now: T0 }).attempt ?? 0, { now: T0, ending: "limited", retryAfterMs: HOUR });
    begins(tables, T0 + 2 * HOUR);
    expect(tables.admit({ now: T0 + 2 * HOUR + 58 * MINUTE }).verdict.kind).toBe("wait");
    expect(tables.admit({ now: T0 + 3 * HOUR + 2 * MINUTE }).verdict.kind).toBe("admit");
  });

  test("leaves a request its time to land where the clock has gone back", () => {
    const { tables, beganAt } = restarted({ aheadMs: 2 * HOUR });
    hears(tables, 0, beganAt);
    tables.end(tables.admit({ now: beganAt }).attempt ?? 0, { now: beganAt, ending: "lost" });
    const used = (at: number): number => quotaUse(tables.quota.load(KEY), at).hour.used;
    let landedAt = beganAt + HOUR;
    while (used(landedAt) > 0) landedAt += SECOND;
    expect(landedAt).toBeGreaterThan(beganAt + HOUR + MINUTE); // it may land minutes later, and counts from then on
    begins(tables, beganAt - HOUR);
    expect(used(landedAt - HOUR - 30 * SECOND)).toBe(1);
  });

  test("a park ends over restarts in which nobody hears the time by the time in which something ran", () => {
    const { tables, beganAt, admitsAt } = restarted({ aheadMs: 0 });
    hears(tables, 0, beganAt);
    const parkedAt = beganAt + 45 * MINUTE;
    tables.end(tables.admit({ now: parkedAt }).attempt ?? 0, { now: parkedAt, ending: "limited", retryAfterMs: 3 * HOUR });
    for (let i = 0, at = parkedAt + MINUTE; i < 6; i++, at += HOUR) {
      begins(tables, at); // down for a minute, running for the rest of the hour
      tables.one(() => tables.quota.passTime(at + 59 * MINUTE));
    }
    expect(admitsAt(parkedAt + 6 * HOUR)).toBe(true);
  });

  test("deletes nothing that still counts", () => {
    const { tables, beganAt } = restarted({ aheadMs: 2 * DAY });
    tables.prune(beganAt);
    hears(tables, 2 * DAY, beganAt);
    expect(quotaUse(tables.quota.load(KEY), beganAt).day.used).toBe(60);
  });
});

test("no window of the network is exceeded, whatever the wall clock does over kills, sleeps and lost answers", () => {
  for (let seed = 1; seed <= 12; seed++) {
    const random = seededRandom(seed);
    const limits = { perHour: 20, perDay: 200 };
    const server = new StrictServer(limits, 12);
    const tables = openTables();
    const key = asKeyId(`k${seed}`);
    /** The true time, the time asleep that no monotonic clock sees, and the error of the wall clock. */
    const at = { real: T0, asleep: 0, wrong: 0 };
    const clock = {
      now: () => at.real + at.wrong,
      monotonic: () => at.real - at.asleep,
      after: () => ({ cancel: () => undefined }),
      soon: () => undefined,
    };
    const draw = (mostMs: number): number => random.int(2 * mostMs) - mostMs;
    for (let life = 0; life < 40; life++) {
      if (random.next() < 0.5) at.wrong = random.next() < 0.5 ? draw(2 * DAY) : draw(2 * HOUR);
      const ledger = ledgerTime(clock);
      begins(tables, ledger.now());
      tables.one(() => tables.quota.recoverOpen(ledger.now(), () => undefined));
      tables.db.exec("UPDATE request SET ended_at = 0 WHERE ended_at IS NULL");
      tables.quota.register(key, limits, ONE_LANE);
      for (let step = 0; step < 60; step++) {
        at.real += random.int(4 * MINUTE);
        if (random.next() < 0.02) at.wrong = random.next() < 0.5 ? 0 : draw(3 * HOUR);
        if (random.next() < 0.02) {
          const ms = random.int(5 * HOUR);
          at.real += ms;
          at.asleep += ms;
        }
        for (let burst = random.int(9); burst > 0; burst--) {
          const { attempt } = tables.admit({ now: ledger.now(), key });
          if (attempt === undefined) break;
          server.count(at.real + random.int(SECOND));
          if (random.next() < 0.03) continue; // under way when the process dies
          at.real += SECOND;
          const isLost = random.next() < 0.2;
          const heard = isLost ? undefined : ledger.heed(Math.floor(at.real / SECOND) * SECOND - clock.now(), SECOND);
          if (heard !== undefined) tables.one(() => tables.quota.heed(heard, ledger.now()));
          tables.end(attempt, { now: ledger.now(), ending: isLost ? "lost" : "answered" });
        }
      }
      at.real += random.int(random.next() < 0.5 ? MINUTE : 6 * HOUR);
    }
    expect({ seed, ...server.judge() }).toEqual({ seed, sliding: 0, fixed: 0, anchored: 0 });
    expect(server.requests).toBeGreaterThan(600);
    tables.close();
  }
});
