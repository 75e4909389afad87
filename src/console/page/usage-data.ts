/** Rows of hours as columns of a plot, with hours without a row as zero, and the sentence that says the same in words. */
import type { UsageHour } from "./answers.ts";
import { plural, showAmount } from "./format.ts";

const HOUR = 3_600_000;
const MICROS = 1_000_000;
/** Hours of a plot. */
const MAX_HOURS = 24 * 92;

export interface Series {
  readonly title: string;
  /** The plot in words. */
  readonly summary: string;
  /** Seconds since the epoch. */
  readonly times: readonly number[];
  readonly values: readonly number[];
}

/** One plot of requests, one of each currency, one of lateness if anything was late. */
export function plotsOf(hours: readonly UsageHour[]): readonly Series[] {
  const rows = filled(hours);
  const times = rows.map(({ at }) => at / 1_000);
  const series = (title: string, summary: string, value: (row: UsageHour) => number): Series => ({
    title,
    summary,
    times,
    values: rows.map(value),
  });
  const requests = sumOf(rows, (row) => row.requests);
  const currencies = [...new Set(rows.flatMap(({ money }) => Object.keys(money)))].toSorted();
  const late = sumOf(rows, (row) => row.late.count);
  const worst = rows.reduce((most, row) => Math.max(most, row.late.maxMs), 0);
  return [
    series("Requests an hour", `${plural(requests, "request")} in ${plural(rows.length, "hour")}`, (row) => row.requests),
    ...currencies.map((currency) => {
      const micros = sumOf(rows, (row) => row.money[currency] ?? 0);
      return series(`${currency} an hour`, `${showAmount({ micros, currency })} spent`, (row) => (row.money[currency] ?? 0) / MICROS);
    }),
    ...(late === 0
      ? []
      : [
          series(
            "Latest event of an hour, in seconds",
            `${plural(late, "late event")}, at most ${Math.ceil(worst / 1_000)} s`,
            (row) => row.late.maxMs / 1_000,
          ),
        ]),
  ];
}

const sumOf = (rows: readonly UsageHour[], value: (row: UsageHour) => number): number => rows.reduce((sum, row) => sum + value(row), 0);

/** Every hour from the first to the last. */
function filled(hours: readonly UsageHour[]): readonly UsageHour[] {
  const sorted = hours.toSorted((a, b) => a.at - b.at);
  const last = sorted.at(-1)?.at;
  if (last === undefined) return [];
  const first = Math.max(sorted[0]?.at ?? last, last - (MAX_HOURS - 1) * HOUR);
  const byHour = new Map(sorted.map((row) => [row.at, row]));
  return Array.from({ length: Math.round((last - first) / HOUR) + 1 }, (_, index) => {
    const at = first + index * HOUR;
    return byHour.get(at) ?? { at, requests: 0, late: { count: 0, maxMs: 0 }, money: {} };
  });
}
