/** Task: add up invoices written in many number formats, exact to the cent, per currency. */
import type { Random } from "../../../core/random.ts";
import { between, bullets, chance, EXACTLY, isoDay, type Kind, type LineError, pad, paragraphs, randomDay } from "./job-draft.ts";
import { COMPANIES } from "./vocabulary.ts";

const description = paragraphs(
  "Add up the invoices in `input.text`, one on each line, lines ending with LF. Empty lines and lines that begin with `#` are skipped, but they count as lines.",
  "A line has five fields separated by `|`: number, date, customer, amount before tax, tax rate. White space around a field is not part of it.",
  bullets("How the amount is written:", [
    "A currency and a number, in either order, with or without a space between. The currency is EUR, USD or GBP, or one of the signs €, $, £ for the same three.",
    "The number is digits, perhaps grouped in thousands by one kind of separator (comma, point, apostrophe or space): then the first group has one to three digits and " +
      "every other group exactly three. It may end in a decimal part: a comma or point, other than the grouping separator, and one or two digits. " +
      "So `1,234` and `1.234` are one thousand two hundred and thirty-four, `1,23` and `1.2` have a decimal part, `1.234,5` is 1234.50.",
    "A credit note has `-` directly before the first digit, or has the whole amount, currency included, in parentheses: `-12.00 EUR`, `€-12`, `(12.00 EUR)`. It counts negative.",
  ]),
  "The tax rate is a number of per cent, digits with at most one decimal after a point, then `%`: `19%`, `5.5%`. The tax of each invoice is its amount times the rate, rounded " +
    "to whole cents, halves away from zero; tax is rounded per invoice, before adding.",
  bullets("A line that shows one of these does not count but is an error. Where several apply, report only the first of this list:", [
    "`field_count`: not exactly five fields.",
    "`bad_number`: the number is not `INV-` and four to six digits.",
    "`bad_date`: the date is not a day of the calendar written YYYY-MM-DD.",
    "`unknown_currency`: none of the three codes and three signs occurs in the amount.",
    "`bad_amount`: the amount is not written as described.",
    "`bad_rate`: the tax rate is not written as described.",
    "`duplicate_invoice`: an earlier line without an error has the same number.",
  ]),
  'Deliver {"totals": {"EUR": {"invoices": 3, "net": 123456, "tax": 23457, "gross": 146913}, "GBP": {…}, "USD": {…}}, "errors": [{"line": 12, "reason": "bad_date"}]}: ' +
    "sums in whole cents, gross is net plus tax, all three currencies always present (zeros where there is no invoice); errors by line, the first line being 1. " +
    EXACTLY,
);

const CURRENCIES = { EUR: "€", GBP: "£", USD: "$" } as const;
type Currency = keyof typeof CURRENCIES;
const CODES: readonly Currency[] = ["EUR", "GBP", "USD"];
const RATES_TENTHS = [0, 55, 70, 75, 190, 200, 210, 250] as const;

/** Grouping separator and decimal sign as people write them. */
const STYLES: readonly (readonly [string, string])[] = [
  ["", "."],
  ["", ","],
  [",", "."],
  [".", ","],
  [" ", ","],
  ["'", "."],
];

function writeNumber(random: Random, cents: number): string {
  const [group, point] = random.pick(STYLES);
  const whole = String(Math.floor(cents / 100)).replace(/\B(?=(\d{3})+$)/g, group);
  const rest = cents % 100;
  if (rest === 0 && chance(random, 0.5)) return whole;
  if (rest % 10 === 0 && chance(random, 0.5)) return `${whole}${point}${rest / 10}`;
  return `${whole}${point}${pad(rest, 2)}`;
}

function writeAmount(random: Random, cents: number, currency: Currency): string {
  const mark = random.pick([currency, CURRENCIES[currency]]);
  const parentheses = cents < 0 && chance(random, 0.4);
  const number = (cents < 0 && !parentheses ? "-" : "") + writeNumber(random, Math.abs(cents));
  const space = random.pick([" ", ""]);
  const amount = chance(random, 0.5) ? `${mark}${space}${number}` : `${number}${space}${mark}`;
  return parentheses ? `(${amount})` : amount;
}

/** Whole cents, halves away from zero. */
function taxOf(cents: number, rateTenths: number): number {
  const tax = Math.floor((2 * Math.abs(cents) * rateTenths + 1_000) / 2_000);
  return cents < 0 ? -tax : tax;
}

const BROKEN: Readonly<Record<string, (random: Random, fields: string[]) => string[]>> = {
  field_count: (random, fields) => (chance(random, 0.5) ? fields.slice(0, 4) : [...fields, "paid"]),
  bad_number: (random, fields) => fields.with(0, random.pick(["INV-12", "INV 20311", "inv-20311", "20311", "INV-2031x", ""])),
  bad_date: (random, fields) =>
    fields.with(1, random.pick(["2026-02-30", "2025-13-01", "03/04/2026", "2026-4-03", "2023-02-29", "yesterday"])),
  unknown_currency: (random, fields) => fields.with(3, random.pick(["1,234.50", "12.00 CHF", "n/a", "99.90 eur", ""])),
  bad_amount: (random, fields) =>
    fields.with(
      3,
      random.pick([
        "12,34,56 EUR",
        "1.234.5O EUR",
        "USD --5.00",
        "$ 1,234.567",
        "EUR",
        "12.345.6 £",
        "1234,567 EUR",
        "€ 5.",
        "1,234,50 EUR",
      ]),
    ),
  bad_rate: (random, fields) => fields.with(4, random.pick(["19", "VAT", "19,5%", "-7%", "5.55%", ""])),
};

export const invoiceTotals: Kind = {
  name: "invoice-totals",
  draft(random) {
    const wanted = between(random, 150, 600);
    const lines = [`# export of ${isoDay(randomDay(random))}`];
    const errors: LineError[] = [];
    const totals = new Map(CODES.map((code) => [code, { invoices: 0, net: 0, tax: 0, gross: 0 }]));
    const used: string[] = [];
    let serial = between(random, 1_000, 80_000);
    while (lines.length < wanted) {
      const line = lines.length + 1;
      if (chance(random, 0.03)) {
        lines.push(random.pick(["", "# checked", "#"]));
        continue;
      }
      serial += between(random, 1, 9);
      const currency = random.pick(CODES);
      const cents = between(random, 1, 4_000_000) * (chance(random, 0.08) ? -1 : 1);
      const even = chance(random, 0.3) ? Math.trunc(cents / 100) * 100 || 100 : cents;
      const rate = random.pick(RATES_TENTHS);
      const rateText = `${rate / 10}%`;
      const number = `INV-${serial}`;
      let fields = [number, isoDay(randomDay(random)), random.pick(COMPANIES), writeAmount(random, even, currency), rateText];
      if (line === 9 || chance(random, 0.05)) {
        const again = chance(random, 0.2) && used.length > 0;
        const reason = again ? "duplicate_invoice" : random.pick(Object.keys(BROKEN));
        fields = again ? fields.with(0, random.pick(used)) : (BROKEN[reason]?.(random, fields) ?? fields);
        errors.push({ line, reason });
      } else {
        used.push(number);
        const total = totals.get(currency);
        const tax = taxOf(even, rate);
        if (total !== undefined)
          totals.set(currency, {
            invoices: total.invoices + 1,
            net: total.net + even,
            tax: total.tax + tax,
            gross: total.gross + even + tax,
          });
      }
      lines.push(fields.join(random.pick([" | ", "|", "  |  "])));
    }
    return {
      title: `Add up ${wanted} lines of invoices for ${random.pick(COMPANIES)}`,
      description,
      skills: ["invoices", "sums"],
      input: { text: lines.join("\n") },
      answer: { totals: Object.fromEntries(totals), errors },
      reward: 6 + Math.ceil(wanted / 50),
    };
  },
};
