/** Reference solvers for the tasks about tables: CSV, duplicates. */
import { isObject, type Json } from "../../../../src/core/json.ts";
import { list, stated, text, type Solver } from "./read.ts";

/** A character-by-character automaton over the whole text. */
export const csvToJson: Solver = (description, input) => {
  const named: Record<string, string> = { commas: ",", semicolons: ";", tabs: "\t" };
  const separator = named[stated(description, /separated by (\w+)/)];
  const csv = text(input, "csv").replace(/^\ufeff/, "");
  const records: { line: number; fields: string[]; stray: boolean; open: boolean; blank: boolean }[] = [];
  let at = 0;
  let line = 1;
  while (at < csv.length) {
    const record = { line, fields: [""], stray: false, open: false, blank: true };
    let state: "start" | "plain" | "quoted" | "closed" = "start";
    const put = (char: string): void => {
      record.fields[record.fields.length - 1] += char;
    };
    for (; at < csv.length; at++) {
      const char = csv[at] ?? "";
      if (char === "\n") line++;
      const ends = char === "\n" || (char === "\r" && csv[at + 1] === "\n");
      if (state === "quoted") {
        if (char !== '"') put(char);
        else if (csv[at + 1] === '"') {
          put(char);
          at++;
        } else state = "closed";
      } else if (ends) {
        if (char === "\r") {
          at++;
          line++;
        }
        at++;
        break;
      } else {
        record.blank = false;
        if (char === separator) {
          record.fields.push("");
          state = "start";
        } else if (char === '"' && state === "start") state = "quoted";
        else {
          if (char === '"' || state === "closed") record.stray = true;
          if (state === "start") state = "plain";
          put(char);
        }
      }
    }
    record.open = state === "quoted";
    records.push(record);
  }
  const columns = records[0]?.fields ?? [];
  const rows: Json[] = [];
  const errors: Json[] = [];
  for (const { line: start, fields, stray, open, blank } of records.slice(1)) {
    const checks: [boolean, string][] = [
      [blank, "blank_line"],
      [open, "unterminated_quote"],
      [stray, "stray_quote"],
      [fields.length !== columns.length, "column_count"],
    ];
    const reason = checks.find(([holds]) => holds)?.[1];
    if (reason !== undefined) errors.push({ line: start, reason });
    else rows.push(Object.fromEntries(columns.map((name, i) => [name, fields[i] ?? ""])));
  }
  return { columns, rows, errors };
};

export const duplicateRows: Solver = (description, input) => {
  const keys = [...stated(description, /they agree in (.*?) after normalising/).matchAll(/`(\w+)`/g)].map((match) => match[1] ?? "");
  const normal = (key: string, value: Json | undefined): string => {
    if (typeof value !== "string") return "";
    if (key === "phone") return value.replace(/[^0-9]/g, "").replace(/^00/, "");
    return value.trim().split(/\s+/u).join(" ").toLowerCase();
  };
  const errors: Json[] = [];
  const groups: Record<string, number[]> = {};
  list(input["records"]).forEach((record, index) => {
    if (!isObject(record)) return errors.push({ index, reason: "not_an_object" });
    const id = record["id"];
    if (typeof id !== "number" || !Number.isInteger(id) || id < 1) return errors.push({ index, reason: "bad_id" });
    const values = keys.map((key) => normal(key, record[key]));
    if (values.includes("")) return errors.push({ index, reason: "missing_key" });
    return (groups[`key ${JSON.stringify(values)}`] ??= []).push(id);
  });
  const all = Object.values(groups);
  return {
    groups: all.flatMap(([keep, ...drop]) => (keep === undefined || drop.length === 0 ? [] : [{ keep, drop }])),
    unique: all.filter((ids) => ids.length === 1).length,
    errors,
  };
};
