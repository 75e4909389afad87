/** Quota cells that are counted in memory and written later, with those of other answers. */
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

  /** Counts more in a cell. A key has few of them between two writings: its answers of some seconds share one or two. */
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

  /** All of them, once. */
  take(): readonly PendingCell[] {
    const all = this.all();
    this.#cells = new Map();
    return all;
  }
}
