/** Where figures go: a table in the terminal, JSON beside the others of its suite, bars and the suite's section of docs/benchmarks.md. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { machineLine, type Machine } from "./machine.ts";
import { drawPlots } from "./plot.ts";
import type { Goal, Suite, SuiteResult } from "./suite.ts";

const root = join(import.meta.dirname, "../..");
const results = join(import.meta.dirname, "../results");
const page = join(root, "docs/benchmarks.md");
const plots = join(root, "docs/benchmarks");

export interface Taken {
  readonly suite: Suite;
  readonly result: SuiteResult;
  readonly machine: Machine;
  /** ISO 8601. */
  readonly at: string;
  readonly runs: number;
}

export function printResult({ suite, result, machine, runs }: Taken): void {
  console.log(`\n${suite.title}\n${machineLine(machine)}; ${suite.repeats(runs)}\n`);
  console.log(alignedTable(result.columns, result.rows));
  for (const line of result.conditions) console.log(`- ${line}`);
  drawPlots(result); // a quick run finds as well what cannot be drawn
  for (const { name, stated, seen, met } of result.goals) console.log(`${met ? "met   " : "MISSED"}  ${name}: ${stated}, seen ${seen}`);
  for (const line of missesSaid(result.goals)) console.log(`- ${line}`);
}

/** `bench/results/<suite>.json`, and one with the moment in its name, so that earlier runs stay. */
export function saveResult({ suite, result, machine, at, runs }: Taken): void {
  mkdirSync(results, { recursive: true });
  const text = `${JSON.stringify({ suite: suite.name, at, runs, machine, ...result }, undefined, 2)}\n`;
  writeFileSync(join(results, `${suite.name}.json`), text);
  writeFileSync(join(results, `${suite.name}-${at.replaceAll(":", "")}.json`), text);
}

/** Replaces the suite's section, between its marks, and the bars it shows. */
export function updatePage(taken: Taken): void {
  mkdirSync(plots, { recursive: true });
  const bars = drawPlots(taken.result);
  if (bars !== undefined) writeFileSync(join(plots, `${taken.suite.name}.svg`), bars);
  const before = existsSync(page) ? readFileSync(page, "utf8") : "# Benchmarks\n";
  const begin = `<!-- bench:${taken.suite.name} -->`;
  const end = `<!-- /bench:${taken.suite.name} -->`;
  const section = `${begin}\n\n${markdown(taken, bars !== undefined)}\n${end}`;
  const from = before.indexOf(begin);
  const to = before.indexOf(end);
  const after =
    from >= 0 && to > from ? before.slice(0, from) + section + before.slice(to + end.length) : `${before.trimEnd()}\n\n${section}\n`;
  writeFileSync(page, after);
}

export function markdown({ suite, result, machine, at, runs }: Taken, hasBars: boolean): string {
  const lines = [
    `## ${suite.title}`,
    "",
    `Taken ${at.slice(0, 16).replace("T", " ")} UTC on ${machineLine(machine)}; ${suite.repeats(runs)}. \`npm run bench -- ${suite.name}\``,
    "",
    alignedTable(result.columns, result.rows),
    "",
    ...(hasBars ? [`![${suite.title}, as bars](benchmarks/${suite.name}.svg)`, ""] : []),
  ];
  if (result.goals.length > 0) {
    const rows = result.goals.map(({ name, stated, seen, met }) => [name, stated, seen, met ? "met" : "**missed**"]);
    lines.push(alignedTable(["goal", "stated", "seen", ""], rows), "");
  }
  lines.push(...missesSaid(result.goals).map((line) => `- ${line}`));
  lines.push(...result.conditions.map((line) => `- ${line}`), "");
  return lines.join("\n");
}

/** No miss without a word: its reason, once for all that share it, or that none is known. */
function missesSaid(goals: readonly Goal[]): readonly string[] {
  const missed = Map.groupBy(
    goals.filter(({ met }) => !met),
    ({ why }) => why ?? "why is not known",
  );
  return [...missed].map(([why, of]) => `Missed: ${of.map(({ name }) => name).join("; ")}. ${why.charAt(0).toUpperCase()}${why.slice(1)}.`);
}

/** A Markdown table whose columns also line up where it is read as plain text. */
function alignedTable(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = columns.map((column, i) => Math.max(column.length, ...rows.map((row) => row[i]?.length ?? 0), 3));
  const line = (cells: readonly string[]): string => `| ${widths.map((width, i) => (cells[i] ?? "").padEnd(width)).join(" | ")} |`;
  return [line(columns), `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`, ...rows.map(line)].join("\n");
}
