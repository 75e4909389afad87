/**
 * The clock by which windows of quota age. It passes while a process runs; the time between two processes, or of a machine asleep, passes
 * only as far as both this machine's clock and the network's `Date` say so. So no clock that jumps frees a request early, and a clock that
 * is steadily wrong costs nothing. The caller owns the transaction.
 */
import type { DatabaseSync } from "node:sqlite";
import { JUMP_MS, type ObservedTime } from "../../limits/ledger-clock.ts";
import { MINUTE, SECOND } from "../../core/units.ts";
import { maybeNumber, numberOf } from "./columns.ts";

/** Interval at which the time is stored: a crash forgets as much of it, which errs on the safe side. */
const STEP_MS = 5 * SECOND;

interface Kept {
  /** The last time stored, by the clock that dates rows. */
  seenAt: number;
  /** Lag behind that clock (negative: ahead of it). */
  lagMs: number;
  /** The part of the lag that the network may still confirm. */
  unconfirmedMs: number;
  /** The time, by this clock, from which requests count that were made after that part began; undefined if there is none. */
  unsureFrom: number | undefined;
  /** Most by which the network is ahead of this clock; undefined before its first `Date`. */
  networkMs: number | undefined;
}

/** A change of the lag. */
export interface LagChange {
  /** Set if time was confirmed: requests that count since then, by this clock, may have been made after it had passed. */
  readonly recountFrom: number | undefined;
}

export class QuotaClock {
  readonly #sql: ReturnType<typeof statements>;
  #known: Kept | undefined;
  /** The last time, by this clock, at which no time was missing. */
  #sureAt = 0;

  constructor(db: DatabaseSync) {
    this.#sql = statements(db);
  }

  get lagMs(): number {
    return this.#kept.lagMs;
  }

  /** The last time stored: 0 in a new store. */
  get seenAt(): number {
    return this.#kept.seenAt;
  }

  /** The earliest time, by this clock, at which a request made now counts. */
  get countsFrom(): number {
    return this.#kept.unsureFrom ?? -Infinity;
  }

  /** The earliest possible present time. */
  earliest(now: number): number {
    return now - Math.max(0, this.#kept.unconfirmedMs);
  }

  /** Starts a process: the time since the last one is unconfirmed. */
  begin(now: number): void {
    const { seenAt, lagMs } = this.#kept;
    this.#sureAt = seenAt - lagMs;
    if (seenAt > 0) this.#leap(now - seenAt);
    this.#keep(now);
  }

  /** Stores the time now and then. */
  pass(now: number): void {
    if (now - this.#kept.seenAt >= STEP_MS) this.#keep(now);
  }

  /** Observes an answer's `Date`. */
  heed({ leastMs, mostMs, leaptMs }: ObservedTime, now: number): LagChange | undefined {
    const kept = this.#kept;
    const { networkMs } = kept;
    if (leaptMs > 0) this.#leap(leaptMs);
    const change = this.#confirm(networkMs === undefined ? 0 : leastMs + kept.lagMs - networkMs);
    const most = mostMs + kept.lagMs;
    const isNews = networkMs === undefined || leastMs + kept.lagMs > networkMs || most < networkMs - JUMP_MS;
    if (isNews) kept.networkMs = most;
    if (isNews || change !== undefined) this.#keep(now);
    this.#sureAt = now - kept.lagMs;
    return change;
  }

  /** Observes an answer without a `Date`: of a network that never states its time, this machine's clock is believed. */
  believe(now: number): LagChange | undefined {
    const change = this.#kept.networkMs === undefined ? this.#confirm(Infinity) : undefined;
    if (change !== undefined) this.#keep(now);
    return change;
  }

  forget(): void {
    this.#known = undefined;
  }

  #leap(byMs: number): void {
    const kept = this.#kept;
    kept.lagMs += byMs;
    kept.unconfirmedMs += byMs;
    // The next whole minute: no cell of a window has requests from before and after.
    kept.unsureFrom ??= Math.ceil((this.#sureAt + STEP_MS) / MINUTE) * MINUTE;
  }

  /** Ends the uncertainty: `passedMs` have passed, but no more than this machine's clock says. */
  #confirm(passedMs: number): LagChange | undefined {
    const kept = this.#kept;
    const { unsureFrom } = kept;
    if (unsureFrom === undefined) return undefined;
    const freedMs = Math.max(0, Math.min(kept.unconfirmedMs, passedMs));
    kept.lagMs -= freedMs;
    kept.unconfirmedMs = 0;
    kept.unsureFrom = undefined;
    return { recountFrom: freedMs > 0 ? unsureFrom : undefined };
  }

  get #kept(): Kept {
    if (this.#known !== undefined) return this.#known;
    const row = this.#sql.read.get();
    this.#known =
      row === undefined
        ? { seenAt: 0, lagMs: 0, unconfirmedMs: 0, unsureFrom: undefined, networkMs: undefined }
        : {
            seenAt: numberOf(row, "seen_at"),
            lagMs: numberOf(row, "lag_ms"),
            unconfirmedMs: numberOf(row, "unconfirmed_ms"),
            unsureFrom: maybeNumber(row, "unsure_from"),
            networkMs: maybeNumber(row, "network_ms"),
          };
    return this.#known;
  }

  #keep(now: number): void {
    const kept = this.#kept;
    kept.seenAt = now;
    this.#sql.save.run(now, kept.lagMs, kept.unconfirmedMs, kept.unsureFrom ?? null, kept.networkMs ?? null);
  }
}

function statements(db: DatabaseSync) {
  return {
    read: db.prepare("SELECT seen_at, lag_ms, unconfirmed_ms, unsure_from, network_ms FROM ledger_time WHERE one = 1"),
    save: db.prepare(`
      INSERT INTO ledger_time (one, seen_at, lag_ms, unconfirmed_ms, unsure_from, network_ms) VALUES (1, ?1, ?2, ?3, ?4, ?5)
      ON CONFLICT DO UPDATE SET seen_at = ?1, lag_ms = ?2, unconfirmed_ms = ?3, unsure_from = ?4, network_ms = ?5`),
  };
}
