/** One independent solver for each kind of task: written from the descriptions, sharing nothing with generators or agents. */
import { invoiceTotals } from "./invoices.ts";
import type { Solver } from "./read.ts";
import { csvToJson, duplicateRows } from "./tables.ts";
import { textStatistics } from "./texts.ts";

export const SOLVERS: Readonly<Record<string, Solver>> = {
  "csv-to-json": csvToJson,
  "invoice-totals": invoiceTotals,
  "duplicate-rows": duplicateRows,
  "text-statistics": textStatistics,
};
