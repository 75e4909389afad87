/** Obligations of a key: the jobs its specialists watch, and applications with an unknown outcome. */
import type { DatabaseSync } from "node:sqlite";
import type { KeyId } from "../../core/ids.ts";
import { DAY } from "../../core/units.ts";
import { OWED_STANDINGS } from "../sources.ts";
import { sqlState } from "./intent-states.ts";
import { numberOf } from "./rows.ts";

/** A job without a check for this long is abandoned: its specialist has no definition. */
const ABANDONED_MS = 30 * DAY;

/** Counts the obligations that share one key's reserve, over all of its specialists. */
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
