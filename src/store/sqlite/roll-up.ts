/**
 * Rolls facts up in the background: sums by hour, and the indexes of events by specialist and of requests by intent. Facts are numbered in
 * order, so one number says how far this has come; it moves in the transaction that adds the facts up to it, so none is added twice.
 */
import type { DatabaseSync } from "node:sqlite";
import { SCHEDULE_PREFIX } from "../../contract/event-kinds.ts";
import { asHandle } from "../../core/ids.ts";
import { HOUR } from "../../core/units.ts";
import type { Present } from "../../live/present.ts";
import { scopeOf } from "../../limits/spending.ts";
import { HOURS_KEPT_MS, LATE_FROM_MS } from "../usage-hours.ts";
import { numberOf } from "./columns.ts";

/** Facts added at once, so that no commit is long: 1 to 2 ms. */
export const BATCH = 1_000;
/** An action that is paid for has at most this many entries in the ledger for each of its facts. */
const ENTRIES_A_FACT = 4;

/** The number of the last fact that is rolled up, and of the last ledger entry. */
export const ROLLED = "(SELECT facts FROM rolled_up WHERE one = 1)";
export const ROLLED_ENTRIES = "(SELECT entries FROM rolled_up WHERE one = 1)";

const OWN = scopeOf(asHandle(""));
/** The time at which a handling was due. */
const DUE_AT = `coalesce(
  iif(substr(event.kind, 1, ${SCHEDULE_PREFIX.length}) = '${SCHEDULE_PREFIX}', json_extract(event.payload, '$.scheduledAt'), NULL), event.created_at)`;

/** Sums by hour, specialist and measure, of the rows whose numbers are within a condition. */
export const SUMS: { readonly [measure: string]: (within: (seq: string) => string) => string } = {
  requests: (within) => `
    SELECT at / ${HOUR} AS hour, specialist, 'requests' AS measure, sum(cost) AS n, 0 AS most
    FROM main.attempt WHERE ${within("attempt.seq")} GROUP BY 1, 2`,
  late: (within) => `
    SELECT hour, specialist, 'late' AS measure, sum(took >= ${LATE_FROM_MS}) AS n, max(took) AS most FROM (
      SELECT run.at / ${HOUR} AS hour, run.specialist, max(0, run.at - ${DUE_AT}) AS took
      FROM main.run CROSS JOIN main.event ON event.seq = run.event WHERE ${within("run.seq")})
    GROUP BY 1, 2`,
  money: (within) => `
    SELECT at / ${HOUR} AS hour, substr(scope, ${OWN.length + 1}) AS specialist, 'money ' || currency AS measure, sum(posted) AS n, 0 AS most
    FROM spend_entry
    WHERE ${within("spend_entry.seq")} AND posted <> 0 AND kind <> 'carried' AND substr(scope, 1, ${OWN.length}) = '${OWN}' GROUP BY 1, 2, 3`,
};

export interface RollUp {
  /** Facts that are not rolled up. */
  readonly left: number;
  /** Adds the oldest of them, at most {@link BATCH}, inside a transaction the caller owns. */
  readonly roll: () => void;
  /** Forgets sums past their age, at most those of one hour, inside a transaction the caller owns. */
  prune(now: number): number;
}

export function createRollUp(db: DatabaseSync, present: Present): RollUp {
  const add = Object.values(SUMS).map((sums) =>
    db.prepare(`
      INSERT INTO usage_hour (hour, specialist, measure, n, most) ${sums((seq) => `${seq} > ?1 AND ${seq} <= ?2`)}
      ON CONFLICT DO UPDATE SET n = n + excluded.n, most = max(most, excluded.most)`),
  );
  const links = [
    "INSERT INTO event_of (specialist, seq) SELECT specialist, seq FROM main.event WHERE seq > ?1 AND seq <= ?2 ON CONFLICT DO NOTHING",
    `INSERT INTO event_of (specialist, seq, run) SELECT specialist, event, seq FROM main.run WHERE seq > ?1 AND seq <= ?2
     ON CONFLICT DO UPDATE SET run = excluded.run`,
    `INSERT INTO attempt_of (intent, seq) SELECT intent, seq FROM main.attempt WHERE seq > ?1 AND seq <= ?2 AND intent IS NOT NULL
     ON CONFLICT DO NOTHING`,
  ].map((text) => db.prepare(text));
  const [requests, late, money] = add;
  const rolled = db.prepare("SELECT facts, entries FROM rolled_up WHERE one = 1");
  const lastEntry = db.prepare(
    `SELECT max(seq) AS seq FROM (SELECT seq FROM spend_entry WHERE seq > ? ORDER BY seq LIMIT ${BATCH * ENTRIES_A_FACT})`,
  );
  const move = db.prepare("UPDATE rolled_up SET facts = ?, entries = ? WHERE one = 1");
  const forget = db.prepare("DELETE FROM usage_hour WHERE hour < min(?1, (SELECT min(hour) FROM usage_hour) + 1)");
  const row = rolled.get() ?? {};
  let [facts, entries] = [numberOf(row, "facts"), numberOf(row, "entries")];
  return {
    get left() {
      return present.last - facts;
    },
    roll() {
      const to = Math.min(facts + BATCH, present.last);
      const last = lastEntry.get(entries)?.["seq"];
      for (const one of [...links, requests, late]) one?.run(facts, to);
      const paid = typeof last === "number" ? last : entries;
      if (paid > entries) money?.run(entries, paid);
      move.run(to, paid);
      [facts, entries] = [to, paid];
    },
    prune: (now) => Number(forget.run(Math.floor((now - HOURS_KEPT_MS) / HOUR)).changes),
  };
}
