/** `retinue plan`: honest about what fits into a quota, and what will not. */
import { describe, expect, test } from "vitest";
import { TIER_LIMITS } from "../../src/contract/tiers.ts";
import { DAY, HOUR, MINUTE } from "../../src/core/units.ts";
import { plan, type PlanInput } from "../../src/limits/planner.ts";

const FREE = TIER_LIMITS.free;

describe("retinue plan", () => {
  const one = (changes: Partial<PlanInput> = {}): PlanInput => ({
    handle: "scout",
    key: "k1",
    limits: FREE,
    sources: ["feed", "jobs"],
    ...changes,
  });

  test("says how often a Free key can look, and how late it sees news", () => {
    const [row] = plan([one()]);
    expect(row?.perDay).toBeGreaterThan(400);
    expect(row?.perDay).toBeLessThanOrEqual(500);
    expect(row?.sources[0]?.everyMs).toBeGreaterThan(6 * MINUTE);
    expect(row?.sources[0]?.discoveryMs.mean).toBeLessThan(row?.sources[0]?.discoveryMs.worst ?? 0);
    expect([row?.warnings, row?.runsOutMs]).toEqual([[], { hour: undefined, day: undefined }]);
  });

  test("a definition that wants 1,440 calls a day of 500 is told, and when the day would be used up", () => {
    const [row] = plan([one({ sources: [], wants: { act: 1_440 } })]);
    expect(row?.warnings).toEqual(["wants 1440 calls a day of 500: the excess will wait"]);
    expect(row?.runsOutMs.day).toBe(Math.round((DAY * 500) / 1_440));
    expect(plan([one({ sources: [], wants: { act: 2_000 } })])[0]?.runsOutMs.hour).toBeLessThan(HOUR);
  });

  test("two specialists on one key are told that they share it, and plan with half the polls each", () => {
    const alone = plan([one()])[0];
    const [a, b] = plan([one({ handle: "a" }), one({ handle: "b" })]);
    expect(a?.warnings[0]).toBe("shares its key with b: they share 500 calls a day");
    expect((a?.perDay ?? 0) + (b?.perDay ?? 0)).toBeCloseTo(alone?.perDay ?? 0, -1);
  });

  test("specialists with keys of their own on one network see news that many times sooner", () => {
    const alone = plan([one()])[0]?.sources[0]?.discoveryMs.mean ?? 0;
    const together = plan(["a", "b", "c"].map((name) => one({ handle: name, key: name })))[0]?.sources[0];
    expect(together).toMatchObject({ watchers: 3 });
    expect(together?.discoveryMs.mean).toBeCloseTo(alone / 3);
    expect(plan(["a", "b"].map((name) => one({ handle: name, key: name, shared: false })))[0]?.sources[0]?.watchers).toBe(1);
  });

  test("writes wanted beyond their share slow the polls down, and a lane without a floor is told", () => {
    const busy = plan([one({ wants: { reply: 200 } })])[0];
    expect(busy?.sources[0]?.everyMs).toBeGreaterThan(plan([one()])[0]?.sources[0]?.everyMs ?? Infinity);
    const floors = { obligation: 25, reply: 0, act: 15, watch: 10, poll: 20, explore: 5 };
    expect(plan([one({ floors, wants: { reply: 20 } })])[0]?.warnings).toEqual(["has no guaranteed calls for reply, but wants 20 a day"]);
  });
});
