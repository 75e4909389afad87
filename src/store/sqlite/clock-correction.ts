/**
 * Corrects the time between two processes. Until the network has reported the time to the later one, rows of earlier processes age only by
 * the time in which a process ran. The caller owns the transaction.
 */
import type { DatabaseSync } from "node:sqlite";
import { cellAt, type WindowShape } from "../../limits/window-counts.ts";
import { JUMP_MS, type Ahead } from "../../limits/ledger-clock.ts";
import { maybeNumber, numberOf } from "./rows.ts";

interface Doubt {
  /** Unconfirmed part of the time since the last confirmation: nothing ran in it. */
  readonly doubtedMs: number;
  /** Least lead over the network at that time. */
  readonly aheadMs: number;
  /** Start of the first process that has not observed the network's time. */
  readonly from: number;
}

/** A correction to later times, now that the time is known. */
export interface Overstated {
  /** Overestimate of the passed time. 0 if it was right. */
  readonly ms: number;
  /** Rows counted since then may have been dated by any clock. */
  readonly unsureFrom: number;
}

export class ClockDoubt {
  readonly #sql: ReturnType<typeof statements>;
  /** Start of this process. */
  #began: number | undefined;
  /** Null if there is no doubt; undefined before it is read. */
  #doubt: Doubt | null | undefined;

  constructor(db: DatabaseSync) {
    this.#sql = statements(db);
  }

  /** Starts this process at `now`, by its own clock or the ledger's continuation. */
  begin(now: number): void {
    this.#sql.begin.run(now);
    this.#began = now;
    this.forget();
  }

  /** The cell in which a cell's requests count during the doubt: later by the unconfirmed time, but not after this process began. */
  heldCell(shape: WindowShape, cell: number): number {
    const doubtedMs = this.#doubtedMs();
    if (doubtedMs === 0 || this.#began === undefined) return cell;
    return Math.max(cell, Math.min(cell + Math.ceil(doubtedMs / shape.cellMs), cellAt(shape, this.#began)));
  }

  /** Delay of a cooldown's end during the doubt: the unconfirmed time, before this process began. */
  heldMs(since: number): number {
    return this.#began === undefined ? 0 : Math.max(0, Math.min(this.#doubtedMs(), this.#began - since));
  }

  /** The earliest possible present time. */
  earliest(now: number): number {
    return now - this.#doubtedMs();
  }

  /**
   * Ends the doubt: the network has reported the time and the ledger's lead, or an answer without a `Date` came and the clock is trusted.
   * Undefined if there was no doubt.
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
