/**
 * Rows whose age turns out to be less than the clock makes it, dated anew: what was asked a minute ago must not look hours
 * old. Either the clock that dated them was behind and is right now, or it was right and is ahead since a restart. The
 * caller owns the transaction.
 */
import type { DatabaseSync } from "node:sqlite";
import { DAY, SECOND } from "../../../core/units.ts";
import type { Heard, Misdated } from "../../../limits/time.ts";
import { createMeta } from "../meta.ts";
import type { QuotaTable } from "./quota.ts";

const KEPT_AS = "ledger_behind";
/** What time is said to have passed while nothing ran, until a server's `Date` has told how much of that is true. */
const SKIPPED_AS = "ledger_skipped";
/** Less than this between two processes changes no window. */
const MIN_SKIPPED_MS = 2 * SECOND;
/** Older rows than this have left every window. */
const OLDEST_MS = 2 * DAY;

export interface Redating {
  /** Before anything is counted at `now`. */
  heed(heard: Heard, now: number): void;
  /** At start: the clock may have been set right while nothing ran. */
  begin(now: number): void;
  /** How much of the clock is the wall's word alone: nothing may be forgotten for being so much older. */
  unheardMs(): number;
}

export function createRedating(db: DatabaseSync, quota: QuotaTable): Redating {
  const meta = createMeta(db);
  const attempts = db.prepare(`
    UPDATE attempt SET started_at = min(started_at + :ms, :now), deadline_at = min(deadline_at + :ms, :now), ended_at = min(ended_at + :ms, :now)
    WHERE ended_at >= :since`);

  const kept = (name = KEPT_AS): Misdated | undefined => {
    const { ms, since } = meta.getObject(name);
    return typeof ms === "number" && typeof since === "number" ? { ms, since } : undefined;
  };
  const keep = ({ ms, since }: Misdated): void => {
    if (ms > 0) meta.set(KEPT_AS, JSON.stringify({ ms, since }));
    else meta.remove(KEPT_AS);
  };
  const redate = (ms: number, since: number, now: number): void => {
    quota.redate(ms, since, now);
    attempts.run({ ms, since, now });
  };

  /** A process takes the wall clock's word for how long nothing ran; several may have, before one heard the time. */
  const skip = (now: number): void => {
    const seenAt = quota.seenAt();
    const ms = now - seenAt;
    if (seenAt === 0 || ms < MIN_SKIPPED_MS) return;
    const before = kept(SKIPPED_AS);
    meta.set(SKIPPED_AS, JSON.stringify({ ms: ms + (before?.ms ?? 0), since: before?.since ?? seenAt - OLDEST_MS }));
  };
  const unskip = (aheadMs: number, now: number): void => {
    const skipped = kept(SKIPPED_AS);
    if (skipped === undefined) return;
    const ms = Math.min(aheadMs, skipped.ms);
    if (ms > 0) redate(ms, skipped.since, now);
    meta.remove(SKIPPED_AS);
  };

  return {
    heed({ behind, redate: own, leaptMs = 0, aheadMs }, now) {
      if (aheadMs !== undefined) unskip(aheadMs, now);
      const before = kept();
      // Rows of an earlier process may be as wrong. What an earlier process knew of holds as well where this one heard of no time before its clock was set right.
      const ms = Math.max(own?.ms ?? 0, Math.min(leaptMs, before?.ms ?? 0));
      if (ms > 0) redate(ms, Math.min(own?.since ?? Infinity, before?.since ?? Infinity), now);
      if (behind !== undefined) keep({ ms: behind.ms, since: Math.min(behind.since, before?.since ?? Infinity) });
      else if (before !== undefined && ms > 0) keep({ ms: before.ms - ms, since: before.since });
    },
    unheardMs: () => kept(SKIPPED_AS)?.ms ?? 0,
    begin(now) {
      skip(now);
      const before = kept();
      if (before === undefined) return;
      const ms = Math.min(before.ms, now - quota.seenAt());
      if (ms <= 0) return; // still behind: for what comes to light
      redate(ms, before.since, now);
      keep({ ms: before.ms - ms, since: before.since });
    },
  };
}
