/** Reference solvers for the tasks about lines: invoices, dates, logs. */
import type { Json } from "../../../../src/core/json.ts";
import { Counter, stated, text, type Solver } from "./read.ts";

const CODES: Readonly<Record<string, string>> = { "€": "EUR", "£": "GBP", $: "USD", EUR: "EUR", GBP: "GBP", USD: "USD" };
const MARK = "EUR|GBP|USD|€|£|\\$";
const DIGITS = "(?:\\d+|\\d{1,3}(?:,\\d{3})+|\\d{1,3}(?:\\.\\d{3})+|\\d{1,3}(?:'\\d{3})+|\\d{1,3}(?: \\d{3})+)(?:[.,]\\d{1,2})?";
const AMOUNT = new RegExp(`^(?:(${MARK}) ?(-?)(${DIGITS})|(-?)(${DIGITS}) ?(${MARK}))$`);

/** Cents as a text of digits with a sign, so that nothing is ever a fraction. */
function amountOf(written: string): { currency: string; cents: bigint } | undefined {
  const inside = /^\((.*)\)$/.exec(written)?.[1];
  const match = AMOUNT.exec(inside ?? written);
  const number = match?.[3] ?? match?.[5] ?? "";
  const minus = `${match?.[2] ?? ""}${match?.[4] ?? ""}` === "-";
  const decimals = /([.,])(\d{1,2})$/.exec(number);
  const whole = decimals === null ? number : number.slice(0, decimals.index);
  if (match === null || (minus && inside !== undefined) || (decimals !== null && whole.includes(decimals[1] ?? ""))) return undefined;
  const cents = BigInt(whole.replace(/\D/g, "") + (decimals?.[2] ?? "").padEnd(2, "0"));
  return { currency: CODES[match[1] ?? match[6] ?? ""] ?? "", cents: minus || inside !== undefined ? -cents : cents };
}

function dayExists(year: number, month: number, day: number): boolean {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return date.getUTCFullYear() === year && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

export const invoiceTotals: Solver = (_, input) => {
  const totals: Record<string, { invoices: number; net: number; tax: number; gross: number }> = {};
  for (const code of ["EUR", "GBP", "USD"]) totals[code] = { invoices: 0, net: 0, tax: 0, gross: 0 };
  const errors: Json[] = [];
  const seen: string[] = [];
  text(input, "text")
    .split("\n")
    .forEach((line, i) => {
      if (line === "" || line.startsWith("#")) return;
      const fields = line.split("|").map((field) => field.trim());
      const [number = "", date = "", , amount = "", rate = ""] = fields;
      const day = /^(\d{4})-(\d\d)-(\d\d)$/.exec(date);
      const parsed = amountOf(amount);
      const percent = /^(\d+)(?:\.(\d))?%$/.exec(rate);
      const checks: [boolean, string][] = [
        [fields.length !== 5, "field_count"],
        [!/^INV-\d{4,6}$/.test(number), "bad_number"],
        [day === null || !dayExists(Number(day[1]), Number(day[2]), Number(day[3])), "bad_date"],
        [!new RegExp(MARK).test(amount), "unknown_currency"],
        [parsed === undefined, "bad_amount"],
        [percent === null, "bad_rate"],
        [seen.includes(number), "duplicate_invoice"],
      ];
      const reason = checks.find(([holds]) => holds)?.[1];
      const total = totals[parsed?.currency ?? ""];
      if (reason !== undefined || parsed === undefined || total === undefined)
        return errors.push({ line: i + 1, reason: reason ?? "impossible" });
      seen.push(number);
      const exact = (parsed.cents < 0n ? -parsed.cents : parsed.cents) * BigInt(`${percent?.[1] ?? ""}${percent?.[2] ?? "0"}`);
      const tax = Number(exact / 1000n + (exact % 1000n >= 500n ? 1n : 0n)) * (parsed.cents < 0n ? -1 : 1);
      total.invoices++;
      total.net += Number(parsed.cents);
      total.tax += tax;
      total.gross += Number(parsed.cents) + tax;
      return;
    });
  return { totals, errors };
};

type Ymd = [year: number, month: number, day: number];

function fullYear(digits: string): number {
  if (digits.length === 4) return Number(digits);
  return Number(digits) + (Number(digits) <= 68 ? 2000 : 1900);
}

function monthOf(name: string): number {
  const months = ["january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december"];
  return months.findIndex((month) => month === name.toLowerCase() || month.slice(0, 3) === name.toLowerCase()) + 1;
}

/** The year, month and day a line names, `"none"` where the calendar lacks it, `undefined` for no known form. */
function readDate(line: string, dayFirst: boolean): Ymd | "none" | undefined {
  const parts = (pattern: RegExp): string[] | undefined => pattern.exec(line)?.slice(1);
  const iso = parts(/^(\d{4})-(\d\d)-(\d\d)$/) ?? parts(/^(\d{4})\/(\d\d)\/(\d\d)$/) ?? parts(/^(\d{4})(\d\d)(\d\d)$/);
  if (iso !== undefined) return [Number(iso[0]), Number(iso[1]), Number(iso[2])];
  const numeric = /^(\d{1,2})([/.-])(\d{1,2})\2(\d{4}|\d\d)$/.exec(line);
  if (numeric !== null) {
    const pair: [number, number] = [Number(numeric[1]), Number(numeric[3])];
    return dayFirst ? [fullYear(numeric[4] ?? ""), pair[1], pair[0]] : [fullYear(numeric[4] ?? ""), pair[0], pair[1]];
  }
  const named = /^(\d{1,2})(?:st|nd|rd|th)?([ -])([a-z]+)\2(\d{4}|\d\d)$/i.exec(line);
  if (named !== null && monthOf(named[3] ?? "") > 0) return [fullYear(named[4] ?? ""), monthOf(named[3] ?? ""), Number(named[1])];
  const american = parts(/^([a-z]+) (\d{1,2})(?:st|nd|rd|th)?,? (\d{4}|\d\d)$/i);
  if (american !== undefined && monthOf(american[0] ?? "") > 0)
    return [fullYear(american[2] ?? ""), monthOf(american[0] ?? ""), Number(american[1])];
  const ordinal = parts(/^(\d{4})-(\d{3})$/);
  const week = parts(/^(\d{4})-W(\d\d)-(\d)$/);
  if (ordinal === undefined && week === undefined) return undefined;
  const year = Number((ordinal ?? week)?.[0]);
  // Walks every day of the year and its neighbours: slow, and hard to get wrong.
  for (let time = Date.UTC(year - 1, 11, 20); time < Date.UTC(year + 1, 0, 12); time += 86_400_000) {
    const date = new Date(time);
    if ((ordinal === undefined ? weekOf(date) : ordinalOf(date)) === line)
      return [date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate()];
  }
  return "none";
}

function ordinalOf(date: Date): string {
  return `${date.getUTCFullYear()}-${String((date.getTime() - Date.UTC(date.getUTCFullYear(), 0, 0)) / 86_400_000).padStart(3, "0")}`;
}

function weekOf(date: Date): string {
  const weekday = ((date.getUTCDay() + 6) % 7) + 1;
  const thursday = new Date(date.getTime() + (4 - weekday) * 86_400_000);
  const week = Math.ceil((thursday.getTime() - Date.UTC(thursday.getUTCFullYear(), 0, 0)) / 86_400_000 / 7);
  return `${thursday.getUTCFullYear()}-W${String(week).padStart(2, "0")}-${weekday}`;
}

export const isoDates: Solver = (description, input) => {
  const dayFirst = stated(description, /In this list the (day|month) comes first/) === "day";
  const dates: { line: number; date: string }[] = [];
  const errors: Json[] = [];
  text(input, "text")
    .split("\n")
    .forEach((raw, i) => {
      const trimmed = raw.replace(/^ +| +$/g, "");
      const found = readDate(trimmed, dayFirst);
      const real = found !== undefined && found !== "none" && dayExists(...found);
      if (real) dates.push({ line: i + 1, date: found.map((part, at) => String(part).padStart(at === 0 ? 4 : 2, "0")).join("-") });
      else errors.push({ line: i + 1, reason: trimmed === "" ? "empty" : found === undefined ? "unknown_format" : "no_such_date" });
    });
  const sorted = dates.map(({ date }) => date).toSorted();
  return { dates, errors, earliest: sorted[0] ?? null, latest: sorted.at(-1) ?? null };
};

export const logErrors: Solver = (description, input) => {
  const counted = [...stated(description, /Count the entries of level (.*?) in the log/).matchAll(/`(\w+)`/g)].map(
    (match) => match[1] ?? "",
  );
  const hours = new Counter();
  const services = new Counter();
  const errors: Json[] = [];
  let entries = 0;
  text(input, "log")
    .split("\n")
    .forEach((line, i) => {
      if (line === "" || /^[ \t]/.test(line)) return;
      const [time = "", level = "", ...rest] = line.split(" ");
      const stamp = /^(\d{4})-(\d\d)-(\d\d)T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{3})?(?:Z|[+-]\d\d:\d\d)$/.exec(time);
      const service = /^\[([a-z0-9-]+)\]$/.exec(rest[0] ?? "")?.[1];
      if (stamp === null || !dayExists(Number(stamp[1]), Number(stamp[2]), Number(stamp[3])))
        return errors.push({ line: i + 1, reason: "bad_time" });
      if (!["DEBUG", "INFO", "WARN", "ERROR", "FATAL"].includes(level)) return errors.push({ line: i + 1, reason: "bad_level" });
      if (service === undefined) return errors.push({ line: i + 1, reason: "bad_service" });
      entries++;
      if (!counted.includes(level)) return;
      hours.add(new Date(Date.parse(time)).toISOString().replace(/:.*/, "Z"));
      services.add(service);
      return;
    });
  const order = (a: string, b: string): number => (a < b ? -1 : 1);
  return {
    entries,
    hours: [...hours.counts].map(([hour, count]) => ({ hour, count })).toSorted((a, b) => order(a.hour, b.hour)),
    services: [...services.counts]
      .map(([service, count]) => ({ service, count }))
      .toSorted((a, b) => b.count - a.count || order(a.service, b.service)),
    errors,
  };
};
