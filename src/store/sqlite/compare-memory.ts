/** Compares the memory of a store with its rows, field by field: a difference means that a fact was missed. */
import { slotIndex } from "../../limits/window-counts.ts";
import { deltaAt } from "../../limits/quota.ts";
import { differing, pictureOf } from "../../live/picture.ts";
import type { Present } from "../../live/present.ts";
import { PendingCells, type PendingCell } from "./pending-cells.ts";
import { load, type FactRows } from "./load.ts";

/*
 * Lost by design when a process ends: the claims of events (`isClaimed`; a begun handling is in the row), the knowledge of stored steps and
 * rows (`hasSteps`, `isStored`), the division of waiting events between memory and queue, waits of lanes, and caches of rows: specialists'
 * values, first due times, watched jobs of a key.
 */

export interface InMemory {
  readonly present: Present;
  readonly cells: readonly PendingCell[];
}

/** Returns a line for each difference: none if memory and rows are the same. */
export function differences(rowsNow: FactRows, { present, cells }: InMemory): readonly string[] {
  const loaded = load(rowsNow);
  const uncounted = new PendingCells();
  for (const { attempt, countedAt } of loaded.uncounted) {
    const { key, lane, cost } = attempt;
    uncounted.add(key, deltaAt(countedAt, slotIndex(lane), cost));
  }
  const rows = new Map(pictureOf(loaded.present));
  for (const line of cellLines(uncounted.all())) rows.set(line, undefined);
  const memory = new Map(pictureOf(present));
  for (const line of cellLines(cells)) memory.set(line, undefined);
  return [
    ...differing(rows, memory),
    ...(loaded.present.last === present.last ? [] : [`the last fact is ${loaded.present.last} in rows and ${present.last} in memory`]),
  ];
}

function cellLines(cells: readonly PendingCell[]): readonly string[] {
  return cells.map(({ key, span, cell, slot, count }) => `cell ${key} ${span} ${cell} ${slot} ${count}`);
}
