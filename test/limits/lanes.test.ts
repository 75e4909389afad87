/** Lanes: floors, lending, the obligation reserve, and that nothing starves. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { LANES, type Lane } from "../../src/contract/operations.ts";
import { DAY, HOUR, MINUTE } from "../../src/core/units.ts";
import { slotIndex } from "../../src/limits/window-counts.ts";
import {
  DEFAULT_FLOORS,
  floorsOf,
  laneRoom,
  laneShares,
  maxObligations,
  applyingReserve,
  obligationReserve,
  READ_BACK_CALLS,
} from "../../src/limits/lanes.ts";
import { charge, newQuota, quotaUse, completeAttempt, takeable, type QuotaState } from "../../src/limits/quota.ts";
import { runWorld } from "../harness/ledger-simulation.ts";

const T0 = Date.UTC(2026, 2, 1);
const FREE = { perHour: 60, perDay: 500 };
const DAILY = { perHour: 1_000, perDay: 500 };

function drain(state: QuotaState, now: number, lane: Lane, most = Infinity, obligations = 0): number {
  let taken = 0;
  while (taken < most && takeable(state, now, { lane, cost: 1, obligations }).ok) {
    charge(state, now, lane, 1);
    completeAttempt(state, now, lane, 1, { answered: true });
    taken++;
  }
  return taken;
}

test("floors left out share what the named ones leave, and never pass 100 % together", () => {
  expect(floorsOf()).toEqual(DEFAULT_FLOORS);
  const floors = floorsOf({ reply: 80, explore: 0 });
  expect(floors.reply).toBe(80);
  expect(LANES.reduce((sum, lane) => sum + floors[lane], 0)).toBeCloseTo(100);
  expect(floorsOf({ reply: 10 }).poll).toBe(20);
});

describe("lending", () => {
  test("a lane alone may take all but what is kept for the others", () => {
    const state = newQuota(DAILY);
    const kept = laneShares(500).kept.reduce((sum, keep) => sum + keep, 0) - (laneShares(500).kept[slotIndex("poll")] ?? 0);
    expect(drain(state, T0, "poll")).toBe(500 - kept);
  });

  test("after a borrower took everything it could, every other lane can still act at once", () => {
    for (const lane of LANES.filter((name) => name !== "poll")) {
      const state = newQuota(DAILY);
      drain(state, T0, "poll");
      expect(drain(state, T0, lane)).toBeGreaterThanOrEqual(laneShares(500).kept[slotIndex(lane)] ?? 0);
    }
  });

  test("the reserve of a lane without demand is its only cost: five lanes with demand use the rest", () => {
    const state = newQuota(DAILY);
    for (let pass = 0; pass < 100; pass++) for (const lane of LANES) if (lane !== "explore") drain(state, T0, lane);
    expect(quotaUse(state, T0).day.used).toBe(500 - (laneShares(500).kept[slotIndex("explore")] ?? 0));
  });

  test.each<[string, readonly Lane[]]>([
    ["polls alone", ["poll"]],
    ["replies and polls", ["reply", "poll"]],
    ["all but obligations", ["reply", "act", "watch", "poll", "explore"]],
    ["obligations and exploring", ["obligation", "explore"]],
  ])("%s use at least 98 %% of what is open to them", (_name, lanes) => {
    const shares = laneShares(FREE.perDay);
    const idle = LANES.filter((lane) => !lanes.includes(lane));
    const closed = idle.reduce(
      (sum, lane) => sum + Math.max(shares.kept[slotIndex(lane)] ?? 0, lane === "obligation" ? READ_BACK_CALLS : 0),
      0,
    );
    const { utilisation, verdicts } = runWorld({ limits: FREE, days: 8, seed: 4, lanes, alignments: 2 });
    expect(verdicts.sliding).toBe(0);
    expect((utilisation * FREE.perDay) / (FREE.perDay - closed)).toBeGreaterThanOrEqual(0.98);
  });

  test("returned quota goes to lanes below their floor before any borrower", () => {
    const state = newQuota(DAILY);
    for (let hour = 0; hour < 24; hour++) drain(state, T0 + hour * HOUR, "poll", 17);
    let replies = 0;
    let polls = 0;
    for (let minute = 0; minute < 6 * 60; minute++) {
      const now = T0 + DAY + MINUTE * minute;
      polls += drain(state, now, "poll");
      replies += drain(state, now, "reply");
    }
    expect(replies).toBeGreaterThanOrEqual(laneShares(500).floors[slotIndex("reply")] ?? 0);
    expect(polls).toBeLessThan(replies);
  });
});

describe("obligations", () => {
  test("polls and replies cannot touch what delivering needs", () => {
    const state = newQuota(FREE);
    const reserve = obligationReserve(laneShares(60), 3);
    for (const lane of LANES) if (lane !== "obligation") drain(state, T0, lane, Infinity, 3);
    expect(drain(state, T0, "obligation", Infinity, 3)).toBeGreaterThanOrEqual(reserve);
    expect(reserve).toBe(15);
  });

  test("quota for obligations is set aside however much they have used, and no other lane keeps it from them", () => {
    const state = newQuota(DAILY);
    const shares = laneShares(500);
    drain(state, T0, "obligation", 260, 1); // more than their floor and what is set aside
    const reserve = obligationReserve(shares, 5);
    for (const lane of LANES) if (lane !== "obligation") drain(state, T0, lane, Infinity, 5);
    const { used } = quotaUse(state, T0).day;
    expect(500 - used).toBeGreaterThanOrEqual(reserve);
    expect(drain(state, T0, "obligation", Infinity, 5)).toBe(500 - used);
  });

  test("an application waits while the hour has no room to notice and deliver it", () => {
    const state = newQuota(FREE);
    drain(state, T0, "obligation", 30, 1);
    let owed = 1;
    while (takeable(state, T0, { lane: "act", cost: 1, obligations: owed, promises: 1 }).ok) {
      charge(state, T0, "act", 1);
      owed++;
    }
    expect(owed).toBeGreaterThan(1);
    expect(60 - quotaUse(state, T0).hour.used).toBeGreaterThanOrEqual(obligationReserve(laneShares(60), owed));
  });

  test("applications of one hour are no more than it can notice and deliver, and those checked much later do not count", () => {
    const applied = (isSoon: boolean): number => {
      const state = newQuota(FREE);
      let owed = 0;
      while (takeable(state, T0, { lane: "act", cost: 1, obligations: owed, soon: isSoon ? owed : 0, promises: 1 }).ok) {
        charge(state, T0, "act", 1);
        owed++;
      }
      return owed;
    };
    expect(applied(true)).toBeGreaterThan(5);
    expect(60 - applied(true)).toBeGreaterThanOrEqual(applyingReserve(laneShares(60), applied(true)));
    expect(applied(false)).toBeGreaterThan(applied(true));
  });

  test("an application leaves room for as many checks of each job as noticing takes", () => {
    const reserve = (calls?: number): number => applyingReserve(laneShares(60), 4, calls);
    expect(reserve()).toBe(READ_BACK_CALLS + 4 * 4);
    expect(reserve(7)).toBe(READ_BACK_CALLS + 4 * 8);
    expect(applyingReserve(laneShares(60), 1, 12)).toBe(obligationReserve(laneShares(60), 1));
  });

  test("reading back always has its few calls, also with nothing owed", () => {
    for (const limits of [FREE, { perHour: 10, perDay: 20 }]) {
      const state = newQuota(limits, { ...DEFAULT_FLOORS, obligation: 0 });
      for (const lane of LANES) if (lane !== "obligation") drain(state, T0, lane);
      expect(drain(state, T0, "obligation")).toBeGreaterThanOrEqual(READ_BACK_CALLS);
    }
  });

  test("applying for a job needs the calls to deliver it", () => {
    const state = newQuota(DAILY);
    const most = maxObligations(laneShares(500));
    const apply = (owed: number) => takeable(state, T0, { lane: "act", cost: 1, obligations: owed, promises: 1 });
    expect(apply(most - 1).ok).toBe(true);
    expect(apply(most)).toMatchObject({ ok: false, rule: "obligations_full" });
    drain(state, T0, "poll");
    drain(state, T0, "act");
    const blocked = newQuota({ perHour: 1_000, perDay: 40 });
    drain(blocked, T0, "poll");
    expect(takeable(blocked, T0, { lane: "act", cost: 1, obligations: 0 }).ok).toBe(true);
  });
});

describe("floors", () => {
  const floors = fc.array(fc.integer({ min: 0, max: 40 }), { minLength: 6, maxLength: 6 }).map((raw) => {
    const sum = Math.max(
      100,
      raw.reduce((a, b) => a + b, 0),
    );
    return Object.fromEntries(LANES.map((lane, i) => [lane, Math.floor(((raw[i] ?? 0) * 100) / sum)])) as { [lane in Lane]: number };
  });

  test("room never lets the total pass the limit, nor eats what is kept for a lane below its floor", () => {
    fc.assert(
      fc.property(
        floors,
        fc.integer({ min: 10, max: 1_000 }),
        fc.array(fc.tuple(fc.integer({ min: 0, max: 5 }), fc.integer({ min: 1, max: 9 })), { maxLength: 200 }),
        fc.integer({ min: 0, max: 40 }),
        (shares, limit, takes, owed) => {
          const lanes = laneShares(limit, shares);
          const used = LANES.map(() => 0);
          let total = 0;
          for (const [lane, cost] of takes) {
            if (
              laneRoom(lanes, lane, { used, total, reserve: obligationReserve(lanes, owed), waiting: LANES.map(() => owed % 2 === 0) }) <
              cost
            )
              continue;
            used[lane] = (used[lane] ?? 0) + cost;
            total += cost;
            expect(total).toBeLessThanOrEqual(limit);
            const owing = (lanes.floors[0] ?? 0) + obligationReserve(lanes, owed) - (used[0] ?? 0);
            const reserved = lane === 0 ? 0 : Math.min(owing, obligationReserve(lanes, owed));
            expect(limit - total).toBeGreaterThanOrEqual(reserved);
          }
        },
      ),
      { numRuns: 300 },
    );
  });

  test("nothing starves: with every lane always wanting more, each gets its floor of the day, in any mix of lanes", () => {
    fc.assert(
      fc.property(floors, fc.subarray([...LANES], { minLength: 2 }), fc.integer({ min: 1, max: 1_000 }), (shares, lanes, seed) => {
        const days = 3;
        const { byLane, verdicts } = runWorld({ limits: FREE, days, seed, lanes, floors: shares, alignments: 1 });
        expect(verdicts.sliding).toBe(0);
        for (const lane of lanes.filter((name) => shares[name] > 0)) {
          const floor = laneShares(500, shares).floors[slotIndex(lane)] ?? 0;
          expect(byLane.get(lane) ?? 0).toBeGreaterThanOrEqual(Math.floor(floor * days * 0.97) - 3);
        }
      }),
      { numRuns: 25, seed: 7 },
    );
  });

  test("a lane that wakes up late gets its floor within a day, though the others always ask first", () => {
    for (const late of LANES) {
      const state = newQuota(FREE);
      const others = LANES.filter((lane) => lane !== late);
      let got = 0;
      for (let minute = 0; minute < 2 * 24 * 60; minute++) {
        const now = T0 + minute * MINUTE;
        for (const lane of minute >= 24 * 60 ? [...others, late] : others) {
          const taken = drain(state, now, lane);
          if (lane === late) got += taken;
        }
      }
      expect(got).toBeGreaterThanOrEqual((laneShares(500).floors[slotIndex(late)] ?? 0) * 0.9);
    }
  });
});
