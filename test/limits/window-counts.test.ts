/** Sparse cells against a plain list of every request: the same sums at every moment, whatever the order. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { DAY, HOUR, MINUTE, SECOND } from "../../src/core/units.ts";
import {
  addToCell,
  cellAt,
  emptyCells,
  expireCells,
  listCells,
  SLOTS,
  whenLeft,
  WINDOW_SHAPES,
  WINDOWS,
} from "../../src/limits/window-counts.ts";

const T0 = Date.UTC(2026, 2, 1);

describe("cells", () => {
  test("count what a plain list would, with charges in the past and the future, for both windows", () => {
    const step = fc.record({
      passes: fc.integer({ min: 0, max: 20 * MINUTE }),
      slot: fc.integer({ min: 0, max: SLOTS.length - 1 }),
      shift: fc.integer({ min: -HOUR, max: 3 * MINUTE }),
      count: fc.integer({ min: 1, max: 5 }),
    });
    fc.assert(
      fc.property(fc.constantFrom(...WINDOWS), fc.array(step, { maxLength: 150 }), (name, steps) => {
        const shape = WINDOW_SHAPES[name];
        const cells = emptyCells(name);
        const plain: { readonly leaves: number; readonly slot: number; readonly count: number }[] = [];
        let now = T0;
        for (const { passes, slot, shift, count } of steps) {
          now += passes;
          const cell = cellAt(shape, now + shift);
          addToCell(cells, cell, slot, count);
          plain.push({ leaves: (cell + 1) * shape.cellMs + shape.lengthMs + shape.marginMs, slot, count });
          expireCells(cells, now);
          const live = plain.filter(({ leaves }) => leaves > now);
          expect(cells.total).toBe(live.reduce((sum, one) => sum + one.count, 0));
          expect(cells.used).toEqual(SLOTS.map((_slot, i) => live.reduce((sum, one) => sum + (one.slot === i ? one.count : 0), 0)));
        }
      }),
      { numRuns: 60 },
    );
  });

  test("nothing leaves before its last moment has left, and all of it soon after", () => {
    for (const name of WINDOWS) {
      const shape = WINDOW_SHAPES[name];
      for (const into of [0, 1, shape.cellMs - 1]) {
        const cells = emptyCells(name);
        const start = cellAt(shape, T0) * shape.cellMs;
        addToCell(cells, cellAt(shape, start + into), 1, 1);
        expireCells(cells, start + into + shape.lengthMs);
        expect(cells.total).toBe(1);
        expireCells(cells, start + shape.cellMs + shape.lengthMs + shape.marginMs);
        expect([cells.total, cells.entries.length]).toEqual([0, 0]);
      }
    }
  });

  test("say when enough has left", () => {
    const cells = emptyCells("hour");
    for (let i = 0; i < 5; i++) addToCell(cells, cellAt(cells.shape, T0 + i * MINUTE), 0, 2);
    expect(whenLeft(cells, (_used, total) => total <= 6)).toBe(T0 + MINUTE + 10 * SECOND + HOUR + SECOND);
    expect(whenLeft(cells, () => false)).toBeUndefined();
    expect(cells.total).toBe(10);
  });

  test("hold more than one entry's worth without losing any", () => {
    const cells = emptyCells("day");
    addToCell(cells, cellAt(cells.shape, T0), 6, 5_000_000);
    addToCell(cells, cellAt(cells.shape, T0), 6, 5);
    expect(listCells(cells).reduce((sum, { count }) => sum + count, 0)).toBe(5_000_005);
    expireCells(cells, T0 + 2 * DAY);
    expect(cells.total).toBe(0);
  });
});
