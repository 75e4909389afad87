/** One independent solver for each kind of task: written from the descriptions, sharing nothing with generators or agents. */
import { htmlLinks, schemaCheck, textStatistics } from "./documents.ts";
import { invoiceTotals, isoDates, logErrors } from "./lines.ts";
import type { Solver } from "./read.ts";
import { csvToJson, duplicateRows, tableMerge } from "./tables.ts";

export const SOLVERS: Readonly<Record<string, Solver>> = {
  "csv-to-json": csvToJson,
  "html-links": htmlLinks,
  "invoice-totals": invoiceTotals,
  "duplicate-rows": duplicateRows,
  "schema-check": schemaCheck,
  "text-statistics": textStatistics,
  "iso-dates": isoDates,
  "table-merge": tableMerge,
  "log-errors": logErrors,
};
