/**
 * Indexes of facts, which roll-ups make: the events of a specialist with their runs, and the requests of an action. A store that is kept
 * elsewhere keeps none of them: they are made anew of the facts that are loaded.
 */
import type { DatabaseSync } from "node:sqlite";
import type { Row } from "./columns.ts";

/** The tables of these indexes. */
export const FACT_INDEXES: ReadonlySet<string> = new Set(["event_of", "attempt_of"]);

/** Statements that add the facts after ?1 up to ?2. A run may be kept for longer than its event, which then has no row. */
export const ADD_TO_INDEXES = [
  "INSERT INTO event_of (specialist, seq) SELECT specialist, seq FROM main.event WHERE seq > ?1 AND seq <= ?2 ON CONFLICT DO NOTHING",
  `UPDATE event_of SET run = run.seq FROM main.run
   WHERE run.seq > ?1 AND run.seq <= ?2 AND event_of.specialist = run.specialist AND event_of.seq = run.event`,
  `INSERT INTO attempt_of (intent, seq) SELECT intent, seq FROM main.attempt WHERE seq > ?1 AND seq <= ?2 AND intent IS NOT NULL
   ON CONFLICT DO NOTHING`,
] as const;

/** The number of the last fact that is rolled up. */
export const ROLLED = "(SELECT facts FROM rolled_up WHERE one = 1)";

/** Adds what is in the tables of facts, up to the roll-ups' mark. */
export function indexAll(db: DatabaseSync): void {
  const mark = Number(db.prepare(`SELECT ${ROLLED} AS mark`).get()?.["mark"] ?? 0);
  for (const text of ADD_TO_INDEXES) db.prepare(text).run(0, mark);
}

/** Adds a fact that is loaded later. Later ones than the mark are rolled up like new ones. A run comes after its event, if that is still there. */
export function createLateIndexing(db: DatabaseSync): (table: string, row: Row) => void {
  const event = db.prepare(`INSERT INTO event_of (specialist, seq) SELECT ?1, ?2 WHERE ?2 <= ${ROLLED} ON CONFLICT DO NOTHING`);
  const run = db.prepare("UPDATE event_of SET run = ? WHERE specialist = ? AND seq = ?");
  const attempt = db.prepare(`INSERT INTO attempt_of (intent, seq) SELECT ?1, ?2 WHERE ?2 <= ${ROLLED} ON CONFLICT DO NOTHING`);
  return (table, { seq = null, specialist = null, event: of = null, intent = null }) => {
    if (table === "event") event.run(specialist, seq);
    else if (table === "run") run.run(seq, specialist, of);
    else if (table === "attempt" && intent !== null) attempt.run(intent, seq);
  };
}
