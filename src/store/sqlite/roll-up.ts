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
import { ADD_TO_INDEXES } from "./fact-indexes.ts";

/** Facts added at once, so that no commit is long: some 2 ms. A page of an index is written once for all of them. */
export const BATCH = 2_000;
/** An action that is paid for has at most this many entries in the ledger for each of its facts. */
const ENTRIES_A_FACT = 4;

/** The number of the last ledger entry that is rolled up. */
export const ROLLED_ENTRIES = "(SELECT entries FROM rolled_up WHERE one = 1)";

const OWN = scopeOf(asHandle(""));
/** The time at which a handling was due. */
const DUE_AT = `coalesce(
  iif(substr(event.kind, 1, ${SCHEDULE_PREFIX.length}) = '${SCHEDULE_PREFIX}', json_extract(event.payload, '$.scheduledAt'), NULL), event.created_at)`;

/** A condition on the number of a row. */
type Within = (seq: string) => string;

/** Requests and lateness by hour and specialist. */
export const usageSums = (within: Within): string => `
  SELECT hour, specialist, sum(requests) AS requests, sum(took >= ${LATE_FROM_MS}) AS late, max(took) AS late_ms FROM (
    SELECT at / ${HOUR} AS hour, specialist, cost AS requests, 0 AS took FROM main.attempt WHERE ${within("attempt.seq")}
    UNION ALL SELECT run.at / ${HOUR}, run.specialist, 0, max(0, run.at - ${DUE_AT})
    FROM main.run CROSS JOIN main.event ON event.seq = run.event WHERE ${within("run.seq")}
  ) GROUP BY 1, 2`;

/** Money by hour, specialist and currency. */
export const moneySums = (within: Within): string => `
  SELECT at / ${HOUR} AS hour, substr(scope, ${OWN.length + 1}) AS specialist, currency, sum(posted) AS micros FROM spend_entry
  WHERE ${within("spend_entry.seq")} AND posted <> 0 AND kind <> 'carried' AND substr(scope, 1, ${OWN.length}) = '${OWN}' GROUP BY 1, 2, 3`;

export interface RollUp {
  /** Facts that are not rolled up. */
  readonly left: number;
  /** Adds the oldest of them, at most {@link BATCH}, inside a transaction the caller owns. */
  readonly roll: () => void;
  /** Adds all of them, inside a transaction the caller owns. */
  readonly rollAll: () => void;
  /** Forgets sums past their age, at most those of one hour, inside a transaction the caller owns. */
  prune(now: number): number;
}

export function createRollUp(db: DatabaseSync, present: Present): RollUp {
  const batch: Within = (seq) => `${seq} > ?1 AND ${seq} <= ?2`;
  const facts = [
    ...ADD_TO_INDEXES,
    `INSERT INTO usage_hour (hour, specialist, requests, late, late_ms) SELECT * FROM (${usageSums(batch)}) WHERE true
     ON CONFLICT DO UPDATE SET requests = requests + excluded.requests, late = late + excluded.late, late_ms = max(late_ms, excluded.late_ms)`,
  ].map((text) => db.prepare(text));
  const money = db.prepare(`
    INSERT INTO money_hour (hour, specialist, currency, micros) SELECT * FROM (${moneySums(batch)}) WHERE true
    ON CONFLICT DO UPDATE SET micros = micros + excluded.micros`);
  // Where several processes take blocks of numbers, many are another's.
  const next = db.prepare(
    `SELECT min(seq) AS seq FROM (${["event", "run", "attempt"].map((table) => `SELECT min(seq) AS seq FROM main.${table} WHERE seq > ?1`).join(" UNION ALL ")})`,
  );
  const rolled = db.prepare("SELECT facts, entries FROM rolled_up WHERE one = 1");
  const lastEntry = db.prepare(
    `SELECT max(seq) AS seq FROM (SELECT seq FROM spend_entry WHERE seq > ? ORDER BY seq LIMIT ${BATCH * ENTRIES_A_FACT})`,
  );
  const move = db.prepare("UPDATE rolled_up SET facts = ?, entries = ? WHERE one = 1");
  const forget = ["usage_hour", "money_hour"].map((table) =>
    db.prepare(`DELETE FROM ${table} WHERE hour < min(?1, (SELECT min(hour) FROM ${table}) + 1)`),
  );
  const row = rolled.get() ?? {};
  let [last, paid] = [numberOf(row, "facts"), numberOf(row, "entries")];
  const roll = (): void => {
    const first = next.get(last)?.["seq"];
    const to = typeof first === "number" ? Math.min(first - 1 + BATCH, present.last) : present.last;
    const entry = lastEntry.get(paid)?.["seq"];
    const paidTo = typeof entry === "number" ? entry : paid;
    for (const add of facts) add.run(last, to);
    if (paidTo > paid) money.run(paid, paidTo);
    move.run(to, paidTo);
    [last, paid] = [to, paidTo];
  };
  return {
    get left() {
      return present.last - last;
    },
    roll,
    rollAll() {
      do roll();
      while (last < present.last || typeof lastEntry.get(paid)?.["seq"] === "number");
    },
    prune: (now) => forget.reduce((sum, one) => sum + Number(one.run(Math.floor((now - HOURS_KEPT_MS) / HOUR)).changes), 0),
  };
}
