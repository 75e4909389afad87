/** Reference solver for adding up invoices. */
import type { Json } from "../../../../src/core/json.ts";
import { text, type Solver } from "./read.ts";

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
