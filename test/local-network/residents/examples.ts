/** Small inputs with answers worked out by hand from the descriptions: what every solver must get right. */
import type { Json, JsonObject } from "../../../src/core/json.ts";

export interface Example {
  readonly kind: string;
  /** Words of the description that pick the variant of the rules. */
  readonly variant: string;
  readonly input: JsonObject;
  readonly answer: Json;
}

export const EXAMPLES: readonly Example[] = [
  {
    kind: "csv-to-json",
    variant: "separated by commas",
    input: {
      csv: '\ufeffsku,remark\r\nA1,"say ""hi"", twice"\nA2,"one\r\ntwo"\r\n\nA3\nA4,5" rack\nA5, x \n"A6"x,y\nA7,\nA8,"open',
    },
    answer: {
      columns: ["sku", "remark"],
      rows: [
        { sku: "A1", remark: 'say "hi", twice' },
        { sku: "A2", remark: "one\r\ntwo" },
        { sku: "A5", remark: " x " },
        { sku: "A7", remark: "" },
      ],
      errors: [
        { line: 5, reason: "blank_line" },
        { line: 6, reason: "column_count" },
        { line: 7, reason: "stray_quote" },
        { line: 9, reason: "stray_quote" },
        { line: 11, reason: "unterminated_quote" },
      ],
    },
  },
  {
    kind: "invoice-totals",
    variant: "Add up the invoices",
    input: {
      text: [
        "# header",
        "INV-1000 | 2026-03-04 | Acme | 1.234,50 EUR | 19%",
        "INV-1001|2026-03-04|Acme|€1,234|0%",
        "INV-1002 | 2026-03-04 | Acme | (0,10 EUR) | 5.5%",
        "",
        "INV-1003 | 2026-02-29 | Acme | 1 EUR | 19%",
        "INV-1000 | 2026-03-04 | Acme | 1 EUR | 19%",
        "INV-1004 | 2026-03-04 | Acme | 12,34,5 EUR | 19%",
        "INV-1005 | 2026-03-04 | Acme | 12 CHF | 19%",
        "INV-1006 | 2026-03-04 | Acme | $ -1'000.5 | 7%",
        "INV-1007 | 2026-03-04 | Acme | 1 EUR",
        "INV-1 | never | Acme | 1 EUR | 19%",
        "INV-1008 | 2026-03-04 | Acme | 1 EUR | 19",
        "INV-1009 | 2026-03-04 | Acme | 0.10 EUR | 25%",
      ].join("\n"),
    },
    answer: {
      // tax: 123450 * 0.19 = 23455.5 -> 23456; -10 * 0.055 = -0.55 -> -1; 10 * 0.25 = 2.5 -> 3
      totals: {
        EUR: { invoices: 4, net: 246_850, tax: 23_458, gross: 270_308 },
        GBP: { invoices: 0, net: 0, tax: 0, gross: 0 },
        USD: { invoices: 1, net: -100_050, tax: -7_004, gross: -107_054 },
      },
      errors: [
        { line: 6, reason: "bad_date" },
        { line: 7, reason: "duplicate_invoice" },
        { line: 8, reason: "bad_amount" },
        { line: 9, reason: "unknown_currency" },
        { line: 11, reason: "field_count" },
        { line: 12, reason: "bad_number" },
        { line: 13, reason: "bad_rate" },
      ],
    },
  },
  {
    kind: "duplicate-rows",
    variant: "agree in `name` and `phone`",
    input: {
      records: [
        { id: 7, name: "Ada  Müller ", phone: "+49 30-123" },
        { id: 3, name: "Ada Muller", phone: "4930123" },
        "x",
        { id: 9, name: "ada müller", phone: "0049 (30) 123", email: "other@example.com" },
        { id: "4", name: "Ada Müller", phone: "4930123" },
        { id: 5, name: "Ada Müller", phone: "n/a" },
        { id: 2, name: "ADA\u00a0MÜLLER", phone: "49 30 123" },
      ],
    },
    answer: {
      groups: [{ keep: 7, drop: [9, 2] }],
      unique: 1,
      errors: [
        { index: 2, reason: "not_an_object" },
        { index: 4, reason: "bad_id" },
        { index: 5, reason: "missing_key" },
      ],
    },
  },
  {
    kind: "text-statistics",
    variant: "at least 3 letters",
    input: { text: "Don’t run! The well-known cat\r\nsat 3.5 times... Why?!\r\n \t\r\nDON'T (the) cat." },
    answer: {
      paragraphs: [
        { sentences: 3, words: 8 },
        { sentences: 1, words: 3 },
      ],
      words: 11,
      distinct: 8,
      // dont 4, run 3, the 3, wellknown 9, cat 3, sat 3, times 5, why 3, dont 4, the 3, cat 3: 43 letters, 390.9 hundredths
      letters: 43,
      meanLengthHundredths: 391,
      longest: "well-known",
      top: [
        { word: "cat", count: 2 },
        { word: "don't", count: 2 },
        { word: "the", count: 2 },
        { word: "run", count: 1 },
        { word: "sat", count: 1 },
        { word: "times", count: 1 },
        { word: "well-known", count: 1 },
        { word: "why", count: 1 },
      ],
    },
  },
];

/** The example with what a description leaves open filled in: the length of the list of words. */
export function fitted(example: Example, description: string): { input: JsonObject; answer: Json } {
  const topCount = Number(/the (\d+) most frequent/.exec(description)?.[1] ?? 0);
  const text = JSON.stringify({ input: example.input, answer: example.answer });
  const shorten = (name: string, value: unknown): unknown => (name === "top" && Array.isArray(value) ? value.slice(0, topCount) : value);
  return JSON.parse(text, shorten) as { input: JsonObject; answer: Json };
}
