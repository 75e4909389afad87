/** Quota and money as the store keeps them: races, rollbacks, restarts, heirs, pruning. */
import { describe, expect, test } from "vitest";
import { TIER_LIMITS } from "../../src/contract/tiers.ts";
import { asHandle, asKeyId } from "../../src/core/ids.ts";
import { seededRandom } from "../../src/core/random.ts";
import { credits, DAY, HOUR, MINUTE, SECOND } from "../../src/core/units.ts";
import type { Verdict } from "../../src/limits/verdict.ts";
import { quotaUse } from "../../src/limits/quota.ts";
import { GUARDIAN, scopeOf } from "../../src/limits/spending.ts";
import { cap, KEY, limitTables, openTables, priced, SCOUT, type TestTables } from "../harness/limit-tables.ts";

const T0 = Date.UTC(2026, 2, 1, 12);
const ONE_LANE = { obligation: 100, reply: 0, act: 0, watch: 0, poll: 0, explore: 0 };

/** The same rows through fresh memory, as after a crash. */
function reopened(tables: TestTables) {
  return limitTables(tables.db);
}

describe("64 racers", () => {
  test("on one key: exactly the limit is admitted, whoever comes first", () => {
    const tables = openTables();
    tables.quota.register(KEY, TIER_LIMITS.free, ONE_LANE);
    const random = seededRandom(5);
    let admitted = 0;
    for (let round = 0; round < 4; round++)
      for (let racer = 0; racer < 64; racer++) {
        const { attempt } = tables.admit({ now: T0 + random.int(5), specialist: asHandle(`racer${racer}`) });
        if (attempt !== undefined) admitted++;
        if (attempt !== undefined && random.next() < 0.5) tables.end(attempt, { now: T0 + 10 });
      }
    expect(admitted).toBe(60);
  });

  test("for the last credit of the Guardian: exactly the cap is held, and the books balance", () => {
    const tables = openTables();
    tables.quota.register(KEY, TIER_LIMITS.pro, ONE_LANE);
    const caps = [cap(GUARDIAN, "day", 10)];
    const verdicts: Verdict[] = [];
    for (let racer = 0; racer < 64; racer++) {
      const specialist = asHandle(`racer${racer}`);
      const both = [...caps, cap(scopeOf(specialist), "day", 5)];
      verdicts.push(tables.admit({ now: T0, specialist, price: priced(), intent: `i${racer}`, caps: both }).verdict);
    }
    const refused = verdicts.filter(({ kind }) => kind !== "admit");
    expect(refused).toHaveLength(54);
    for (const verdict of refused) expect(verdict).toMatchObject({ kind: "wait", rule: "spend_cap", window: "day", until: T0 + 12 * HOUR });
    expect(tables.spending.audit()).toEqual([]);
    expect(tables.spending.balances().find(({ scope }) => scope === GUARDIAN)).toMatchObject({ held: credits(10).micros, posted: 0 });
  });
});

describe("quota rows", () => {
  test("an operation that is rolled back charges nothing, and its neighbours' charges stay", () => {
    const tables = openTables();
    tables.quota.register(KEY, TIER_LIMITS.free, ONE_LANE);
    tables.db.exec("BEGIN");
    tables.admit({ now: T0 });
    expect(() =>
      tables.one(() => {
        tables.quota.charge(KEY, "obligation", 1, T0);
        throw new Error("the disk is full");
      }),
    ).toThrow("the disk is full");
    tables.admit({ now: T0 });
    tables.db.exec("COMMIT");
    expect(quotaUse(tables.quota.load(KEY), T0).hour.used).toBe(2);
  });

  test("memory and rows agree after any mix of endings, rollbacks and restarts", () => {
    for (let seed = 0; seed < 10; seed++) {
      const random = seededRandom(seed);
      const tables = openTables();
      tables.quota.register(KEY, TIER_LIMITS.starter, ONE_LANE);
      const open: number[] = [];
      let now = T0;
      for (let step = 0; step < 400; step++) {
        now += random.int(20 * SECOND);
        const { attempt } = tables.admit({ now });
        if (attempt !== undefined) open.push(attempt);
        if (open.length > 3 || (open.length > 0 && random.next() < 0.5))
          tables.end(open.splice(random.int(open.length), 1)[0] ?? 0, {
            now,
            ending: random.pick(["answered", "answered", "lost", "never-left"]),
          });
        if (random.next() < 0.05) tables.forget();
      }
      const { hour, day } = quotaUse(tables.quota.load(KEY), now);
      const fresh = quotaUse(reopened(tables).quota.load(KEY), now);
      expect([fresh.hour, fresh.day]).toEqual([hour, day]);
    }
  });

  test.each(["before", "after"] as const)(
    "an ending counts once when its row is closed %s it, also when the key was not in memory",
    (order) => {
      const tables = openTables();
      tables.quota.register(KEY, TIER_LIMITS.free, ONE_LANE);
      const [first = 0, second = 0] = [1, 2, 3].map(() => tables.admit({ now: T0 }).attempt);
      for (const attempt of [first, second]) {
        tables.forget();
        const close = () => tables.db.exec(`UPDATE request SET ended_at = ${T0} WHERE seq = ${attempt}`);
        if (order === "before") close();
        tables.quota.end(
          { key: KEY, attempt, lane: "obligation", cost: 1, admittedAt: T0, deadlineAt: T0 + 30 * SECOND, ending: "answered" },
          T0 + SECOND,
        );
        if (order === "after") close();
      }
      const state = tables.quota.load(KEY);
      expect([quotaUse(state, T0 + SECOND).hour.used, state.inFlightTotal]).toEqual([3, 1]);
      expect(reopened(tables).quota.load(KEY).inFlightTotal).toBe(1);
      expect(quotaUse(state, T0 + 2 * HOUR).hour.used).toBe(1);
    },
  );

  test("attempts a crash left open count from recovery", () => {
    const tables = openTables();
    tables.quota.register(KEY, TIER_LIMITS.free, ONE_LANE);
    for (let i = 0; i < 7; i++) tables.admit({ now: T0 });
    const after = reopened(tables);
    const found = after.quota.recoverOpen(T0 + 20 * MINUTE, () => undefined);
    tables.db.exec(`UPDATE request SET ended_at = ${T0} WHERE ended_at IS NULL`);
    expect(found).toBe(7);
    expect(quotaUse(after.quota.load(KEY), T0 + 80 * MINUTE).hour.used).toBe(7);
    expect(quotaUse(after.quota.load(KEY), T0 + 83 * MINUTE).hour.used).toBe(0);
  });

  test("a park is obeyed after a restart", () => {
    const tables = openTables();
    tables.quota.register(KEY, TIER_LIMITS.free, ONE_LANE);
    const { attempt } = tables.admit({ now: T0 });
    tables.end(attempt ?? 0, { now: T0 + SECOND, ending: "limited", retryAfterMs: 5 * HOUR });
    const { parkedUntil } = reopened(tables).quota.load(KEY);
    expect(parkedUntil).toBeGreaterThanOrEqual(T0 + SECOND + 5 * HOUR);
  });

  test("a restart alone counts nothing anew, however often it comes", () => {
    const tables = openTables();
    tables.quota.register(KEY, { perHour: 60, perDay: 500 });
    for (let i = 0; i < 60; i++) tables.end(tables.admit({ now: T0 + i }).attempt ?? 0, { now: T0 + i });
    for (const minutes of [25, 50]) {
      tables.forget();
      expect(tables.admit({ now: T0 + minutes * MINUTE }).verdict.kind).toBe("wait");
    }
    expect(tables.admit({ now: T0 + HOUR + MINUTE }).verdict.kind).toBe("admit");
  });

  test("a regenerated key inherits what was used, also what is in flight", () => {
    const tables = openTables();
    const heir = asKeyId("key-2");
    tables.quota.register(KEY, TIER_LIMITS.free, ONE_LANE);
    for (let i = 0; i < 40; i++) tables.end(tables.admit({ now: T0 }).attempt ?? 0, { now: T0 + SECOND });
    tables.admit({ now: T0 });
    tables.quota.register(heir, TIER_LIMITS.free, ONE_LANE);
    tables.quota.inherit(KEY, heir, T0);
    tables.quota.inherit(asKeyId("of another shard"), heir, T0);
    expect(quotaUse(reopened(tables).quota.load(heir), T0).hour.used).toBe(41);
  });

  test("a regenerated key keeps the wait that a header asked for, and the requests of others that a header showed", () => {
    const tables = openTables();
    const heir = asKeyId("key-2");
    const { perHour } = TIER_LIMITS.free;
    tables.quota.register(KEY, TIER_LIMITS.free, ONE_LANE);
    const hour = { limit: perHour, remaining: 10, resetMs: HOUR };
    const own = { limit: 9, remaining: 0, resetMs: 5 * MINUTE, windowMs: 5 * MINUTE };
    for (const hints of [hour, own]) tables.end(tables.admit({ now: T0 }).attempt ?? 0, { now: T0, hints });
    tables.quota.register(heir, TIER_LIMITS.free, ONE_LANE);
    tables.quota.inherit(KEY, heir, T0);
    const after = reopened(tables).quota.load(heir);
    expect(quotaUse(after, T0).hour.used).toBeGreaterThanOrEqual(perHour - 10);
    expect(after.parkedUntil).toBeGreaterThanOrEqual(T0 + 5 * MINUTE);
  });

  test("spent cells are deleted, live ones never", () => {
    const tables = openTables();
    tables.quota.register(KEY, TIER_LIMITS.starter, ONE_LANE);
    for (let i = 0; i < 300; i++) tables.end(tables.admit({ now: T0 + i * MINUTE }).attempt ?? 0, { now: T0 + i * MINUTE });
    const cells = (): number => Number(tables.db.prepare("SELECT count(*) AS n FROM quota_cell").get()?.["n"]);
    const now = T0 + 300 * MINUTE;
    const before = quotaUse(tables.quota.load(KEY), now);
    tables.prune(now);
    expect(quotaUse(reopened(tables).quota.load(KEY), now)).toEqual(before);
    expect(cells()).toBeLessThan(300 + 70);
    tables.prune(now + 2 * DAY);
    expect(cells()).toBe(0);
  });

  test("requests of a busy key that have left the hour are kept by minutes, and count as before", () => {
    const tables = openTables();
    tables.quota.register(KEY, TIER_LIMITS.pro, ONE_LANE);
    const all = 1_000;
    for (let i = 0; i < all; i++) {
      const now = T0 + i * 10 * SECOND;
      tables.end(tables.admit({ now }).attempt ?? 0, { now });
    }
    const now = T0 + all * 10 * SECOND;
    tables.quota.flush();
    const cells = (span: number): number =>
      Number(tables.db.prepare("SELECT count(*) AS n FROM quota_cell WHERE span = ?").get(span)?.["n"]);
    const before = quotaUse(tables.quota.load(KEY), now);
    expect(before.day.used).toBe(all);
    tables.prune(now);
    expect(cells(1)).toBeGreaterThan(0);
    expect(cells(1) + cells(2)).toBeLessThan(365 + all / 6);
    expect(quotaUse(reopened(tables).quota.load(KEY), now)).toEqual(before);
    for (const later of [12 * HOUR, 23 * HOUR, 25 * HOUR])
      expect(quotaUse(reopened(tables).quota.load(KEY), T0 + later).day).toEqual(quotaUse(tables.quota.load(KEY), T0 + later).day);
    tables.prune(now + 2 * DAY);
    expect(cells(1) + cells(2)).toBe(0);
  });

  test("an idle key costs no memory", () => {
    const tables = openTables();
    for (let i = 0; i < 50; i++) {
      const key = asKeyId(`key-${i}`);
      tables.quota.register(key, TIER_LIMITS.free, ONE_LANE);
      tables.end(tables.admit({ now: T0, key }).attempt ?? 0, { now: T0 });
    }
    expect(tables.quota.evict(T0 + HOUR)).toBe(50);
    expect(tables.quota.evict(T0 + DAY + HOUR)).toBe(0);
  });
});

describe("halt", () => {
  test("no write is admitted after it, reads go on, and it can be lifted", () => {
    const tables = openTables();
    tables.quota.register(KEY, TIER_LIMITS.free, ONE_LANE);
    tables.guardian.stop("halt", "*", "something looks wrong", T0);
    for (let i = 0; i < 64; i++)
      expect(tables.admit({ now: T0 + i }).verdict).toMatchObject({ kind: "wait", rule: "halted", since: T0, until: undefined });
    expect(tables.admit({ now: T0, effect: "read" }).verdict.kind).toBe("admit");
    expect(reopened(tables).guardian.stopped("halt", SCOUT)).toMatchObject({ scope: "*" });
    expect(tables.guardian.lift("halt", "*")).toBe(true);
    expect(tables.admit({ now: T0 }).verdict.kind).toBe("admit");
  });

  test("a rolled-back halt is no halt", () => {
    const tables = openTables();
    expect(() =>
      tables.one(() => {
        tables.guardian.stop("halt", SCOUT, "typo", T0);
        expect(tables.guardian.stopped("halt", SCOUT)).toBeDefined();
        throw new Error("undone");
      }),
    ).toThrow("undone");
    expect(tables.guardian.stopped("halt", SCOUT)).toBeUndefined();
  });
});
