/** The heap: items come out in order, whatever the order they went in. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { createHeap } from "../../src/core/priority-queue.ts";

test("items come out in order, also where pushes and pops alternate", () => {
  const steps = fc.array(fc.oneof(fc.integer(), fc.constant("pop" as const)), { maxLength: 200 });
  fc.assert(
    fc.property(steps, (given) => {
      const heap = createHeap<number>((a, b) => a < b);
      const sorted: number[] = [];
      for (const step of given) {
        const popped = step === "pop" ? [heap.pop(), sorted.shift()] : [];
        expect(popped[0]).toBe(popped[1]);
        if (step !== "pop") {
          heap.push(step);
          sorted.push(step);
          sorted.sort((a, b) => a - b);
        }
        expect([heap.size, heap.peek()]).toEqual([sorted.length, sorted[0]]);
      }
      expect(Array.from(sorted, () => heap.pop())).toEqual(sorted);
    }),
    { numRuns: 300 },
  );
});

test("an empty heap has nothing to give, and takes items again", () => {
  const heap = createHeap<{ readonly at: number }>((a, b) => a.at < b.at);
  expect([heap.peek(), heap.pop(), heap.size]).toEqual([undefined, undefined, 0]);
  heap.push({ at: 1 });
  expect(heap.pop()).toEqual({ at: 1 });
  expect([heap.pop(), heap.size]).toEqual([undefined, 0]);
  heap.push({ at: 2 });
  expect(heap.peek()).toEqual({ at: 2 });
});
