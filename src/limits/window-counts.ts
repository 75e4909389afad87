/** A trailing window of requests as sparse cells with running sums: present counts per lane, without the attempts themselves. */
import { LANES, type Lane } from "../contract/operations.ts";
import { HOUR, MINUTE, SECOND } from "../core/units.ts";

/** External calls: made by another user of the key, as far as the server's headers show it. */
export const EXTERNAL = "foreign";
export type Slot = Lane | typeof EXTERNAL;

/** Slots by which calls are counted, in the order of their index. */
export const SLOTS: readonly Slot[] = [...LANES, EXTERNAL];

const SLOT_INDEX: ReadonlyMap<Slot, number> = new Map(SLOTS.map((slot, index) => [slot, index]));

export function slotIndex(slot: Slot): number {
  return SLOT_INDEX.get(slot) ?? SLOTS.length - 1;
}

export const WINDOWS = ["hour", "day"] as const;
export type WindowName = (typeof WINDOWS)[number];

export interface WindowShape {
  readonly lengthMs: number;
  /** Coarser cells cost utilisation: a cell expires as a whole, with its last moment. */
  readonly cellMs: number;
  /** Margin for a server whose clock runs faster than ours: 100 parts per million of the length, rounded up. */
  readonly marginMs: number;
}

export const WINDOW_SHAPES: { readonly [name in WindowName]: WindowShape } = {
  hour: { lengthMs: HOUR, cellMs: 10 * SECOND, marginMs: SECOND },
  day: { lengthMs: 24 * HOUR, cellMs: MINUTE, marginMs: 10 * SECOND },
};

/** Eight slots to a cell, so that a mark (cell and slot) sorts by time. */
const SLOTS_PER_CELL = 8;
/** Count and mark share one number: marks stay below 2^32 until the year 2140, counts below 2^20. */
const COUNT_LIMIT = 2 ** 20;
/** Expired entries are dropped once this many precede the first live one. */
const COMPACT_AFTER = 64;

export interface Cells {
  readonly shape: WindowShape;
  /** `mark * COUNT_LIMIT + count`, sorted, live from `head` on. One number an entry, because a busy key has thousands. */
  entries: number[];
  head: number;
  /** Running sums by slot. */
  readonly used: number[];
  total: number;
}

export function emptyCells(name: WindowName): Cells {
  return { shape: WINDOW_SHAPES[name], entries: [], head: 0, used: SLOTS.map(() => 0), total: 0 };
}

/** The number of the cell that holds a moment. */
export function cellAt(shape: WindowShape, atMs: number): number {
  return Math.floor(atMs / shape.cellMs);
}

/** Time at which a cell has left the window completely. */
export function cellLeavesAt(shape: WindowShape, cell: number): number {
  return (cell + 1) * shape.cellMs + shape.lengthMs + shape.marginMs;
}

/** Counts `count` more in a cell, which may lie in the future (an answer that may still be in flight). */
export function addToCell(cells: Cells, cell: number, slot: number, count: number): void {
  if (count <= 0) return;
  const part = Math.min(count, COUNT_LIMIT - 1);
  cells.used[slot] = (cells.used[slot] ?? 0) + part;
  cells.total += part;
  const mark = cell * SLOTS_PER_CELL + slot;
  const at = lowerBound(cells, mark * COUNT_LIMIT);
  const entry = cells.entries[at];
  if (entry !== undefined && Math.floor(entry / COUNT_LIMIT) === mark && (entry % COUNT_LIMIT) + part < COUNT_LIMIT)
    cells.entries[at] = entry + part;
  // Pushing to an empty array allocates 17 places: idle keys would need a tenth more memory.
  else if (cells.entries.length === 0) cells.entries = [mark * COUNT_LIMIT + part];
  else if (at === cells.entries.length) cells.entries.push(mark * COUNT_LIMIT + part);
  else cells.entries.splice(at, 0, mark * COUNT_LIMIT + part);
  if (count > part) addToCell(cells, cell, slot, count - part);
}

/** Drops the cells that have left the window by `now`. Amortised constant: each entry is dropped once. */
export function expireCells(cells: Cells, now: number): void {
  for (let entry = cells.entries[cells.head]; entry !== undefined; entry = cells.entries[cells.head]) {
    if (now < leavesAt(cells.shape, entry)) break;
    forget(cells.used, entry);
    cells.total -= entry % COUNT_LIMIT;
    cells.head++;
  }
  const emptied = cells.head > 0 && cells.head === cells.entries.length;
  if (emptied || (cells.head >= COMPACT_AFTER && cells.head * 2 >= cells.entries.length)) {
    cells.entries = cells.entries.slice(cells.head);
    cells.head = 0;
  }
}

/**
 * The first time at which `enough(used, total)` holds if nothing more is taken, or undefined if it never does. The arrays passed to it are
 * a scratch copy that changes between calls.
 */
export function whenLeft(cells: Cells, enough: (used: readonly number[], total: number) => boolean): number | undefined {
  const used = [...cells.used];
  let total = cells.total;
  for (let i = cells.head; i < cells.entries.length; i++) {
    const entry = cells.entries[i] ?? 0;
    forget(used, entry);
    total -= entry % COUNT_LIMIT;
    if (enough(used, total)) return leavesAt(cells.shape, entry);
  }
  return undefined;
}

export interface CellCount {
  readonly cell: number;
  readonly slot: number;
  readonly count: number;
}

/** Lists the counts, oldest first. */
export function listCells(cells: Cells): CellCount[] {
  return cells.entries.slice(cells.head).map((entry) => {
    const mark = Math.floor(entry / COUNT_LIMIT);
    return { cell: Math.floor(mark / SLOTS_PER_CELL), slot: mark % SLOTS_PER_CELL, count: entry % COUNT_LIMIT };
  });
}

function forget(used: number[], entry: number): void {
  const slot = Math.floor(entry / COUNT_LIMIT) % SLOTS_PER_CELL;
  used[slot] = (used[slot] ?? 0) - (entry % COUNT_LIMIT);
}

function leavesAt(shape: WindowShape, entry: number): number {
  return cellLeavesAt(shape, Math.floor(entry / COUNT_LIMIT / SLOTS_PER_CELL));
}

/** The first live entry not below `packed`; searched from the end, because nearly every charge is the newest. */
function lowerBound(cells: Cells, packed: number): number {
  const last = cells.entries.length - 1;
  if (last < cells.head || (cells.entries[last] ?? 0) < packed) return cells.entries.length;
  let low = cells.head;
  let high = last;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((cells.entries[middle] ?? 0) < packed) low = middle + 1;
    else high = middle;
  }
  return low;
}
