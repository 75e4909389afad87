/**
 * What waits, after the clock went back while nothing ran: a clock that was ahead put it off by as much as it was ahead, and one
 * that is behind now would. So it waits for as long as it had yet to wait when the store last saw the time. Schedules stay, since
 * theirs are moments and not waits. The caller owns the transaction.
 */
import type { DatabaseSync } from "node:sqlite";
import { UNDATED } from "../../outbox/intent.ts";
import { IS_SCHEDULE } from "./sources.ts";

export type PullInDueDates = (backMs: number, now: number) => void;

const LOOKS = [
  ["source", "due_at", `NOT ${IS_SCHEDULE}`],
  ["watch", "due_at", "TRUE"],
  ["delivery", "due_at", "state = 'ready'"],
] as const;
const WORK = [
  ["event", "not_before", "state = 'ready'"],
  ["intent", "next_at", "state IN ('ready', 'in_doubt')"],
] as const;

/** The same of sources, followed objects and deliveries alone. */
export function createPullInLooks(db: DatabaseSync): PullInDueDates {
  return pulling(db, LOOKS);
}

function pulling(db: DatabaseSync, waits: readonly (readonly [table: string, at: string, which: string])[]): PullInDueDates {
  const updates = waits.map(([table, at, which]) =>
    db.prepare(`UPDATE ${table} SET ${at} = max(:now, ${at} - :backMs) WHERE ${at} > :now AND ${which}`),
  );
  return (backMs, now) => {
    for (const update of updates) update.run({ backMs, now });
  };
}

export function createPullIn(db: DatabaseSync): PullInDueDates {
  const pull = pulling(db, [...LOOKS, ...WORK]);
  const undate = db.prepare(`UPDATE intent SET sent_at = ${UNDATED} WHERE sent_at > ? AND state IN ('sending', 'in_doubt')`);
  return (backMs, now) => {
    undate.run(now); // it has been sent already, nobody knows when
    pull(backMs, now);
  };
}
