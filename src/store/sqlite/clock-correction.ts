/**
 * Whether as much time has passed between two processes as the clock of the later one says. It is in doubt until the network has
 * told that process the time, and meanwhile what was counted before ages by the time in which something ran. The caller owns the
 * transaction.
 */
import type { DatabaseSync } from "node:sqlite";
import { cellAt, type WindowShape } from "../../limits/window-cells.ts";
import { JUMP_MS, type Ahead } from "../../limits/ledger-clock.ts";
import { maybeNumber, numberOf } from "./rows.ts";

interface Doubt {
  /** How much of the time since it was last sure has passed, if at all, while nothing ran. */
  readonly doubtedMs: number;
  /** By how much it was ahead of the network then, at least. */
  readonly aheadMs: number;
  /** When the first process began that has not heard the network's time. */
  readonly from: number;
}

/** What is to be counted later, now that the time is known. */
export interface Overstated {
  /** By how much less time has passed than was thought. 0 where it was right. */
  readonly ms: number;
  /** What was counted since then may have been dated by any clock. */
  readonly unsureFrom: number;
}

export class ClockDoubt {
  readonly #sql: ReturnType<typeof statements>;
  /** When this process began. */
  #began: number | undefined;
  /** Null where there is no doubt; undefined before it is read. */
  #doubt: Doubt | null | undefined;

  constructor(db: DatabaseSync) {
    this.#sql = statements(db);
  }

  /** This process begins at `now`, by its own clock or where the ledger goes on. */
  begin(now: number): void {
    this.#sql.begin.run(now);
    this.#began = now;
    this.forget();
  }

  /** Where what was counted in a cell counts as long as there is doubt: later by the time that may not have passed, but not after this process began. */
  heldCell(shape: WindowShape, cell: number): number {
    const doubtedMs = this.#doubtedMs();
    if (doubtedMs === 0 || this.#began === undefined) return cell;
    return Math.max(cell, Math.min(cell + Math.ceil(doubtedMs / shape.cellMs), cellAt(shape, this.#began)));
  }

  /** By how much later a park was set, and ends, as long as there is doubt: by what may not have passed, but before this process began. */
  heldMs(since: number): number {
    return this.#began === undefined ? 0 : Math.max(0, Math.min(this.#doubtedMs(), this.#began - since));
  }

  /** How early it may be as far as anybody knows. */
  earliest(now: number): number {
    return now - this.#doubtedMs();
  }

  /**
   * The network has told the time, and the ledger is ahead of it by so much; or an answer has come that does not tell, and the
   * clock is believed. Undefined where there was no doubt.
   */
  end(ahead: Ahead | undefined, now: number): Overstated | undefined {
    const doubt = this.#read();
    if (doubt === null) {
      if (ahead !== undefined) this.#sql.ahead.run(ahead.leastMs);
      return undefined;
    }
    const overMs = ahead === undefined ? 0 : ahead.mostMs - doubt.aheadMs;
    const isOver = overMs >= JUMP_MS;
    this.#sql.end.run(now, ahead === undefined ? doubt.aheadMs : isOver ? ahead.leastMs : Math.min(doubt.aheadMs, ahead.leastMs));
    this.forget();
    return { ms: isOver ? Math.ceil(overMs) : 0, unsureFrom: doubt.from };
  }

  forget(): void {
    this.#doubt = undefined;
  }

  #doubtedMs(): number {
    const doubt = this.#read();
    return doubt === null ? 0 : Math.max(0, doubt.doubtedMs);
  }

  #read(): Doubt | null {
    if (this.#doubt !== undefined) return this.#doubt;
    const row = this.#sql.read.get();
    const from = row === undefined ? undefined : maybeNumber(row, "unsure_from");
    this.#doubt =
      row === undefined || from === undefined
        ? null
        : { doubtedMs: numberOf(row, "seen_at") - numberOf(row, "sure_at"), aheadMs: numberOf(row, "ahead_ms"), from };
    return this.#doubt;
  }
}

function statements(db: DatabaseSync) {
  return {
    read: db.prepare("SELECT seen_at, sure_at, ahead_ms, unsure_from FROM ledger_time WHERE one = 1"),
    begin: db.prepare("UPDATE ledger_time SET unsure_from = coalesce(unsure_from, ?1), seen_at = max(seen_at, ?1) WHERE one = 1"),
    end: db.prepare("UPDATE ledger_time SET sure_at = ?, ahead_ms = ?, unsure_from = NULL WHERE one = 1"),
    ahead: db.prepare("UPDATE ledger_time SET ahead_ms = ? WHERE one = 1"),
  };
}
