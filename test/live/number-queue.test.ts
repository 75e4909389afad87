/** The queue of numbers: first in, first out, with the place of each, however many were taken before. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { NumberQueue } from "../../src/live/number-queue.ts";

test("any mix of pushes and takes is what a plain list would give", () => {
  const step = fc.oneof(
    fc.integer({ min: 1, max: 1_000 }).map((number) => ({ push: number })),
    fc.integer({ min: 0, max: 5 }).map((take) => ({ take })),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const queue = new NumberQueue();
      let plain: number[] = [];
      for (const one of steps) {
        const pushed = "push" in one ? [one.push] : [];
        const take = "take" in one ? one.take : 0;
        for (const number of pushed) queue.push(number);
        expect(queue.take(take)).toEqual(plain.slice(0, take));
        plain = [...plain.slice(take), ...pushed];
        expect([queue.length, [...queue]]).toEqual([plain.length, plain]);
        for (const number of [plain[0] ?? 0, plain.at(-1) ?? 0, -1]) expect(queue.placeOf(number)).toBe(plain.indexOf(number));
      }
    }),
    { numRuns: 300 },
  );
});

test("a number that was taken has no place any longer", () => {
  const queue = new NumberQueue();
  for (const number of [7, 8, 9]) queue.push(number);
  queue.take(1);
  expect([queue.placeOf(7), queue.placeOf(8), queue.placeOf(9)]).toEqual([-1, 0, 1]);
});
