/** Output of a command: lines for people on a terminal, or one JSON object for machines. The only way to print. */
import { isAbsolute, relative } from "node:path";
import { isMistake, type Problem } from "../config/problem.ts";
import { defined } from "../core/defined.ts";
import { SECOND } from "../core/units.ts";
import type { Clock, Timer } from "../core/clock.ts";
import { visible } from "../core/visible.ts";
import { createPaint, linesOf, printable, say, type Paint, type Printable, type Text } from "./text.ts";
import { tableLines, type Column } from "./table.ts";
import { fit, wordLines, wrap } from "./width.ts";

/** The part of a stream that printing needs; tests provide their own. */
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
  /** With it, lines of progress that come together are written together. Default: each at once. */
  readonly clock?: Clock;
}

export interface Output {
  readonly json: boolean;
  readonly paint: Paint;
  /** The terminal, if the output is one with a movable cursor. */
  readonly terminal: TextStream | undefined;
  /** The time of a line: short on a terminal, ISO 8601 elsewhere. */
  time(at: number): string;
  /** One line for people, whatever it contains. Prints nothing with `--json`. */
  line(text?: Text): void;
  /**
   * Sentences for people, wrapped at words on a terminal, further lines indented by two more than the first. Not for commands, which are
   * copied whole.
   */
  paragraph(text: string, style?: (text: Text) => Printable): void;
  /** A whole text of others, with a mark before each line. Prints nothing with `--json`. */
  quote(text: string): void;
  /** A value as JSON over several lines. Prints nothing with `--json`. */
  value(value: unknown): void;
  /**
   * An event in progress: with `--json` one object a line on stderr, with the `time` of its `at` in ISO 8601, else the line or lines. Written
   * within 25 ms, and before all else.
   */
  progress(event: object, text: Text | readonly Text[]): void;
  /** Replaces the last line of the terminal, or removes it without a text. Prints nothing elsewhere. */
  rewrite(text?: string): void;
  table<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): void;
  /** The final object of `--json`. Prints nothing without it. */
  result(value: object): void;
  /** Warnings and mistakes for people, on stderr. Prints nothing with `--json`. */
  problems(problems: readonly Problem[]): void;
  /** The stack of an error, for debugging: on stderr, always. */
  trace(stack: string): void;
  /** Writes the lines of progress that wait to be written together: for the end of a command. */
  flush(): void;
}

const TO_END_OF_LINE = "\u001B[K";
/** Mark before each line of a text of others. */
const MARK = "  │ ";
/** Width of an output that is no terminal, and of a terminal that does not tell. */
const DEFAULT_COLUMNS = 80;
const FURTHER = "  ";
/** Indent of the further lines of a problem: the width of its labels. */
const LABELLED = " ".repeat(12);
/** Least width: a narrower terminal counts as this wide. */
const LEAST_QUOTED = 16;

/** Colours on a terminal only, never with NO_COLOR (no-color.org), always with FORCE_COLOR. */
export function wantsColour(stream: TextStream, env: { readonly [name: string]: string | undefined }): boolean {
  if ((env["NO_COLOR"] ?? "") !== "") return false;
  if ((env["FORCE_COLOR"] ?? "0") !== "0") return true;
  return stream.isTTY === true && env["TERM"] !== "dumb";
}

/** Lines that wait to be written together: a write to a pipe takes longer than it takes to make its line. */
interface Waiting {
  add(text: Text): void;
  flush(): void;
}

const TOGETHER_MS = 25;
const TOGETHER_LENGTH = 64 * 1_024;

function createWaiting(stream: TextStream, clock: Clock | undefined): Waiting {
  let lines = "";
  let timer: Timer | undefined;
  const flush = (): void => {
    timer?.cancel();
    timer = undefined;
    const text = lines;
    lines = "";
    if (text !== "") stream.write(text);
  };
  return {
    flush,
    add(text) {
      lines += `${printable(text).text}\n`;
      if (clock === undefined || lines.length >= TOGETHER_LENGTH) return flush();
      timer ??= clock.after(TOGETHER_MS, flush);
    },
  };
}

export function createOutput({ json, colour, dumb = false, stdout, stderr, cwd, clock }: OutputOptions): Output {
  const paint = createPaint(colour);
  const waiting = createWaiting(json ? stderr : stdout, clock);
  const print = (stream: TextStream, text: Text): void => {
    waiting.flush();
    stream.write(`${printable(text).text}\n`);
  };
  const printJson = (stream: TextStream, value: unknown): void => print(stream, JSON.stringify(value));
  const line = (text: Text = ""): void => void (json || print(stdout, text));
  const terminal = stdout.isTTY === true && !json && !dumb ? stdout : undefined;
  return {
    json,
    paint,
    time: stdout.isTTY === true ? timeOfDay : isoTime,
    terminal,
    line,
    paragraph(text, style = printable) {
      const [indent = ""] = /^ */.exec(text) ?? [];
      const columns = stdout.isTTY === true ? Math.max(LEAST_QUOTED, columnsOf(stdout) - indent.length - FURTHER.length) : Infinity;
      const [first = "", ...further] = wordLines(visible(text.slice(indent.length)), columns);
      line(style(indent + first));
      for (const one of further) line(style(indent + FURTHER + one));
    },
    quote(text) {
      // A terminal would wrap a long line to where our own lines begin.
      const columns =
        stdout.isTTY === true && stdout.columns !== undefined ? Math.max(LEAST_QUOTED, stdout.columns - MARK.length) : Infinity;
      for (const one of linesOf(text)) for (const piece of wrap(visible(one), columns)) line(MARK + piece);
    },
    value: (value) => linesOf(JSON.stringify(value, undefined, 2)).forEach((one) => line(one)),
    progress(event, text) {
      if (json) waiting.add(JSON.stringify("at" in event && typeof event.at === "number" ? { time: isoTime(event.at), ...event } : event));
      else for (const one of Array.isArray(text) ? text : [text]) waiting.add(one);
    },
    rewrite: (text = "") => void terminal?.write(`\r${fit(visible(text), columnsOf(terminal) - 1)}${TO_END_OF_LINE}`),
    table: (rows, columns) => tableLines(rows, columns, paint, columnsOf(stdout)).forEach(line),
    result: (value) => void (json && printJson(stdout, value)),
    problems(problems) {
      if (!json) for (const problem of problems) for (const one of problemLines(problem, paint, cwd, stderr)) print(stderr, one);
    },
    trace: (stack) => linesOf(stack).forEach((one) => print(stderr, MARK + one)),
    flush: () => waiting.flush(),
  };
}

let shownSecond = Number.NaN;
let shownTime = "";

/** Most lines are of the same second as the one before. */
export function timeOfDay(at: number): string {
  const second = Math.floor(at / SECOND);
  if (second !== shownSecond) {
    shownSecond = second;
    shownTime = new Date(at).toTimeString().slice(0, 8);
  }
  return shownTime;
}

function isoTime(at: number): string {
  return new Date(at).toISOString();
}

function columnsOf({ isTTY, columns }: TextStream): number {
  return isTTY === true && columns !== undefined && columns > 0 ? columns : DEFAULT_COLUMNS;
}

/** The problem, its place, the expectation, and advice. Sentences are wrapped on a terminal; advice is not, since it holds commands to copy. */
export function problemLines(problem: Problem, paint: Paint, cwd: string, stream?: TextStream): readonly Printable[] {
  const label = isMistake(problem) ? paint.red("error:") : paint.yellow("warning:");
  const place = placeOf(problem, cwd);
  const { message, expected, hint, excerpt } = problem;
  const columns = stream?.isTTY === true ? Math.max(LEAST_QUOTED, columnsOf(stream) - LABELLED.length) : Infinity;
  const sentence = (first: Printable, text: string): readonly Printable[] =>
    wordLines(visible(text), columns).map((line, i) => say`${i === 0 ? first : LABELLED}${line}`);
  return [
    ...sentence(say`${label} `, message),
    ...(place === undefined ? [] : [say`  ${paint.dim("in")}        ${place}`]),
    ...(excerpt === undefined ? [] : [say`  ${paint.dim("code")}      ${excerpt}`]),
    ...(expected === undefined || message.includes(`expected ${expected}`) ? [] : sentence(say`  ${paint.dim("expected")}  `, expected)),
    ...(hint === undefined ? [] : [say`  ${paint.dim("try")}       ${hint}`]),
  ];
}

/** A problem for machines: `{code, message, file?, line?, column?, excerpt?, definition?, expected?, hint?}`. */
export function problemJson(problem: Problem, cwd: string): object {
  const { level, file, definition, ...rest } = problem;
  const shown = (path: string | undefined): string | undefined => (path === undefined ? undefined : shownPath(path, cwd));
  return { ...rest, ...defined({ file: shown(file), definition: shown(definition) }), ...(level === "warning" ? { level } : {}) };
}

function placeOf({ file, line, column }: Problem, cwd: string): string | undefined {
  return file === undefined ? undefined : [shownPath(file, cwd), line, column].filter((part) => part !== undefined).join(":");
}

/** A path relative to the working directory. */
export function shownPath(file: string, cwd: string): string {
  const path = isAbsolute(file) ? relative(cwd, file) : file;
  return path === "" || path.startsWith("..") ? file : path;
}
