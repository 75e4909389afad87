/** Lays out a table within the width of the output: cells wrap at words, and a table too wide for that lists its rows one by one. */
import { visible } from "../core/visible.ts";
import { type Paint, type Printable, say, type Text } from "./text.ts";
import { fit, pad, width, wordLines } from "./width.ts";

export interface Column<Row> {
  readonly title: string;
  readonly value: (row: Row) => string | number;
  readonly align?: "left" | "right";
}

/** Longer cells are cut: `why` and `--json` have the whole. */
const MAX_CELL = 300;
/** Cells of more lines than this are easier to read one below the other. */
const MAX_CELL_LINES = 4;
const GAP = "  ";

export function tableLines<Row>(rows: readonly Row[], columns: readonly Column<Row>[], paint: Paint, available: number): readonly Text[] {
  const titles = columns.map(({ title }) => title);
  const cells = rows.map((row) => columns.map(({ value }) => fit(visible(String(value(row))), MAX_CELL)));
  const widths = fittingWidths([titles, ...cells], available);
  if (widths === undefined) return cells.flatMap((row) => listed(titles, row, paint, available));
  const lines = (row: readonly string[]): readonly string[] => {
    const parts = row.map((text, index) => wordLines(text, widths[index] ?? 0));
    const height = Math.max(1, ...parts.map((part) => part.length));
    const piece = (index: number, at: number): string =>
      pad(parts[index]?.[at] ?? "", widths[index] ?? 0, columns[index]?.align === "right");
    return Array.from({ length: height }, (_, at) =>
      columns
        .map((_column, index) => piece(index, at))
        .join(GAP)
        .trimEnd(),
    );
  };
  return [...lines(titles).map((line) => paint.dim(line)), ...cells.flatMap(lines)];
}

/** Widths that break no word; undefined if there are none, or if cells would become towers. */
function fittingWidths(rows: readonly (readonly string[])[], available: number): readonly number[] | undefined {
  const columns = (rows[0] ?? []).map((_, index) => rows.map((row) => row[index] ?? ""));
  const natural = columns.map((texts) => Math.max(0, ...texts.map(width)));
  const least = columns.map((texts) => Math.max(0, ...texts.flatMap((text) => text.split(" ")).map(width)));
  const room = available - GAP.length * (columns.length - 1);
  const widths = sum(natural) <= room ? natural : [...least];
  for (let left = room - sum(widths); left > 0 && widths !== natural; left--) {
    const narrowest = widths.reduce((best, one, index) => (ratio(natural, widths, index) > ratio(natural, widths, best) ? index : best), 0);
    if (ratio(natural, widths, narrowest) <= 1) break;
    widths[narrowest] = (widths[narrowest] ?? 0) + 1;
  }
  const towers = columns.some((texts, index) => texts.some((text) => wordLines(text, widths[index] ?? 0).length > MAX_CELL_LINES));
  return sum(widths) > room || towers ? undefined : widths;
}

function ratio(natural: readonly number[], widths: readonly number[], index: number): number {
  return (natural[index] ?? 0) / Math.max(1, widths[index] ?? 0);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0);
}

/** One row: its first cell, and below it the titles with the others that say something. */
function listed(
  titles: readonly string[],
  [first = "", ...rest]: readonly string[],
  paint: Paint,
  available: number,
): readonly Printable[] {
  const label = Math.max(0, ...titles.slice(1).map(width));
  const room = available - label - 2 * GAP.length;
  const told = rest.flatMap((text, index) => {
    if (text === "" || text === "-") return [];
    const title = pad(titles[index + 1] ?? "", label, false);
    // A word wider than the room beside the titles stands below its title.
    if (text.split(" ").some((word) => width(word) > room))
      return [
        say`${GAP}${paint.dim(title.trimEnd())}`,
        ...wordLines(text, Math.max(1, available - 2 * GAP.length)).map((line) => say`${GAP}${GAP}${line}`),
      ];
    return wordLines(text, room).map((line, at) => say`${GAP}${paint.dim(at === 0 ? title : " ".repeat(label))}${GAP}${line}`);
  });
  return [...wordLines(first, available).map((line) => paint.bold(line)), ...told];
}
