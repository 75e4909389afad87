/** Sharing polls of public lists: only while keys are seen to get the same list, and evenly spread. */
import { describe, expect, test } from "vitest";
import { seededRandom } from "../../src/core/random.ts";
import { MINUTE } from "../../src/core/units.ts";
import { agreement, compared, isShared, placePoll, UNPROVEN, type Sharing } from "../../src/polling/poll-sharing.ts";

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
