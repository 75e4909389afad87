/** The log as a file: all pages, as JSON lines or CSV, read only as fast as the other end takes it. */
import { Retryable } from "../core/errors.ts";
import type { Guardian } from "../guardian/guardian.ts";
import type { LogEntry, LogQuery } from "../guardian/log-entries.ts";

export const EXPORT_FORMATS = ["jsonl", "csv"] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

export const CONTENT_TYPES: { readonly [format in ExportFormat]: string } = {
  jsonl: "application/jsonl; charset=utf-8",
  csv: "text/csv; charset=utf-8",
};

const PAGE = 500;

/** The columns of a CSV: those of actions and of failures. */
const COLUMNS = [
  "at",
  "about",
  "handle",
  "operation",
  "kind",
  "target",
  "state",
  "code",
  "message",
  "words",
  "created",
  "id",
  "sentAt",
  "settledAt",
  "tries",
  "file",
  "line",
] as const;
const TIMES: readonly string[] = ["at", "sentAt", "settledAt"];

/** Texts that make the file when joined, newest entry first. Throws `Retryable` (`nobody_at_work`) rather than leave entries out. */
export async function* exportLog(
  guardian: Pick<Guardian, "log">,
  filter: Omit<LogQuery, "before" | "limit">,
  format: ExportFormat,
): AsyncGenerator<string> {
  const line = LINES[format];
  if (format === "csv") yield `${COLUMNS.join(",")}\r\n`;
  let before: number | undefined;
  let last: number | undefined;
  do {
    last = before;
    const page = await guardian.log({ ...filter, limit: PAGE, ...(before === undefined ? {} : { before }) });
    if (page.unseen !== undefined)
      throw new Retryable("nobody_at_work", page.unseen, { hint: "export again once a process has taken them" });
    if (page.entries.length > 0) yield page.entries.map(line).join("");
    before = page.next;
    // A position counts the entries of its millisecond up to 1,000, and stays where there are more.
  } while (before !== undefined && before !== last);
}

const LINES: { readonly [format in ExportFormat]: (entry: LogEntry) => string } = {
  jsonl: (entry) => `${JSON.stringify(entry)}\n`,
  csv: (entry) => `${COLUMNS.map((name) => cell(name, Reflect.get(entry, name))).join(",")}\r\n`,
};

function cell(name: string, value: unknown): string {
  if (typeof value === "number") return TIMES.includes(name) ? new Date(value).toISOString() : String(value);
  return typeof value === "string" ? csvText(value) : "";
}

/**
 * A text as a cell. A spreadsheet would run a text that begins like a formula, so it is given a quote that shows it as text:
 * https://owasp.org/www-community/attacks/CSV_Injection. Control characters would steer a terminal.
 */
export function csvText(text: string): string {
  // oxlint-disable-next-line no-control-regex -- these are the characters that are taken out
  const harmless = text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, " ");
  const shown = /^\s*[=+\-@|%]/.test(harmless) || /^[\t\n]/.test(harmless) ? `'${harmless}` : harmless;
  return `"${shown.replaceAll('"', '""')}"`;
}
