/** Numbers of facts and rows from blocks. */
import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { NumberBlocks } from "../../../src/store/postgres/blocks.ts";
import { BLOCK } from "../../../src/store/sqlite/numbers.ts";

/** Blocks of one process; each second block that the server gives is another process's. */
async function blocks(): Promise<{ readonly numbers: NumberBlocks; readonly taken: () => number }> {
  let given = 8;
  const numbers = new NumberBlocks({ query: () => Promise.resolve([{ number: (given += 2) }]) }, "retinue");
  await numbers.renew();
  return { numbers, taken: () => (given - 8) / 2 };
}

test("facts have rising numbers over the end of a block, and all of a block's numbers are used", async () => {
  const { numbers } = await blocks();
  let last = numbers.before.facts;
  const firsts: number[] = [];
  for (let count = 0; count < 3 * BLOCK; count++) {
    const next = numbers.fact(last);
    expect(numbers.fact(last)).toBe(next); // one that is not used is given again
    if (next !== last + 1 || count === 0) firsts.push(count);
    if (next <= last) throw new Error(`${next} after ${last}`);
    last = next;
    if (count % 1_000 === 0) await setImmediate();
  }
  expect(firsts).toEqual([0, BLOCK, 2 * BLOCK]);
});

test("a store takes a block for what it uses, and none for what it does not", async () => {
  const { numbers, taken } = await blocks();
  for (let last = numbers.before.facts, count = 0; count < 2 * BLOCK; count++) {
    last = numbers.fact(last);
    if (count % 1_000 === 0) await setImmediate();
  }
  expect(taken()).toBe(4); // two at first, for facts and rows, and two more for facts
  const rows = new Set(Array.from({ length: BLOCK }, () => numbers.row()));
  expect(rows.size).toBe(BLOCK);
});
