/**
 * Corrects due times of rows after the clock went back while nothing ran: a clock that was ahead delayed them by its lead, and one that is behind
 * now would. Each wait keeps the time it had left when the store last saw the time. Schedules stay, because theirs are moments and not
 * waits. The caller owns the transaction.
 */
import type { DatabaseSync } from "node:sqlite";
import { IS_SCHEDULE } from "./sources.ts";

export type PullInDueDates = (backMs: number, now: number) => void;

export function createPullIn(db: DatabaseSync): PullInDueDates {
  const waits = [
    ["source", "due_at", `NOT ${IS_SCHEDULE}`],
    ["watch", "due_at", "TRUE"],
    ["delivery", "due_at", "state = 'ready'"],
  ] as const;
  const updates = waits.map(([table, at, which]) =>
    db.prepare(`UPDATE ${table} SET ${at} = max(:now, ${at} - :backMs) WHERE ${at} > :now AND ${which}`),
  );
  return (backMs, now) => {
    for (const update of updates) update.run({ backMs, now });
  };
}
