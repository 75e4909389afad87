/** Usage by hour in SQLite: the sums, and the facts that are not in them yet. */
import type { DatabaseSync } from "node:sqlite";
import { HOUR } from "../../core/units.ts";
import type { ReadTable } from "../people-reads.ts";
import type { UsageHour } from "../usage-hours.ts";
import { numberOf, textOf } from "./columns.ts";
import { ROLLED } from "./fact-indexes.ts";
import { moneySums, ROLLED_ENTRIES, usageSums } from "./roll-up.ts";

/** The sums of one specialist (?2) since an hour (?1): a look at each hour costs less than an index would cost each sum. */
const ofOne = (table: string): string => `
  WITH RECURSIVE span (at) AS (
    SELECT max(?1, min(hour)) FROM ${table} UNION ALL SELECT at + 1 FROM span WHERE at < (SELECT max(hour) FROM ${table})
  ) SELECT ${table}.* FROM span CROSS JOIN ${table} ON hour = span.at AND specialist = ?2`;

export function createUsageHours(db: DatabaseSync): Pick<ReadTable, "hours"> {
  const forOneOrAll = (table: string, columns: string, recent: string) => {
    const select = (rolled: string, whose: string) =>
      db.prepare(`
        SELECT hour, ${columns} FROM (SELECT * FROM (${rolled}) UNION ALL SELECT * FROM (${recent}) WHERE hour >= ?1 AND ${whose})
        GROUP BY 1, 2 ORDER BY 1`);
    return { one: select(ofOne(table), "specialist = ?2"), all: select(`SELECT * FROM ${table} WHERE hour >= ?1`, "?2 IS NULL") };
  };
  const usage = forOneOrAll(
    "usage_hour",
    "0, sum(requests) AS requests, sum(late) AS late, max(late_ms) AS late_ms",
    usageSums((seq) => `${seq} > ${ROLLED}`),
  );
  const money = forOneOrAll(
    "money_hour",
    "currency, sum(micros) AS micros",
    moneySums((seq) => `${seq} > ${ROLLED_ENTRIES}`),
  );
  return {
    hours({ specialist, since }) {
      const which = specialist === undefined ? "all" : "one";
      const given = [Math.floor(since / HOUR), specialist ?? null] as const;
      const hours = new Map<number, UsageHour>();
      for (const row of usage[which].all(...given)) {
        const late = { count: numberOf(row, "late"), maxMs: numberOf(row, "late_ms") };
        hours.set(numberOf(row, "hour"), { at: numberOf(row, "hour") * HOUR, requests: numberOf(row, "requests"), late, money: {} });
      }
      for (const row of money[which].all(...given)) {
        const hour = numberOf(row, "hour");
        const known = hours.get(hour) ?? { at: hour * HOUR, requests: 0, late: { count: 0, maxMs: 0 }, money: {} };
        hours.set(hour, { ...known, money: { ...known.money, [textOf(row, "currency")]: numberOf(row, "micros") } });
      }
      return [...hours.values()].toSorted((a, b) => a.at - b.at);
    },
  };
}
