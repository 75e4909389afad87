/** What a command prints: for people on a terminal, or one JSON object for machines. */
import { isAbsolute, relative } from "node:path";
import { isMistake, type Problem } from "../config/problem.ts";

/** The part of a stream that printing needs; tests bring their own. */
export interface TextStream {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
}

export interface OutputOptions {
  readonly json: boolean;
  readonly colour: boolean;
  /** A terminal that cannot move its cursor (`TERM=dumb`). */
  readonly dumb?: boolean;
  readonly stdout: TextStream;
  readonly stderr: TextStream;
  /** Paths are shown relative to it. */
  readonly cwd: string;
}

/** Text in a colour, or as it is where colours are off. */
export interface Paint {
  bold(text: string): string;
  dim(text: string): string;
  red(text: string): string;
  green(text: string): string;
  yellow(text: string): string;
  cyan(text: string): string;
}

export interface Column<Row> {
  readonly title: string;
  readonly value: (row: Row) => string | number;
  readonly align?: "left" | "right";
}

export interface Output {
  readonly json: boolean;
  readonly paint: Paint;
  /** The terminal, where the output is one that a cursor can be moved on. */
  readonly terminal: TextStream | undefined;
  /** A line for people. Nothing with `--json`. */
  line(text?: string): void;
  /** Something that happened on the way: with `--json` one object a line on stderr, else the text. */
  progress(event: object, text: string): void;
  table<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): void;
  /** The one final object of `--json`. Nothing without it. */
  result(value: object): void;
  /** Warnings and mistakes, for people, on stderr. Nothing with `--json`. */
  problems(problems: readonly Problem[]): void;
}

const CODES = { bold: [1, 22], dim: [2, 22], red: [31, 39], green: [32, 39], yellow: [33, 39], cyan: [36, 39] } as const;

export function createPaint(colour: boolean): Paint {
  const paint = (name: keyof typeof CODES) => (text: string) =>
    colour ? `\u001B[${CODES[name][0]}m${text}\u001B[${CODES[name][1]}m` : text;
  return { bold: paint("bold"), dim: paint("dim"), red: paint("red"), green: paint("green"), yellow: paint("yellow"), cyan: paint("cyan") };
}

/** Colours on a terminal only, never with NO_COLOR (no-color.org), always with FORCE_COLOR. */
export function wantsColour(stream: TextStream, env: { readonly [name: string]: string | undefined }): boolean {
  if ((env["NO_COLOR"] ?? "") !== "") return false;
  if ((env["FORCE_COLOR"] ?? "0") !== "0") return true;
  return stream.isTTY === true && env["TERM"] !== "dumb";
}

export function createOutput({ json, colour, dumb = false, stdout, stderr, cwd }: OutputOptions): Output {
  const paint = createPaint(colour);
  const line = (text = ""): void => void (json || stdout.write(`${text}\n`));
  return {
    json,
    paint,
    terminal: stdout.isTTY === true && !json && !dumb ? stdout : undefined,
    line,
    progress: (event, text) => void (json ? stderr.write(`${JSON.stringify(event)}\n`) : stdout.write(`${text}\n`)),
    table: (rows, columns) => tableLines(rows, columns, paint).forEach((row) => line(row)),
    result: (value) => void (json && stdout.write(`${JSON.stringify(value)}\n`)),
    problems: (problems) => void (json || problems.forEach((problem) => stderr.write(`${problemLines(problem, paint, cwd).join("\n")}\n`))),
  };
}

/** What, where, what was expected, what to try. */
export function problemLines(problem: Problem, paint: Paint, cwd: string): string[] {
  const label = isMistake(problem) ? paint.red("error:") : paint.yellow("warning:");
  const place = placeOf(problem, cwd);
  return [
    `${label} ${printable(problem.message)}`,
    ...(place === undefined ? [] : [`  ${paint.dim("in")}        ${printable(place)}`]),
    ...(problem.expected === undefined ? [] : [`  ${paint.dim("expected")}  ${printable(problem.expected)}`]),
    ...(problem.hint === undefined ? [] : [`  ${paint.dim("try")}       ${printable(problem.hint)}`]),
  ];
}

/** A problem as machines get it: `{code, message, file?, line?, expected?, hint?}`. */
export function problemJson(problem: Problem, cwd: string): object {
  const { level, file, ...rest } = problem;
  return { ...rest, ...(file === undefined ? {} : { file: shownPath(file, cwd) }), ...(level === "warning" ? { level } : {}) };
}

function placeOf({ file, line }: Problem, cwd: string): string | undefined {
  if (file === undefined) return undefined;
  return line === undefined ? shownPath(file, cwd) : `${shownPath(file, cwd)}:${line}`;
}

function shownPath(file: string, cwd: string): string {
  const path = isAbsolute(file) ? relative(cwd, file) : file;
  return path === "" || path.startsWith("..") ? file : path;
}

/** Text from files and networks must not steer the terminal. */
export function printable(text: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what is taken out
  return text.replace(/[\u0000-\u0009\u000B-\u001F\u007F-\u009F\u202A-\u202E\u2066-\u2069]/g, "�");
}

const MAX_CELL = 60;

function tableLines<Row>(rows: readonly Row[], columns: readonly Column<Row>[], paint: Paint): string[] {
  const cells = rows.map((row) => columns.map(({ value }) => cut(printable(String(value(row))))));
  const widths = columns.map(({ title }, index) => Math.max(title.length, ...cells.map((row) => row[index]?.length ?? 0)));
  const pad = (text: string, index: number): string =>
    columns[index]?.align === "right" ? text.padStart(widths[index] ?? 0) : text.padEnd(widths[index] ?? 0);
  const join = (row: readonly string[]): string => row.map(pad).join("  ").trimEnd();
  return [paint.dim(join(columns.map(({ title }) => title))), ...cells.map(join)];
}

const cut = (text: string): string => (text.length > MAX_CELL ? `${text.slice(0, MAX_CELL - 1)}…` : text.replaceAll("\n", " "));
