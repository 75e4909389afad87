/** Cadence and plan: derived from what is left, within it, and honest about what will not fit. */
import { describe, expect, test } from "vitest";
import { TIER_LIMITS } from "../../src/contract/tiers.ts";
import { seededRandom } from "../../src/core/random.ts";
import { DAY, HOUR, MINUTE, SECOND } from "../../src/core/units.ts";
import {
  intervals,
  laneBudget,
  liveBudget,
  polled,
  MIN_INTERVAL_MS,
  NEW_SOURCE,
  RECONCILE_MS,
  type Source,
} from "../../src/limits/poll-budget.ts";
import { slotIndex, SLOTS } from "../../src/limits/window-cells.ts";
import { laneShares } from "../../src/limits/lanes.ts";
import { plan, type PlanInput } from "../../src/limits/planner.ts";
import { agreement, compared, isShared, placePoll, UNPROVEN, type Sharing } from "../../src/polling/list-agreement.ts";
import { charge, newQuota, completeAttempt, takeable } from "../../src/limits/quota.ts";

const T0 = Date.UTC(2026, 2, 1);
const FREE = TIER_LIMITS.free;
const nothing = SLOTS.map(() => 0);

const used = (lane: "reply" | "act", calls: number): number[] => nothing.map((_, i) => (i === slotIndex(lane) ? calls : 0));

describe("cadence", () => {
  test("polls get the day less what is kept, used by others and owed, and never less than their floor", () => {
    const day = laneShares(500);
    const idle = laneBudget(day, "poll", nothing, 0);
    expect(idle).toBe(500 - 25 - 25 - 15 - 10 - 5);
    expect(laneBudget(day, "poll", used("reply", 125), 0)).toBe(idle - 100);
    expect(laneBudget(day, "poll", nothing, 10)).toBe(idle - (3 + 40 - 25));
    expect(laneBudget(day, "poll", used("act", 480), 30)).toBe(100);
  });

  test("an empty look slows down by half, news doubles the pace, both within bounds", () => {
    const slow = Array.from({ length: 9 }).reduce<Source>((source) => polled(source, 0), NEW_SOURCE);
    expect([polled(NEW_SOURCE, 0).pace, slow.pace]).toEqual([1.5, 4]);
    const fast = Array.from({ length: 9 }).reduce<Source>((source) => polled(source, 2), slow);
    expect(fast.pace).toBe(0.5);
    expect(fast.yield).toBeGreaterThan(1);
  });

  test("a source that brings news is looked at oftener than one that brings none, within one budget", () => {
    const sources = [{ pace: 1, yield: 2 }, NEW_SOURCE];
    const [rich = 0, poor = 0] = intervals(400, sources);
    expect(poor / rich).toBeCloseTo(5);
    expect(DAY / rich + DAY / poor).toBeCloseTo(400, 0);
  });

  test("what a source that webhooks cover leaves of its share goes to the others, and the budget is spent", () => {
    const [feed = 0, jobs = 0] = intervals(400, [{ ...NEW_SOURCE, covered: true }, NEW_SOURCE]);
    expect(feed).toBe(RECONCILE_MS);
    expect(DAY / feed + DAY / jobs).toBeCloseTo(400, 0);
    const [few = 0, some = 0] = intervals(40, [{ ...NEW_SOURCE, covered: true }, NEW_SOURCE]);
    expect(few).toBe(some); // shares so small that resting leaves nothing
  });

  test("jitter only delays, healthy webhooks nearly stop polling, and no budget means no tight loop", () => {
    const [plain = 0] = intervals(400, [NEW_SOURCE]);
    for (let seed = 0; seed < 20; seed++) {
      const [jittered = 0] = intervals(400, [NEW_SOURCE], { random: seededRandom(seed) });
      expect(jittered).toBeGreaterThanOrEqual(plain);
      expect(jittered).toBeLessThanOrEqual(plain * 1.1 + 1);
    }
    expect(intervals(400, [{ ...NEW_SOURCE, covered: true }])[0]).toBe(RECONCILE_MS);
    expect(intervals(1e9, [NEW_SOURCE])[0]).toBe(MIN_INTERVAL_MS);
    expect(intervals(0, [NEW_SOURCE])[0]).toBe(12 * HOUR);
  });

  test("no list is left alone for longer than twelve hours, whatever chance and the looks of others make of its pause", () => {
    for (let seed = 0; seed < 20; seed++)
      expect(intervals(0, [NEW_SOURCE], { random: seededRandom(seed) })[0]).toBeLessThanOrEqual(12 * HOUR);
    const crowd = Array.from({ length: 4 }, (_, i) => ({ at: (2 + 2 * i) * HOUR, everyMs: 24 * HOUR }));
    expect(placePoll(0, 12 * HOUR, crowd)).toBeLessThanOrEqual(12 * HOUR);
  });

  test("polling at the derived pace for three days is hardly ever refused, also while replies take their share", () => {
    const state = newQuota(FREE);
    let due = T0;
    let polls = 0;
    let refused = 0;
    for (let now = T0; now < T0 + 3 * DAY; now += 30 * SECOND) {
      if ((now - T0) % (12 * MINUTE) === 0 && takeable(state, now, { lane: "reply", cost: 1, obligations: 0 }).ok) {
        charge(state, now, "reply", 1);
        completeAttempt(state, now, "reply", 1, { answered: true });
      }
      if (now < due) continue;
      if (takeable(state, now, { lane: "poll", cost: 1, obligations: 0 }).ok) {
        charge(state, now, "poll", 1);
        completeAttempt(state, now, "poll", 1, { answered: true });
        polls++;
      } else refused++;
      due = now + (intervals(liveBudget(state, "poll", now, 0), [NEW_SOURCE])[0] ?? 0);
    }
    expect(refused / polls).toBeLessThan(0.02);
    expect(polls / 3).toBeGreaterThan(280);
  });
});

describe("sharing looks at public lists", () => {
  const ids = (text: string): string[] => text.split("");

  test.each([
    ["gfedc", "gfedc", "same"],
    ["hgfed", "gfedc", "same"],
    ["gfedc", "jihgfe", "same"],
    ["gfedc", "gfec", "different"],
    ["gfedc", "gefdc", "different"],
    ["gfedc", "xgfyedc", "different"],
    ["gfedc", "zyx", "unclear"],
    ["ba", "ba", "unclear"],
    ["", "", "unclear"],
  ] as const)("%s beside %s is %s", (one, other, expected) => {
    expect(agreement(ids(one), ids(other))).toBe(expected);
    expect(agreement(ids(other), ids(one))).toBe(expected);
  });

  test("ten who place their looks one after the other come to lie evenly apart, at no more looks each", () => {
    const every = 10 * MINUTE;
    const random = seededRandom(3);
    const planned = Array.from({ length: 10 }, () => ({ at: random.int(every), everyMs: every }));
    const looks: number[] = [];
    for (let n = 0; n < 400; n++) {
      const [next] = [...planned.entries()].sort(([, a], [, b]) => a.at - b.at);
      if (next === undefined) throw new Error("nobody looks");
      const [who, { at: now }] = next;
      looks.push(now);
      const others = planned.filter((_, other) => other !== who);
      planned[who] = { at: placePoll(now, every, others), everyMs: every };
    }
    const gaps = looks.slice(101).map((at, i) => at - (looks[100 + i] ?? at));
    const mean = gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length;
    expect(mean / (every / 10)).toBeGreaterThan(0.95);
    expect(mean / (every / 10)).toBeLessThan(1.05);
    // News waits half a gap on average, weighted by its length: chance would make it a whole one.
    const wait = gaps.reduce((sum, gap) => sum + gap * gap, 0) / 2 / gaps.reduce((sum, gap) => sum + gap, 0);
    expect(wait).toBeLessThan(0.6 * (every / 10));
  });

  test("one who looks alone looks when it is time", () => {
    expect(placePoll(1_000, 60_000, [])).toBe(61_000);
  });

  test("is earned by one agreement, lost by one contradiction, and then earned by three", () => {
    const same = (sharing: Sharing): Sharing => compared(sharing, ids("dcba"), ids("dcba"));
    const apart = (sharing: Sharing): Sharing => compared(sharing, ids("dcba"), ids("dba"));
    expect([isShared(UNPROVEN), isShared(same(UNPROVEN))]).toEqual([false, true]);
    const lost = apart(same(same(UNPROVEN)));
    expect(isShared(lost)).toBe(false);
    expect([same(lost), same(same(lost)), same(same(same(lost)))].map(isShared)).toEqual([false, false, true]);
    expect(compared(same(UNPROVEN), [], ids("a"))).toEqual(same(UNPROVEN));
  });
});

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
    expect(row?.warnings).toEqual(["wants 1440 calls a day of 500: what is over will wait"]);
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
