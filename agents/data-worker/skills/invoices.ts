/** Skill: adding up invoices, in whole cents from the first digit on. */
import { firstReason, mentions, textOf, type LineError, type Skill } from "./skill.ts";

const CODES: Readonly<Record<string, string>> = { EUR: "EUR", "€": "EUR", GBP: "GBP", "£": "GBP", USD: "USD", $: "USD" };
const MARKS = Object.keys(CODES);
const MONTH_LENGTHS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] as const;

interface Amount {
  readonly currency: string;
  readonly cents: number;
}

/** The currency and what is left of the text without it and the one space beside it. */
function splitCurrency(text: string): { currency: string; number: string } | undefined {
  for (const mark of MARKS) {
    const currency = CODES[mark] ?? mark;
    if (text.startsWith(mark)) return { currency, number: text.slice(mark.length).replace(/^ /, "") };
    if (text.endsWith(mark)) return { currency, number: text.slice(0, -mark.length).replace(/ $/, "") };
  }
  return undefined;
}

/** Cents of an unsigned number with perhaps one kind of grouping and a decimal part. */
function readNumber(text: string): number | undefined {
  const [, whole = "", point, decimals = ""] = /^(.*?)(?:([.,])(\d{1,2}))?$/.exec(text) ?? [];
  const groups = whole.split(/[.,' ]/);
  const separators = new Set(whole.replace(/\d/g, ""));
  const grouped = groups.length > 1;
  const fits = groups.every((group, i) => (!grouped ? /^\d+$/ : i === 0 ? /^\d{1,3}$/ : /^\d{3}$/).test(group));
  if (!fits || separators.size > 1 || (point !== undefined && separators.has(point))) return undefined;
  const cents = Number(groups.join("") + decimals.padEnd(2, "0"));
  return Number.isSafeInteger(cents) ? cents : undefined;
}

function readAmount(text: string): Amount | undefined {
  const parentheses = text.startsWith("(") && text.endsWith(")");
  const bare = parentheses ? text.slice(1, -1) : text;
  // A minus before the currency's code would not stand directly before the first digit.
  const split = splitCurrency(bare);
  if (split === undefined) return undefined;
  const minus = split.number.startsWith("-");
  const cents = readNumber(minus ? split.number.slice(1) : split.number);
  if (cents === undefined || (minus && parentheses)) return undefined;
  return { currency: split.currency, cents: minus || parentheses ? -cents : cents };
}

/** Tenths of a per cent. */
function readRate(text: string): number | undefined {
  const [, whole, tenths = "0"] = /^(\d+)(?:\.(\d))?%$/.exec(text) ?? [];
  return whole === undefined ? undefined : Number(whole + tenths);
}

/** Whole cents, halves away from zero; the products stay far below 2^53. */
function taxOf(cents: number, rateTenths: number): number {
  const thousandths = Math.abs(cents) * rateTenths;
  const rest = thousandths % 1_000;
  const tax = (thousandths - rest) / 1_000 + (rest >= 500 ? 1 : 0);
  return cents < 0 ? -tax : tax;
}

function isDate(text: string): boolean {
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text) ?? [];
  return year !== undefined && Number(day) >= 1 && Number(day) <= monthLength(Number(year), Number(month));
}

/** The days of a month of the Gregorian calendar; none where there is no such month. */
function monthLength(year: number, month: number): number {
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return month === 2 && leap ? 29 : (MONTH_LENGTHS[month - 1] ?? 0);
}

export const invoices: Skill = {
  name: "invoices",
  fits: (job) => mentions(job.description, "add up the invoices", "duplicate_invoice", "unknown_currency"),
  solve(_, input) {
    const totals = new Map(["EUR", "GBP", "USD"].map((code) => [code, { invoices: 0, net: 0, tax: 0, gross: 0 }]));
    const errors: LineError[] = [];
    const seen = new Set<string>();
    textOf(input, "text")
      .split("\n")
      .forEach((text, i) => {
        if (text === "" || text.startsWith("#")) return;
        const fields = text.split("|").map((field) => field.trim());
        const [number = "", date = "", , amountText = "", rateText = ""] = fields;
        const amount = readAmount(amountText);
        const rate = readRate(rateText);
        const reason = firstReason(
          ["field_count", fields.length !== 5],
          ["bad_number", !/^INV-\d{4,6}$/.test(number)],
          ["bad_date", !isDate(date)],
          ["unknown_currency", !MARKS.some((mark) => amountText.includes(mark))],
          ["bad_amount", amount === undefined],
          ["bad_rate", rate === undefined],
          ["duplicate_invoice", seen.has(number)],
        );
        const total = totals.get(amount?.currency ?? "");
        if (reason !== undefined || amount === undefined || rate === undefined || total === undefined) {
          errors.push({ line: i + 1, reason: reason ?? "bad_amount" });
          return;
        }
        seen.add(number);
        const tax = taxOf(amount.cents, rate);
        total.invoices += 1;
        total.net += amount.cents;
        total.tax += tax;
        total.gross += amount.cents + tax;
      });
    return { totals: Object.fromEntries(totals), errors };
  },
};
