/** What a key owes: the jobs its specialists follow, and the applications nobody knows the outcome of yet. */
import type { DatabaseSync } from "node:sqlite";
import type { KeyId } from "../../core/ids.ts";
import { DAY } from "../../core/units.ts";
import { OWED_STANDINGS } from "../sources.ts";
import { sqlState } from "./intent-states.ts";
import { numberOf } from "./rows.ts";

/** A job not looked at for so long is nobody's any more: its specialist is defined no longer. */
const ABANDONED_MS = 30 * DAY;

/** How many obligations share the calls that one key sets aside, whichever of its specialists took them on. */
export type Obligations = (key: KeyId, now: number) => number;

export function createObligations(db: DatabaseSync): Obligations {
  const count = db.prepare(`
    SELECT (
      SELECT count(*) FROM specialist AS s INDEXED BY specialist_key CROSS JOIN watch AS w INDEXED BY watch_owed ON w.specialist = s.handle
      WHERE s.key_id = ?1 AND w.kind = 'job' AND w.due_at IS NOT NULL AND w.due_at > ?2
        AND w.state IN (${OWED_STANDINGS.map((standing) => `'${standing}'`).join(", ")})
    ) + (
      SELECT count(*) FROM specialist AS s INDEXED BY specialist_key CROSS JOIN intent AS i INDEXED BY intent_doubt ON i.specialist = s.handle
      WHERE s.key_id = ?1 AND i.state = ${sqlState("in_doubt")} AND i.operation = 'jobs.apply'
    ) + (
      SELECT count(*) FROM attempt INDEXED BY attempt_open WHERE key_id = ?1 AND ended_at IS NULL AND operation = 'jobs.apply'
    ) AS n`);
  return (key, now) => numberOf(count.get(key, now - ABANDONED_MS) ?? { n: 0 }, "n");
}
