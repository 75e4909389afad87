/** The bars of the benchmark page: as long as the figures say, and none for what was not measured. */
import { expect, test } from "vitest";
import { drawPlots } from "../../bench/harness/plot.ts";

const columns = ["", "count", "effects/s at 1 / 16", "took"];
const rows = [
  ["Retinue", "10", "500 / 1,500", "3 ms"],
  ["peer <b> & co", "10", "800 / 3,000", "9 MB"],
  ["absent", "10", "could not run", ""],
];
const barsOf = (svg: string | undefined): number[] =>
  [...(svg ?? "").matchAll(/<rect[^>]* width="([\d.]+)"/g)].map(([, width]) => Number(width));

test("bars are as long as the figures of the chosen part, and a row without a figure has none", () => {
  const svg = drawPlots({
    columns,
    rows,
    plots: [{ title: "Effects", better: "more", column: "effects/s at 1 / 16", part: 1, labels: 2 }],
  });
  const [ours = 0, peer = 0, ...others] = barsOf(svg);
  expect(ours / peer).toBeCloseTo(0.5, 2);
  expect(others).toEqual([]);
  expect(svg).toContain(">1,500<");
  expect(svg).toContain(">Retinue, 10<");
  expect(svg).toContain("peer &lt;b&gt; &amp; co, 10");
  expect(svg?.match(/class="bar ours"/g)).toHaveLength(1);
});

test("only cells of the chosen unit are drawn", () => {
  expect(barsOf(drawPlots({ columns, rows, plots: [{ title: "Took", better: "more", column: "took", unit: "ms" }] }))).toHaveLength(1);
});

test("if nothing was measured there is no picture", () => {
  expect(drawPlots({ columns, rows: [], plots: [{ title: "Took", better: "more", column: "took" }] })).toBeUndefined();
  expect(drawPlots({ columns, rows, plots: [] })).toBeUndefined();
});

test("a plot of a column that the table has not is refused", () => {
  expect(() => drawPlots({ columns, rows, plots: [{ title: "Took", better: "more", column: "took, s" }] })).toThrow(/no column "took, s"/);
});
