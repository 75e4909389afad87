/** Compares the memory of a store with its rows, field by field: a difference means that a fact was missed. */
import { slotIndex } from "../../limits/window-counts.ts";
import { deltaAt } from "../../limits/quota.ts";
import { pictureOf } from "../../live/picture.ts";
import type { Present } from "../../live/present.ts";
import { PendingCells, type PendingCell } from "./pending-cells.ts";
import type { PlainDeliveries } from "./deliveries.ts";
import { load, type FactRows } from "./load.ts";

/*
 * Lost by design when a process ends: the claims of events (`isClaimed`; a begun handling is in the row), the knowledge of stored steps and
 * rows (`hasSteps`, `isStored`), the division of waiting events between memory and queue, waits of lanes, and caches of rows: specialists'
 * values, first due times, watched jobs of a key.
 */

export interface InMemory {
  readonly present: Present;
  readonly cells: readonly PendingCell[];
  readonly counts: ReturnType<PlainDeliveries["pendingCounts"]>;
}

/** Returns the lines that only one of the two has: none if memory and rows are the same. */
export function differences(rowsNow: FactRows, { present, cells, counts }: InMemory): readonly string[] {
  const loaded = load(rowsNow);
  const uncounted = new PendingCells();
  for (const { attempt, countedAt } of loaded.uncounted) {
    const { key, lane, cost } = attempt;
    const { hourCell, dayCell, slot, count } = deltaAt(countedAt, slotIndex(lane), cost);
    uncounted.add(key, 0, hourCell, slot, count);
    uncounted.add(key, 1, dayCell, slot, count);
  }
  const told = new Map<string, number>();
  for (const { specialist, word } of loaded.told) told.set(`${specialist} ${word}`, (told.get(`${specialist} ${word}`) ?? 0) + 1);
  const rows = [...pictureOf(loaded.present), ...cellLines(uncounted.all()), ...[...told].map(([who, n]) => `told ${who} ${n}`)];
  const memory = [
    ...pictureOf(present),
    ...cellLines(cells),
    ...counts.map(({ specialist, kind, n }) => `told ${specialist} ${kind} ${n}`),
  ];
  const [inRows, inMemory] = [new Set(rows), new Set(memory)];
  return [
    ...rows.filter((line) => !inMemory.has(line)).map((line) => `only in rows: ${line}`),
    ...memory.filter((line) => !inRows.has(line)).map((line) => `only in memory: ${line}`),
    ...(loaded.present.last === present.last ? [] : [`the last fact is ${loaded.present.last} in rows and ${present.last} in memory`]),
  ];
}

function cellLines(cells: readonly PendingCell[]): readonly string[] {
  return cells.map(({ key, span, cell, slot, count }) => `cell ${key} ${span} ${cell} ${slot} ${count}`);
}
