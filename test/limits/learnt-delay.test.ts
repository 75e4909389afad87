/** Delays learnt from looks that each saw something happen within a span. */
import { expect, test } from "vitest";
import { seededRandom } from "../../src/core/random.ts";
import { MINUTE, SECOND } from "../../src/core/units.ts";
import {
  chanceWithin,
  delayAt,
  learnDelay,
  NOTHING_LEARNT,
  readDelay,
  storeDelay,
  type LearntDelay,
} from "../../src/limits/learnt-delay.ts";

function times(count: number, span: { readonly afterMs: number; readonly byMs: number }, known: LearntDelay = NOTHING_LEARNT): LearntDelay {
  return Array.from({ length: count }).reduce<LearntDelay>((learnt) => learnDelay(learnt, span), known);
}

test("nothing learnt says nothing", () => {
  expect(delayAt(NOTHING_LEARNT, 0, 0.5)).toBeUndefined();
});

test("a step that always takes three minutes is expected then, and late by a fifth at most", () => {
  const known = times(5, { afterMs: 2.8 * MINUTE, byMs: 3 * MINUTE });
  expect(delayAt(known, 0, 0.5)).toBeGreaterThanOrEqual(2.8 * MINUTE);
  expect(delayAt(known, 0, 0.5)).toBeLessThanOrEqual(3.6 * MINUTE);
});

test("after what is known has passed, it says nothing", () => {
  expect(delayAt(times(5, { afterMs: 0, byMs: SECOND }), MINUTE, 0.5)).toBeUndefined();
});

test("a step of two to four minutes is learnt from reads at any time, each of which shows only if it has happened", () => {
  const chance = seededRandom(4);
  let known = NOTHING_LEARNT;
  for (let i = 0; i < 200; i++) {
    const happened = 2 * MINUTE * (1 + chance.next());
    const looks = [1, 2, 3, 4, 5, 6].map((at) => (at + chance.next()) * MINUTE);
    const byMs = looks.find((at) => at >= happened) ?? 8 * MINUTE;
    known = learnDelay(known, { afterMs: looks.findLast((at) => at < happened) ?? 0, byMs });
  }
  const [early = 0, half = 0, late = 0] = [0.1, 0.5, 0.9].map((share) => delayAt(known, 0, share));
  expect(early).toBeGreaterThan(1.5 * MINUTE);
  expect(half).toBeGreaterThan(2.4 * MINUTE);
  expect(half).toBeLessThan(3.7 * MINUTE);
  expect(late).toBeLessThan(5.5 * MINUTE);
});

test("a network that became faster is learnt within some fifty jobs", () => {
  const slow = times(50, { afterMs: 9 * MINUTE, byMs: 10 * MINUTE });
  expect(delayAt(times(50, { afterMs: 0, byMs: SECOND }, slow), 0, 0.5)).toBeLessThanOrEqual(2 * SECOND);
});

test("a stored row holds what was learnt, and a damaged row nothing", () => {
  const known = times(3, { afterMs: SECOND, byMs: MINUTE });
  const again = readDelay(storeDelay(known));
  expect(delayAt(again, 0, 0.5)).toBe(delayAt(known, 0, 0.5));
  expect(readDelay({ 3: "many", 4: -1 })).toEqual(NOTHING_LEARNT);
});

test("the chance that it has happened grows from nothing to certainty over the usual times", () => {
  const known = times(20, { afterMs: 2 * MINUTE, byMs: 4 * MINUTE });
  const chances = [1, 2.5, 3, 5].map((minutes) => chanceWithin(known, { afterMs: 0, byMs: minutes * MINUTE }) ?? Number.NaN);
  expect(chances[0]).toBe(0);
  expect(chances).toEqual(chances.toSorted((a, b) => a - b));
  expect(chances.at(-1)).toBeCloseTo(1, 1);
  expect(chanceWithin(NOTHING_LEARNT, { afterMs: 0, byMs: MINUTE })).toBeUndefined();
});
