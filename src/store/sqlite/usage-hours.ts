/** Usage by hour in SQLite: the sums, and the facts that are not in them yet. */
import type { DatabaseSync } from "node:sqlite";
import { HOUR } from "../../core/units.ts";
import type { ReadTable } from "../people-reads.ts";
import type { UsageHour } from "../usage-hours.ts";
import { numberOf, textOf, type Row } from "./columns.ts";
import { ROLLED, ROLLED_ENTRIES, SUMS } from "./roll-up.ts";

const MONEY = "money ";

export function createUsageHours(db: DatabaseSync): Pick<ReadTable, "hours"> {
  const recent = Object.values(SUMS).map((sums) => sums((seq) => `${seq} > ${seq.startsWith("spend_entry") ? ROLLED_ENTRIES : ROLLED}`));
  const select = (rolled: string) =>
    db.prepare(`
      SELECT hour, measure, sum(n) AS n, max(most) AS most FROM (
        SELECT hour, specialist, measure, n, most FROM usage_hour ${rolled}
        UNION ALL SELECT * FROM (${recent.join(" UNION ALL ")}) WHERE hour >= ?1 AND (?2 IS NULL OR specialist = ?2)
      ) GROUP BY hour, measure ORDER BY hour`);
  const one = select("INDEXED BY usage_hour_of WHERE specialist = ?2 AND hour >= ?1");
  const all = select("WHERE hour >= ?1 AND ?2 IS NULL");
  return {
    hours({ specialist, since }) {
      const rows = (specialist === undefined ? all : one).all(Math.floor(since / HOUR), specialist ?? null);
      return [...Map.groupBy(rows, (row) => numberOf(row, "hour"))].map(([hour, measures]) => readHour(hour, measures));
    },
  };
}

function readHour(hour: number, rows: readonly Row[]): UsageHour {
  const by = new Map(rows.map((row) => [textOf(row, "measure"), { n: numberOf(row, "n"), most: numberOf(row, "most") }]));
  const money = [...by].flatMap(([measure, { n }]): [string, number][] =>
    measure.startsWith(MONEY) ? [[measure.slice(MONEY.length), n]] : [],
  );
  const late = by.get("late");
  return {
    at: hour * HOUR,
    requests: by.get("requests")?.n ?? 0,
    late: { count: late?.n ?? 0, maxMs: late?.most ?? 0 },
    money: Object.fromEntries(money),
  };
}
