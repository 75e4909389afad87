/** Checks that due work is done: polls, schedules and stored deliveries, while no fault prevents it. */
import type { Timer, Clock } from "../core/clock.ts";
import { MINUTE } from "../core/units.ts";
import type { OpenDatabase } from "../store/sqlite/database.ts";

export interface Liveness {
  start(): void;
  stop(): void;
  /** Announces a disturbance that lasts until then: a crash, an outage, a dead key. Default: one that has just ended. */
  disturb(until?: number): void;
}

export interface LivenessOptions {
  /** The clock of the simulated world. */
  readonly clock: Clock;
  readonly db: OpenDatabase["db"];
  readonly onLate: (what: string) => void;
}

const CHECK_MS = 5 * MINUTE;
/** Time the runtime needs to recover after a disturbance. */
const RECOVERY_MS = 5 * MINUTE;
/** Polling all lists of a specialist may take minutes, if each answer comes at its deadline. */
const LATE_MS = 10 * MINUTE;

export function createLiveness({ clock, db, onLate }: LivenessOptions): Liveness {
  const late = db.prepare(`
    SELECT specialist || ': ' || name AS what, due_at FROM source WHERE due_at < ?1
    UNION ALL
    SELECT specialist || ': a delivery', max(received_at, due_at) FROM delivery WHERE state = 'ready' AND max(received_at, due_at) < ?1
    LIMIT 5`);
  let timer: Timer | undefined;
  let calmFrom = 0;
  const check = (): void => {
    timer = clock.after(CHECK_MS, check);
    const now = clock.now();
    if (calmFrom > now - RECOVERY_MS - LATE_MS) return;
    for (const row of late.all(now - LATE_MS))
      onLate(`${String(row["what"])} is due since ${new Date(Number(row["due_at"])).toISOString()}, although nothing prevents it`);
  };
  return {
    start: () => void (timer = clock.after(CHECK_MS, check)),
    stop: () => timer?.cancel(),
    disturb: (until = clock.now()) => void (calmFrom = Math.max(calmFrom, until)),
  };
}
