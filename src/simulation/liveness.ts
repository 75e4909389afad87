/** Watches that what is due is done: polls, schedules and stored deliveries, while nothing is in their way. */
import type { Timer, Clock } from "../core/clock.ts";
import { MINUTE } from "../core/units.ts";
import type { OpenDatabase } from "../store/sqlite/database.ts";

export interface Liveness {
  start(): void;
  stop(): void;
  /** Something is in the way, until then: a crash, an outage, a dead key… Default: it is over already. */
  disturb(until?: number): void;
}

export interface LivenessOptions {
  /** The world's. */
  readonly clock: Clock;
  readonly db: OpenDatabase["db"];
  readonly onLate: (what: string) => void;
}

const LOOK_MS = 5 * MINUTE;
/** What was in the way leaves a mess for so long. */
const SETTLING_MS = 5 * MINUTE;
/** A pass over the lists of a specialist may take minutes, if each answer comes at its deadline. */
const LATE_MS = 10 * MINUTE;

export function createLiveness({ clock, db, onLate }: LivenessOptions): Liveness {
  const late = db.prepare(`
    SELECT specialist || ': ' || name AS what, due_at FROM source WHERE due_at < ?1
    UNION ALL
    SELECT specialist || ': a delivery', max(received_at, due_at) FROM delivery WHERE state = 'ready' AND max(received_at, due_at) < ?1
    LIMIT 5`);
  let timer: Timer | undefined;
  let calmFrom = 0;
  const look = (): void => {
    timer = clock.after(LOOK_MS, look);
    const now = clock.now();
    if (calmFrom > now - SETTLING_MS - LATE_MS) return;
    for (const row of late.all(now - LATE_MS))
      onLate(`${String(row["what"])} is due since ${new Date(Number(row["due_at"])).toISOString()}, and nothing is in its way`);
  };
  return {
    start: () => void (timer = clock.after(LOOK_MS, look)),
    stop: () => timer?.cancel(),
    disturb: (until = clock.now()) => void (calmFrom = Math.max(calmFrom, until)),
  };
}
