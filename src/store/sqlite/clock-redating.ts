/**
 * Redates rows of a clock that was behind, once it is corrected: a request made a minute ago must not look hours old. The caller owns the
 * transaction.
 */
import type { DatabaseSync } from "node:sqlite";
import type { Ahead, ObservedTime, Misdated } from "../../limits/ledger-clock.ts";
import { createMetadata } from "./metadata.ts";
import type { QuotaTable } from "./quota.ts";

const KEPT_AS = "ledger_behind";

export interface Redating {
  /** Called before anything is counted at `now`. */
  heed(heard: ObservedTime, now: number): void;
  /** Called for an answer without a `Date`: the downtime stays unknown, so the clock is trusted. */
  believe(now: number): void;
  /** Called at the start: the clock may have been corrected while nothing ran. */
  begin(now: number): void;
}

/** Shifts the dates of requests that ended since then. */
type RedateUses = (by: { readonly ms: number; readonly since: number; readonly now: number }) => void;

function createRedateUses(db: DatabaseSync): RedateUses {
  const update = db.prepare(`
    UPDATE limited_use SET started_at = min(started_at + :ms, :now), deadline_at = min(deadline_at + :ms, :now), ended_at = min(ended_at + :ms, :now)
    WHERE ended_at >= :since`);
  return ({ ms, since, now }) => void update.run({ ms, since, now });
}

export function createRedating(db: DatabaseSync, quota: QuotaTable): Redating {
  const redateUses = createRedateUses(db);
  const meta = createMetadata(db);

  const kept = (): Misdated | undefined => {
    const { ms, since } = meta.getObject(KEPT_AS);
    return typeof ms === "number" && typeof since === "number" ? { ms, since } : undefined;
  };
  const keep = ({ ms, since }: Misdated): void => {
    if (ms > 0) meta.set(KEPT_AS, JSON.stringify({ ms, since }));
    else meta.remove(KEPT_AS);
  };
  const redate = (ms: number, since: number, now: number): void => {
    quota.redate(ms, since, now);
    redateUses({ ms, since, now });
  };

  /** Corrects rows of earlier processes that look too old because this one began with a clock that was ahead. */
  const endDoubt = (ahead: Ahead | undefined, now: number): void => {
    const ms = quota.endDoubt(ahead, now);
    if (ms > 0) redateUses({ ms, since: 0, now: Math.max(now, quota.seenAt()) });
  };

  return {
    heed({ behind, redate: own, leaptMs = 0, ahead }, now) {
      if (ahead !== undefined) endDoubt(ahead, now);
      const before = kept();
      // Rows of an earlier process may be as wrong. Its knowledge also holds if this process observed no time before its clock was
      // corrected.
      const ms = Math.max(own?.ms ?? 0, Math.min(leaptMs, before?.ms ?? 0));
      if (ms > 0) redate(ms, Math.min(own?.since ?? Infinity, before?.since ?? Infinity), now);
      if (behind !== undefined) keep({ ms: behind.ms, since: Math.min(behind.since, before?.since ?? Infinity) });
      else if (before !== undefined && ms > 0) keep({ ms: before.ms - ms, since: before.since });
    },
    believe: (now) => endDoubt(undefined, now),
    begin(now) {
      const seenAt = quota.seenAt();
      quota.beginDoubt(now);
      const before = kept();
      if (before === undefined) return;
      const ms = Math.min(before.ms, now - seenAt);
      if (ms <= 0) return; // still behind: for later observations
      redate(ms, before.since, now);
      keep({ ms: before.ms - ms, since: before.since });
    },
  };
}
