/** Quota cells that are counted in memory and written together at a fold. */
import type { KeyId } from "../../core/ids.ts";

export interface PendingCell {
  readonly key: KeyId;
  readonly span: number;
  readonly cell: number;
  readonly slot: number;
  readonly count: number;
}

export class PendingCells {
  #cells = new Map<KeyId, PendingCell[]>();

  /** Adds to a cell. A key has one or two between two folds: the answers of some seconds share them. */
  add(cell: PendingCell): void {
    const cells = this.#cells.get(cell.key);
    if (cells === undefined) return void this.#cells.set(cell.key, [cell]);
    const at = cells.findIndex((known) => known.cell === cell.cell && known.span === cell.span && known.slot === cell.slot);
    const known = cells[at];
    if (known === undefined) cells.push(cell);
    else cells[at] = { ...cell, count: known.count + cell.count };
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
