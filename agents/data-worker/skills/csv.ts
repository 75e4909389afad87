/** Skill: CSV to JSON, with broken records reported by line. */
import { firstReason, mentions, stated, textOf, type JsonObject, type LineError, type Skill } from "./skill.ts";

const SEPARATORS: ReadonlyMap<string, string> = new Map([
  ["commas", ","],
  ["semicolons", ";"],
  ["tabs", "\t"],
]);

interface Field {
  readonly value: string;
  readonly stray: boolean;
  readonly open: boolean;
}

/** Walks over a text field by field. */
interface Cursor {
  readonly text: string;
  readonly separator: string;
  at: number;
}

/** The position of the next separator or line break, or the end. */
function fieldEnd({ text, separator }: Cursor, from: number): number {
  for (let at = from; at < text.length; at++) {
    const char = text[at];
    if (char === separator || char === "\n" || (char === "\r" && text[at + 1] === "\n")) return at;
  }
  return text.length;
}

function readField(cursor: Cursor): Field {
  const { text, at: start } = cursor;
  if (text[start] !== '"') {
    cursor.at = fieldEnd(cursor, start);
    const value = text.slice(start, cursor.at);
    return { value, stray: value.includes('"'), open: false };
  }
  let value = "";
  let from = start + 1;
  for (;;) {
    const quote = text.indexOf('"', from);
    if (quote === -1) {
      cursor.at = text.length;
      return { value: value + text.slice(from), stray: false, open: true };
    }
    value += text.slice(from, quote);
    if (text[quote + 1] !== '"') {
      cursor.at = fieldEnd(cursor, quote + 1);
      const after = text.slice(quote + 1, cursor.at);
      return { value: value + after, stray: after !== "", open: false };
    }
    value += '"';
    from = quote + 2;
  }
}

function readRecord(cursor: Cursor): Field[] {
  const fields = [readField(cursor)];
  while (cursor.text[cursor.at] === cursor.separator) {
    cursor.at++;
    fields.push(readField(cursor));
  }
  if (cursor.text[cursor.at] === "\r") cursor.at++;
  if (cursor.text[cursor.at] === "\n") cursor.at++;
  return fields;
}

function countLines(text: string): number {
  return text.split("\n").length - 1;
}

export const csv: Skill = {
  name: "csv",
  fits: (job) => mentions(job.description, "convert the csv", "json", "stray_quote", "column_count"),
  solve(description, input) {
    const separator = SEPARATORS.get(stated(description, /fields are separated by (\w+)/i));
    if (separator === undefined) throw new Error("the job's text names an unknown separator");
    const text = textOf(input, "csv").replace(/^\ufeff/, "");
    const cursor: Cursor = { text, separator, at: 0 };
    const columns = readRecord(cursor).map((field) => field.value);
    const rows: JsonObject[] = [];
    const errors: LineError[] = [];
    let line = 1 + countLines(text.slice(0, cursor.at));
    while (cursor.at < text.length) {
      const start = cursor.at;
      const fields = readRecord(cursor);
      const record = text.slice(start, cursor.at);
      const reason = firstReason(
        ["blank_line", record === "\n" || record === "\r\n"],
        ["unterminated_quote", fields.some((field) => field.open)],
        ["stray_quote", fields.some((field) => field.stray)],
        ["column_count", fields.length !== columns.length],
      );
      if (reason !== undefined) errors.push({ line, reason });
      else rows.push(Object.fromEntries(columns.map((name, i) => [name, fields[i]?.value ?? ""])));
      line += countLines(record);
    }
    return { columns, rows, errors };
  },
};
