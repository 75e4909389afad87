/** Quota cells that are counted in memory and written together at a fold. */
import type { KeyId } from "../../core/ids.ts";

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

  /** Adds to a cell. A key has one or two between two folds: the answers of ten seconds share one. */
  add(key: KeyId, span: number, cell: number, slot: number, count: number): void {
    const cells = this.#cells.get(key);
    if (cells === undefined) return void this.#cells.set(key, [{ key, span, cell, slot, count }]);
    for (const known of cells) if (known.cell === cell && known.span === span && known.slot === slot) return void (known.count += count);
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
