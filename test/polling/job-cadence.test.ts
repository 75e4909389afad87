/** When a followed job is looked at again. */
import { describe, expect, test } from "vitest";
import { TIER_LIMITS, type TierLimits } from "../../src/contract/tiers.ts";
import { seededRandom, type Random } from "../../src/core/random.ts";
import { DAY, HOUR, MINUTE, SECOND } from "../../src/core/units.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { delayAt, learnDelay, NOTHING_LEARNT, type LearntDelay } from "../../src/limits/learnt-delay.ts";
import { laneOf, noticeCalls, pauseUntilGiven, pauseUntilNews, type Wait } from "../../src/polling/job-cadence.ts";
import { createJobTimings } from "../../src/polling/job-timings.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { virtualRuntime } from "../harness/harness.ts";
import type { NetworkStateRow } from "../../src/store/network-state.ts";

function roomOf({ perHour, perDay }: TierLimits): Wait["room"] {
  return { hour: perHour, day: perDay };
}

const WAIT: Wait = {
  ageMs: 0,
  looks: 0,
  learnt: NOTHING_LEARNT,
  waiting: 1,
  calls: 1,
  limits: TIER_LIMITS.pro,
  room: roomOf(TIER_LIMITS.pro),
  chance: 0.5,
};
const threeMinutes = learnDelay(NOTHING_LEARNT, { afterMs: 2.8 * MINUTE, byMs: 3 * MINUTE });

/** Learnt of jobs that were each looked at every half a minute. */
function learnt(jobs: number, seed: number, givesMs: (chance: Random) => number): LearntDelay {
  const chance = seededRandom(seed);
  let known = NOTHING_LEARNT;
  for (let i = 0; i < jobs; i++) {
    const afterMs = Math.floor(givesMs(chance) / (MINUTE / 2)) * (MINUTE / 2);
    known = learnDelay(known, { afterMs, byMs: afterMs + MINUTE / 2 });
  }
  return known;
}

/** The ages at which one is looked at, until it is so old. */
function looks(pause: (wait: Wait) => number, wait: Partial<Wait>, untilMs: number): readonly number[] {
  const ages: number[] = [];
  const given = { ...WAIT, calls: wait.waiting ?? WAIT.waiting, ...wait };
  for (let ageMs = pause(given); ageMs < untilMs; ageMs += pause({ ...given, ageMs, looks: ages.length })) ages.push(ageMs);
  return ages;
}

describe("a job applied for", () => {
  test("is looked at within a minute of being given, on a network nobody knows", () => {
    const ages = looks(pauseUntilGiven, {}, 10 * MINUTE);
    expect(ages[0]).toBe(SECOND);
    for (const [i, age] of ages.entries()) expect(age - (ages[i - 1] ?? 0)).toBeLessThanOrEqual(MINUTE);
    expect(ages.length).toBeLessThan(20);
  });

  test("is looked at first when it usually has been given", () => {
    const [first = 0] = looks(pauseUntilGiven, { learnt: threeMinutes }, HOUR);
    expect(first).toBeGreaterThan(2.8 * MINUTE);
    expect(first).toBeLessThan(3.6 * MINUTE);
  });

  test("is looked at every ten minutes where it takes days, however sure that is", () => {
    const days = learnDelay(NOTHING_LEARNT, { afterMs: 2 * DAY, byMs: 3 * DAY });
    const ages = looks(pauseUntilGiven, { learnt: days }, HOUR);
    expect(ages.length).toBeGreaterThanOrEqual(5);
  });

  test.each([1, 34, 1_000])("is looked at every minute from the earliest to the latest usual time, with %i others", (waiting) => {
    const twoToFour = learnt(200, 4, (chance) => 2 * MINUTE * (1 + chance.next()));
    for (const early of [0, 30 * SECOND]) {
      const ages = [
        early,
        ...looks((wait) => pauseUntilGiven({ ...wait, ageMs: early + wait.ageMs }), { learnt: twoToFour, waiting }, 4 * MINUTE),
      ];
      const inRange = [2 * MINUTE, ...ages.filter((age) => age > 2 * MINUTE)];
      for (const [i, age] of inRange.entries()) expect(age - (inRange[i - 1] ?? 2 * MINUTE)).toBeLessThanOrEqual(MINUTE);
    }
  });

  test("is looked at less often where the hour or the day has no room for all that wait", () => {
    const free = { learnt: threeMinutes, waiting: 10, calls: 10, limits: TIER_LIMITS.free, looks: 3, ageMs: 2.9 * MINUTE };
    const pause = (room: Wait["room"]): number => pauseUntilGiven({ ...WAIT, ...free, room });
    expect(pause({ hour: 60, day: 500 })).toBeLessThanOrEqual(MINUTE);
    expect(pause({ hour: 10, day: 500 })).toBeGreaterThan(2 * MINUTE);
    expect(pause({ hour: 60, day: 10 })).toBeGreaterThan(2 * MINUTE);
  });

  test("is looked at every minute with others if one list shows them all, where each by itself has no room", () => {
    const free = {
      learnt: threeMinutes,
      waiting: 10,
      limits: TIER_LIMITS.free,
      looks: 3,
      ageMs: 2.9 * MINUTE,
      room: { hour: 25, day: 200 },
    };
    expect(pauseUntilGiven({ ...WAIT, ...free, calls: 1 })).toBeLessThanOrEqual(MINUTE);
    expect(pauseUntilGiven({ ...WAIT, ...free, calls: 10, room: { hour: 15, day: 200 } })).toBeGreaterThan(MINUTE);
  });

  test("is looked at every minute until the last usual time has passed, and then by its lateness", () => {
    const twoToFour = learnt(200, 4, (chance) => 2 * MINUTE * (1 + chance.next()));
    const free = { ...WAIT, learnt: twoToFour, limits: TIER_LIMITS.free, room: roomOf(TIER_LIMITS.free), looks: 4 };
    for (const minutes of [3.5, 4, 4.3]) expect(pauseUntilGiven({ ...free, ageMs: minutes * MINUTE })).toBeLessThanOrEqual(MINUTE);
    expect(pauseUntilGiven({ ...free, ageMs: HOUR })).toBeGreaterThan(5 * MINUTE);
  });

  test("is looked at again within seconds if it is late on a network that gives at once", () => {
    const atOnce = learnt(50, 5, () => 500);
    expect(pauseUntilGiven({ ...WAIT, learnt: atOnce, ageMs: 40 * SECOND, looks: 1 })).toBeLessThanOrEqual(10 * SECOND);
  });

  test("that is never given is looked at ever more rarely, also after others were given at once", () => {
    const atOnce = learnt(50, 5, () => 500);
    const ages = looks(pauseUntilGiven, { learnt: atOnce, waiting: 30, limits: TIER_LIMITS.free, room: roomOf(TIER_LIMITS.free) }, DAY);
    const pauses = ages.map((age, i) => age - (ages[i - 1] ?? 0));
    expect(30 * pauses.filter((pause) => pause <= MINUTE).length).toBeLessThan(TIER_LIMITS.free.perDay);
    expect(pauses.at(-1)).toBeGreaterThan(HOUR);
    const withRoom = looks(pauseUntilGiven, { learnt: atOnce }, DAY);
    expect(withRoom.filter((age) => age < HOUR).length).toBeLessThan(75);
    expect(withRoom.filter((age) => age > 12 * HOUR).length).toBeLessThan(75);
  });

  test("does not use up a small quota with many others", () => {
    const ages = looks(pauseUntilGiven, { learnt: threeMinutes, waiting: 20, limits: TIER_LIMITS.free, looks: 3 }, DAY);
    expect(20 * ages.length).toBeLessThan(TIER_LIMITS.free.perDay);
  });
});

describe("checks that an application reserves", () => {
  test("are as many as it usually takes, within bounds", () => {
    expect(noticeCalls(NOTHING_LEARNT)).toBe(3);
    expect(noticeCalls(learnt(50, 5, () => 500))).toBe(3);
    const wide = learnt(200, 6, (chance) => MINUTE * (1 + 9 * chance.next()));
    expect(noticeCalls(wide)).toBeGreaterThan(4);
    expect(noticeCalls(wide)).toBeLessThanOrEqual(12);
    expect(noticeCalls(learnDelay(NOTHING_LEARNT, { afterMs: 10 * MINUTE, byMs: 30 * DAY }))).toBe(3);
  });
});

describe("a verdict or a payment", () => {
  test("is looked for ever more rarely, a dozen times in thirty days", () => {
    const ages = looks(pauseUntilNews, {}, 30 * DAY);
    expect(ages.length).toBeLessThan(14);
    for (const [i, age] of ages.entries()) expect(age - (ages[i - 1] ?? 0)).toBeGreaterThanOrEqual((ages[i - 1] ?? 0) - (ages[i - 2] ?? 0));
  });

  test("is looked for when it usually comes, and that more than twice only as what is late", () => {
    const ages = looks(pauseUntilNews, { learnt: threeMinutes }, 30 * DAY);
    expect(ages[0]).toBeGreaterThan(2.8 * MINUTE);
    expect(ages.length).toBeLessThan(14);
    expect(ages.filter((age) => age < HOUR).length).toBeLessThanOrEqual(4);
  });

  test("stays within the share of exploring, however many wait", () => {
    const every = pauseUntilNews({ ...WAIT, waiting: 500 });
    expect((500 * DAY) / every).toBeLessThanOrEqual(TIER_LIMITS.pro.perDay * 0.05);
  });

  test("is read in the lane of exploring, and an application in that of what is owed", () => {
    const lanes = ["applied", "assigned", "submitted", "accepted"].map((state) => laneOf({ kind: "job", state }));
    expect(lanes).toEqual(["obligation", "watch", "explore", "explore"]);
    expect(laneOf({ kind: "thread", state: "open" })).toBe("watch");
  });
});

test("timings learnt of a network outlive the process, and are written once a minute at most", () => {
  const clock = virtualClock();
  const rows: NetworkStateRow[] = [];
  const timings = createJobTimings(clock, ({ put }) => void rows.push(...put));
  for (let i = 0; i < 50; i++) timings.saw("given", { afterMs: 0, byMs: SECOND });
  expect(rows).toHaveLength(1);
  const next = createJobTimings(clock, () => undefined);
  next.restore(rows);
  expect(delayAt(next.of("given"), 0, 0.9)).toBeLessThanOrEqual(1.2 * SECOND);
  expect(next.of("paid")).toEqual(NOTHING_LEARNT);
});

test("a runtime starts with what an earlier one learnt on the same store", async () => {
  const clock = virtualClock();
  const random = seededRandom(1);
  const store = openSqliteStore({ path: ":memory:", clock, random });
  const kept: Promise<void>[] = [];
  const earlier = createJobTimings(clock, (change) => void kept.push(store.saveNetworkState(change, clock.now())));
  earlier.saw("given", { afterMs: 2.8 * MINUTE, byMs: 3 * MINUTE });
  await clock.run(Promise.all(kept));
  const transport = async () => ({ kind: "answer", status: 200, headers: {}, text: "[]", elapsedMs: 1 }) as const;
  const runtime = virtualRuntime({ specialists: [], store, transport, keyOf: () => undefined, clock, random });
  await clock.run(runtime.start());
  expect(delayAt(runtime.parts.timings.of("given"), 0, 0.5)).toBeGreaterThan(2.8 * MINUTE);
  await clock.run(runtime.stop());
  await clock.run(store.close());
});
