/** Task: convert a CSV text with quotes, line breaks and broken records to JSON. */
import type { JsonObject } from "../../../core/json.ts";
import type { Random } from "../../../core/random.ts";
import { between, bullets, chance, EXACTLY, isoDay, type Kind, type LineError, paragraphs, randomDay, sample } from "./job-draft.ts";
import { CITIES, COMPANIES, FIRST_NAMES, LAST_NAMES, PRODUCTS, REMARKS } from "./vocabulary.ts";

const SEPARATORS = { commas: ",", semicolons: ";", tabs: "\t" } as const;
type SeparatorName = keyof typeof SEPARATORS;

const COLUMNS: Readonly<Record<string, (random: Random) => string>> = {
  sku: (random) => `${random.word(3).toUpperCase()}-${between(random, 100, 9_999)}`,
  product: (random) => random.pick(PRODUCTS),
  customer: (random) => `${random.pick(FIRST_NAMES)} ${random.pick(LAST_NAMES)}`,
  city: (random) => random.pick(CITIES),
  quantity: (random) => String(between(random, 0, 400)),
  "unit price": (random) => (between(random, 5, 99_999) / 100).toFixed(2),
  ordered: (random) => isoDay(randomDay(random)),
  remark: (random) => random.pick(REMARKS),
};

function description(separator: SeparatorName): string {
  return paragraphs(
    "Convert the CSV text in `input.csv` to JSON.",
    `How to read it. Fields are separated by ${separator}. A record ends at a line break, which is CR LF or LF alone; both occur. ` +
      "The line break after the last record may be missing; a line break at the very end does not begin another record. " +
      "A field whose very first character is a double quote is quoted: it goes on to the closing double quote and may contain separators, " +
      'line breaks and double quotes, each of these written twice (""). Line breaks inside a quoted field are kept as they are (CR LF stays CR LF). ' +
      "Nothing is trimmed: spaces are part of a field. A byte order mark (U+FEFF) at the very start, where there is one, is not part of the text.",
    "The first record is the header and is well formed. Every other good record becomes one row: an object with the header's names as keys, in input order. " +
      'All values are texts; an empty field is "".',
    bullets("A record that shows one of these is no row but an error. Where several apply, report only the first of this list:", [
      "`blank_line`: the record is an empty line, without any character.",
      "`unterminated_quote`: a quoted field is still open at the end of the text.",
      "`stray_quote`: a double quote stands in a field that does not begin with one, or anything else than a separator or line break follows " +
        "the closing quote. Those characters are then read as plain text up to the next separator or line break, and the fields after them as usual.",
      "`column_count`: the number of fields differs from the header's.",
    ]),
    "`line` is the number of the line on which the record begins: the first line is 1, and every line break counts, also those inside quoted fields.",
    'Deliver {"columns": [the header\'s names], "rows": [{…}], "errors": [{"line": 12, "reason": "column_count"}]}, errors by line. ' +
      EXACTLY,
  );
}

function write(random: Random, value: string, separator: string): string {
  const mustQuote = /["\r\n]/.test(value) || value.includes(separator);
  return mustQuote || chance(random, 0.12) ? `"${value.replaceAll('"', '""')}"` : value;
}

/** A broken record's text, and why it is broken. `fields` are written already. */
function breakRecord(random: Random, fields: readonly string[], separator: string): { text: string; reason: string } {
  const fault = random.pick(["blank_line", "stray_quote", "column_count", "column_count"] as const);
  if (fault === "blank_line") return { text: "", reason: fault };
  if (fault === "stray_quote") {
    const odd = random.pick(['19" rack', 'the "best" one', '"closed" early', '5"']);
    return { text: fields.with(random.int(fields.length), odd).join(separator), reason: fault };
  }
  const other = chance(random, 0.5) ? fields.slice(0, -1) : [...fields, "surplus"];
  return { text: other.join(separator), reason: fault };
}

function lineBreaks(text: string): number {
  return text.split("\n").length - 1;
}

export const csvToJson: Kind = {
  name: "csv-to-json",
  draft(random) {
    const separatorName = random.pick(["commas", "semicolons", "tabs"] as const);
    const separator = SEPARATORS[separatorName];
    const columns = sample(random, Object.keys(COLUMNS), between(random, 5, 8));
    const records = between(random, 150, 600);
    const rows: JsonObject[] = [];
    const errors: LineError[] = [];
    const usualBreak = random.pick(["\n", "\r\n"] as const);
    let csv = (chance(random, 0.3) ? "\ufeff" : "") + columns.join(separator) + "\r\n";
    let line = 2;
    for (let i = 1; i <= records; i++) {
      const last = i === records;
      const values = columns.map((name) => COLUMNS[name]?.(random) ?? "");
      const fields = values.map((value) => write(random, value, separator));
      let text = fields.join(separator);
      let end: string = chance(random, 0.1) ? (usualBreak === "\n" ? "\r\n" : "\n") : usualBreak;
      if (last && chance(random, 0.4)) {
        text = [...fields.slice(0, -1), '"never closed'].join(separator);
        errors.push({ line, reason: "unterminated_quote" });
      } else if (!last && (i === 7 || chance(random, 0.03))) {
        const broken = breakRecord(random, fields, separator);
        text = broken.text;
        errors.push({ line, reason: broken.reason });
      } else {
        rows.push(Object.fromEntries(columns.map((name, at) => [name, values[at] ?? ""])));
        if (last && chance(random, 0.5)) end = "";
      }
      csv += text + end;
      line += lineBreaks(text + end);
    }
    return {
      title: `Convert ${records} records of CSV to JSON for ${random.pick(COMPANIES)}`,
      description: description(separatorName),
      skills: ["csv", "json"],
      input: { csv },
      answer: { columns, rows, errors },
      reward: 5 + Math.ceil(records / 60),
    };
  },
};
