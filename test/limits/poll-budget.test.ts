/** Poll intervals: derived from the part of the quota that is left, and within it. */
import { describe, expect, test } from "vitest";
import { TIER_LIMITS } from "../../src/contract/tiers.ts";
import { seededRandom } from "../../src/core/random.ts";
import { DAY, HOUR, MINUTE, SECOND } from "../../src/core/units.ts";
import {
  agedActs,
  intervals,
  laneBudget,
  liveBudget,
  polled,
  MIN_INTERVAL_MS,
  NEW_SOURCE,
  RECONCILE_MS,
  type Source,
} from "../../src/limits/poll-budget.ts";
import { slotIndex, SLOTS } from "../../src/limits/window-counts.ts";
import { laneShares } from "../../src/limits/lanes.ts";
import { placePoll } from "../../src/polling/poll-sharing.ts";
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

  test("if one list's news leads to actions, looks go there, whatever the other brings, and to that one now and then", () => {
    const jobs = { pace: 4, yield: 0.05, acts: 8 };
    const feed = { pace: 0.5, yield: 5, acts: 0 };
    const [often = 0, seldom = 0] = intervals(400, [jobs, feed]);
    expect(seldom / often).toBeGreaterThan(4);
    expect(DAY / seldom).toBeGreaterThan(400 / 24);
    expect(DAY / often).toBeGreaterThan(200);
  });

  test("if it is known what leads to actions, empty looks leave nothing of the budget unused", () => {
    const empty = { pace: 4, yield: 0 };
    const every = intervals(400, [
      { ...empty, acts: 8 },
      { ...empty, acts: 0 },
    ]);
    expect(every.reduce((sum, ms) => sum + DAY / ms, 0)).toBeCloseTo(400, 0);
  });

  test("a list that leads to no action keeps a twentieth of the looks, and a tenth if it brings more than is read back", () => {
    const jobs = { pace: 1, yield: 0.05, acts: 50 };
    const looksAtFeed = (news: number): number => DAY / (intervals(400, [jobs, { pace: 0.5, yield: news, acts: 0 }])[1] ?? 0);
    expect(looksAtFeed(0)).toBeGreaterThan(400 / 22);
    expect(looksAtFeed(3)).toBeLessThan(400 / 18);
    expect(looksAtFeed(10)).toBeGreaterThan(400 / 10);
  });

  test("an action counts half after a day, and before any is known looks go to what brings news", () => {
    expect(agedActs(8, DAY)).toBe(4);
    const [rich = 0, poor = 0] = intervals(400, [{ pace: 1, yield: 2, acts: 0.5 }, NEW_SOURCE]);
    expect(poor / rich).toBeCloseTo(5);
  });

  test("the unused share of a source that webhooks cover goes to the others, and the budget is spent", () => {
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
