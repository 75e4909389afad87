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
    kind: "html-links",
    variant: "List the links",
    input: {
      url: "https://www.example.com/a/b/index.html",
      html: [
        '<html><!-- <base href="https://no.example/"> --><base href="/docs/v1/">',
        '<a href="x.html#top">x</a> <A title="a > b" HREF=../y.html>y</A> <a name="n">n</a>',
        '<script>"<a href=z.html>"</script><abbr href="q">q</abbr> <a href="./x.html">again</a>',
        '<a href="">e</a> <a href="mailto:me@example.com">m</a> <area href=\'/s?a=1&amp;b=2\'>',
        '<a href="http://">bad</a> <a href="lost.html>lost</a>',
        "<a href='HTTP://Example.com:80'>h</a> <a href=\"two words\">w</a>",
      ].join("\n"),
    },
    answer: {
      base: "https://www.example.com/docs/v1/",
      links: [
        { url: "https://www.example.com/docs/v1/x.html", count: 2 },
        { url: "https://www.example.com/docs/y.html", count: 1 },
        { url: "https://www.example.com/s?a=1&b=2", count: 1 },
        { url: "http://example.com/", count: 1 },
        { url: "https://www.example.com/docs/v1/two%20words", count: 1 },
      ],
      other: 1,
      errors: [
        { line: 4, reason: "empty_href" },
        { line: 5, reason: "invalid_url" },
        { line: 5, reason: "unclosed_tag" },
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
    kind: "schema-check",
    variant: "Validate the documents",
    input: {
      schema: {
        type: "object",
        properties: {
          id: { type: "string", pattern: "[0-9]", maxLength: 3 },
          n: { type: "integer", minimum: 1 },
          tags: { type: "array", items: { enum: ["a", "b"] }, uniqueItems: true, minItems: 1 },
        },
        required: ["id", "n"],
        additionalProperties: false,
      },
      ndjson: [
        '{"id": "🙂🙂1", "n": 2.0}',
        '{"id": "abcd", "n": 0.5, "tags": ["a", "c", "a"], "z": 1}',
        "",
        "{n: 1}",
        '{"tags": [], "n": 0}',
        "null",
      ].join("\n"),
    },
    answer: {
      valid: 1,
      invalid: [
        {
          line: 2,
          failures: [
            { path: "/id", keyword: "maxLength" },
            { path: "/id", keyword: "pattern" },
            { path: "/n", keyword: "type" },
            { path: "/tags", keyword: "uniqueItems" },
            { path: "/tags/1", keyword: "enum" },
            { path: "/z", keyword: "additionalProperties" },
          ],
        },
        {
          line: 5,
          failures: [
            { path: "/id", keyword: "required" },
            { path: "/n", keyword: "minimum" },
            { path: "/tags", keyword: "minItems" },
          ],
        },
        { line: 6, failures: [{ path: "", keyword: "type" }] },
      ],
      errors: [{ line: 4, reason: "not_json" }],
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
  {
    kind: "iso-dates",
    variant: "In this list the month comes first",
    input: {
      text: [
        "2024/02/29",
        " 3/4/99 ",
        "25/12/2026",
        "4TH mar 68",
        "MARCH 4 2026",
        "2026-W01-1",
        "2024-366",
        "2026-3-4",
        "20260230",
        "",
        "4-Mar-2026",
        "Sept 4 2026",
        "2021-W53-5",
      ].join("\n"),
    },
    answer: {
      dates: [
        { line: 1, date: "2024-02-29" },
        { line: 2, date: "1999-03-04" },
        { line: 4, date: "2068-03-04" },
        { line: 5, date: "2026-03-04" },
        { line: 6, date: "2025-12-29" },
        { line: 7, date: "2024-12-31" },
        { line: 11, date: "2026-03-04" },
      ],
      errors: [
        { line: 3, reason: "no_such_date" },
        { line: 8, reason: "unknown_format" },
        { line: 9, reason: "no_such_date" },
        { line: 10, reason: "empty" },
        { line: 12, reason: "unknown_format" },
        { line: 13, reason: "no_such_date" },
      ],
      earliest: "1999-03-04",
      latest: "2068-03-04",
    },
  },
  {
    kind: "table-merge",
    variant: "every column of the right table is null",
    input: {
      left: "KEY\tname\tcity\nc-01\tAda\tLima\nC-2\tBob\tOslo\n\nC1\tEve\tRome\nC-1 \tCid\t Bonn",
      right: "KEY\tcity\tsince\nC-0001\tLyon\t2020\nc-1\tNice\t2021\nC-3\tKiel\t2022\nC-2\tRiga",
    },
    answer: {
      rows: [
        { KEY: "c-01", name: "Ada", city: "Lima", right_city: "Lyon", since: "2020" },
        { KEY: "C-2", name: "Bob", city: "Oslo", right_city: null, since: null },
        { KEY: "C-1", name: "Cid", city: "Bonn", right_city: "Lyon", since: "2020" },
      ],
      unmatchedLeft: 1,
      unmatchedRight: ["C-3"],
      errors: [
        { table: "left", line: 4, reason: "column_count" },
        { table: "left", line: 5, reason: "bad_key" },
        { table: "right", line: 3, reason: "duplicate_key" },
        { table: "right", line: 5, reason: "column_count" },
      ],
    },
  },
  {
    kind: "log-errors",
    variant: "level `ERROR` and `FATAL`",
    input: {
      log: [
        "2026-03-04T23:30:00Z ERROR [auth] down",
        "\tat main",
        "2026-03-05T01:10:00.250+02:00 FATAL [auth]",
        "2026-03-04T23:59:59-00:30 ERROR [mail-2] late",
        "",
        "2026-03-04T23:59:60Z ERROR [auth] leap",
        "2026-03-04T23:59:00Z WARN [auth] soon",
        "2026-03-04T23:59:00Z error [auth] small",
        "2026-03-04T23:59:00Z ERROR [Auth] capital",
        "2026-02-29T23:59:00Z ERROR [auth] no leap year",
      ].join("\n"),
    },
    answer: {
      entries: 4,
      hours: [
        { hour: "2026-03-04T23Z", count: 2 },
        { hour: "2026-03-05T00Z", count: 1 },
      ],
      services: [
        { service: "auth", count: 2 },
        { service: "mail-2", count: 1 },
      ],
      errors: [
        { line: 6, reason: "bad_time" },
        { line: 8, reason: "bad_level" },
        { line: 9, reason: "bad_service" },
        { line: 10, reason: "bad_time" },
      ],
    },
  },
];

/** The example with what a description leaves open filled in: the name of the key column, the length of the list of words. */
export function fitted(example: Example, description: string): { input: JsonObject; answer: Json } {
  const key = /by their column `(\w+)`/.exec(description)?.[1] ?? "KEY";
  const topCount = Number(/the (\d+) most frequent/.exec(description)?.[1] ?? 0);
  const text = JSON.stringify({ input: example.input, answer: example.answer }).replaceAll("KEY", key);
  const shorten = (name: string, value: unknown): unknown => (name === "top" && Array.isArray(value) ? value.slice(0, topCount) : value);
  return JSON.parse(text, shorten) as { input: JsonObject; answer: Json };
}
