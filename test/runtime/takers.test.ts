/** Among which processes shards are shared out: one that takes none while some are free is left out, and is not waited for twice. */
import { expect, test } from "vitest";
import { Takers, type Taker } from "../../src/runtime/takers.ts";

const one = (number: number, shards: number, draining = false): Taker => ({
  number,
  draining,
  shards: Array.from({ length: shards }, (_, shard) => shard),
});
const numbers = (takers: readonly Taker[]): readonly number[] => takers.map(({ number }) => number);

test("a process that takes nothing while shards are free is left out, also when none is free any longer", () => {
  const takers = new Takers();
  const both = [one(1, 0), one(2, 512)];
  expect(numbers(takers.among(both, 512, 2, 0))).toEqual([1, 2]);
  expect(numbers(takers.among(both, 512, 2, 900))).toEqual([1, 2]);
  expect(numbers(takers.among(both, 512, 2, 1_000))).toEqual([2]);
  expect(numbers(takers.among([one(1, 0), one(2, 1_024)], 0, 2, 3_000))).toEqual([2]);
});

test("it is asked if it works, and shared with again once it answers; if it takes nothing then, it is asked later each time", () => {
  const takers = new Takers();
  const left = (now: number): void => {
    takers.among([one(1, 0), one(2, 512)], 512, 2, now);
    takers.among([one(1, 0), one(2, 512)], 512, 2, now + 1_500);
    takers.among([one(1, 0), one(2, 1_024)], 0, 2, now + 1_600);
  };
  left(0);
  expect([takers.toAsk(3_000), takers.toAsk(3_500), takers.toAsk(3_600)]).toEqual([[], [1], []]);
  expect(takers.toAsk(8_500)).toEqual([1]); // it has not answered
  takers.answered(1);
  expect(numbers(takers.among([one(1, 0), one(2, 1_024)], 0, 2, 9_000))).toEqual([1, 2]);
  left(10_000);
  expect([takers.toAsk(15_000), takers.toAsk(15_500)]).toEqual([[], [1]]);
  takers.answered(1);
  // It works: what was known of it is forgotten.
  takers.among([one(1, 512), one(2, 512)], 0, 2, 20_000);
  left(30_000);
  expect(takers.toAsk(33_500)).toEqual([1]);
});

test("one that is drained, or gone, or takes its first shards is none of them", () => {
  const takers = new Takers();
  const all = [one(1, 0, true), one(2, 1), one(3, 0)];
  takers.among(all, 500, 3, 0);
  expect(numbers(takers.among(all, 500, 3, 2_000))).toEqual([1, 2, 3]);
  expect(takers.toAsk(1e9)).toEqual([]);
});

test("one that has less than its share and leaves the rest for long is left out too, until it takes some", () => {
  const takers = new Takers();
  const stuck = [one(1, 41), one(2, 341), one(3, 341)];
  takers.among(stuck, 301, 2, 0);
  expect(numbers(takers.among(stuck, 301, 2, 14_000))).toEqual([1, 2, 3]);
  expect(numbers(takers.among(stuck, 301, 2, 15_000))).toEqual([2, 3]);
  const even = [one(1, 41), one(2, 492), one(3, 491)];
  expect(numbers(takers.among(even, 0, 2, 16_000))).toEqual([2, 3]);
  expect(takers.toAsk(17_000)).toEqual([1]);
  takers.answered(1);
  takers.among(stuck, 301, 2, 17_100); // the others have given its share back, and it leaves that too
  expect(numbers(takers.among(stuck, 301, 2, 18_100))).toEqual([2, 3]);
  expect(numbers(takers.among([one(1, 200), one(2, 412), one(3, 412)], 0, 2, 19_000))).toEqual([1, 2, 3]);
});

test("the share of one that is left out is not waited for at another that takes no more", () => {
  const takers = new Takers();
  const stopped = [one(1, 512), one(2, 341), one(3, 0)];
  takers.among(stopped, 171, 1, 0);
  expect(numbers(takers.among(stopped, 171, 1, 1_000))).toEqual([1, 2]);
  expect(numbers(takers.among(stopped, 171, 1, 15_000))).toEqual([1, 2]);
  expect(numbers(takers.among(stopped, 171, 1, 16_000))).toEqual([1]);
});
