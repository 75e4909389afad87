/** Draws columns of a suite's table as bars, one for each contender, as an SVG that reads on light and dark pages. */
import type { Plot, SuiteResult } from "./suite.ts";

const WIDTH = 860;
const LABEL_WIDTH = 350;
const FIGURE_WIDTH = 90;
const BAR_WIDTH = WIDTH - LABEL_WIDTH - FIGURE_WIDTH;
const ROW = 22;
const BAR = 14;
const HEAD = 34;
const GAP = 14;
const LONGEST_LABEL = 46;

interface Bar {
  readonly label: string;
  readonly value: number;
  /** As the table says it. */
  readonly figure: string;
}

/** All plots of a suite, one below the other; undefined where it asks for none, or nothing was measured. */
export function drawPlots({ plots, columns, rows }: Pick<SuiteResult, "plots" | "columns" | "rows">): string | undefined {
  const drawn = plots.map((plot) => ({ plot, bars: barsOf(plot, columns, rows) })).filter(({ bars }) => bars.length > 0);
  if (drawn.length === 0) return undefined;
  const parts: string[] = [];
  let top = GAP;
  for (const { plot, bars } of drawn) {
    parts.push(...drawOne(`${plot.title} (${plot.better} is better)`, bars, top));
    top += HEAD + bars.length * ROW + GAP;
  }
  const style = [
    "text { font: 13px system-ui, sans-serif; fill: #24292f }",
    ".title { font-weight: 600 }",
    ".bar { fill: #8c959f }",
    ".ours { fill: #2f6feb }",
    "@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .bar { fill: #6e7681 } }",
  ].join("\n");
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${top}" viewBox="0 0 ${WIDTH} ${top}" role="img">\n<style>\n${style}\n</style>\n${parts.join("\n")}\n</svg>\n`;
}

function drawOne(title: string, bars: readonly Bar[], top: number): readonly string[] {
  const most = Math.max(...bars.map(({ value }) => value));
  return [
    `<text class="title" x="12" y="${top + 16}">${escape(title)}</text>`,
    ...bars.flatMap(({ label, value, figure }, i) => {
      const y = top + HEAD + i * ROW;
      const width = most <= 0 ? 0 : Math.max(0, (value / most) * BAR_WIDTH);
      const ours = /^retinue\b/i.test(label) ? " ours" : "";
      return [
        `<text x="${LABEL_WIDTH - 8}" y="${y + 12}" text-anchor="end">${escape(shorten(label))}</text>`,
        `<rect class="bar${ours}" x="${LABEL_WIDTH}" y="${y}" width="${width.toFixed(1)}" height="${BAR}" rx="2"/>`,
        `<text x="${(LABEL_WIDTH + width + 6).toFixed(1)}" y="${y + 12}">${escape(figure)}</text>`,
      ];
    }),
  ];
}

/** Throws where a plot names a column that the table has not: it would be missing silently. */
function barsOf(plot: Plot, columns: readonly string[], rows: readonly (readonly string[])[]): readonly Bar[] {
  const at = columns.indexOf(plot.column);
  if (at < 0) throw new Error(`there is no column "${plot.column}" to plot`);
  return rows.flatMap((row) => {
    const figure = (row[at] ?? "").split(" / ")[plot.part ?? 0]?.trim() ?? "";
    const value = numberOf(figure);
    if (value === undefined || (plot.unit !== undefined && !figure.endsWith(` ${plot.unit}`))) return [];
    const label = row
      .slice(0, plot.labels ?? 1)
      .filter((word) => word !== "")
      .join(", ");
    return [{ label, value, figure }];
  });
}

/** The number a cell begins with: `12,345/s` is 12345. A cell without one has no bar. */
function numberOf(figure: string): number | undefined {
  const found = /^-?[\d,]*\.?\d+/.exec(figure)?.[0];
  return found === undefined ? undefined : Number(found.replaceAll(",", ""));
}

function shorten(label: string): string {
  return label.length > LONGEST_LABEL ? `${label.slice(0, LONGEST_LABEL - 1)}…` : label;
}

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
