/** Cells of the quota: the windows that a row counts in, and those that are counted in memory and written together. */
import type { KeyId } from "../../core/ids.ts";
import type { CellDelta } from "../../limits/quota.ts";
import { WINDOW_SHAPES } from "../../limits/window-counts.ts";

/**
 * Windows that the cells of a row are counted in. A request is one cell of ten seconds, which counts in the hour and in its minute of the day;
 * corrections and what is gathered count in one of them.
 */
export const SPAN = { hour: 0, day: 1, both: 2 } as const;
export const CELLS_A_MINUTE = WINDOW_SHAPES.day.cellMs / WINDOW_SHAPES.hour.cellMs;

export interface PendingCell {
  readonly key: KeyId;
  readonly span: number;
  readonly cell: number;
  readonly slot: number;
  readonly count: number;
}

type Counted = Omit<PendingCell, "count"> & { count: number };

export class PendingCells {
  #cells = new Map<KeyId, Counted[]>();

  /** Adds requests to a cell of ten seconds. A key has one or two between two folds: the answers of that time share one. */
  add(key: KeyId, { hourCell: cell, slot, count }: Pick<CellDelta, "hourCell" | "slot" | "count">): void {
    const span = SPAN.both;
    const cells = this.#cells.get(key);
    if (cells === undefined) return void this.#cells.set(key, [{ key, span, cell, slot, count }]);
    for (const known of cells) if (known.cell === cell && known.slot === slot) return void (known.count += count);
    cells.push({ key, span, cell, slot, count });
  }

  get keys(): number {
    return this.#cells.size;
  }

  of(key: KeyId): readonly PendingCell[] {
    return this.#cells.get(key) ?? [];
  }

  all(): readonly PendingCell[] {
    return [...this.#cells.values()].flat();
  }

  /** Returns all of them and forgets them. */
  take(): readonly PendingCell[] {
    const all = this.all();
    this.#cells = new Map();
    return all;
  }
}
