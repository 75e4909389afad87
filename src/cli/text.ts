/** Makes text safe to print: texts of others cannot steer the terminal, start one of our lines or hide characters. */
import { visible } from "../core/visible.ts";

/** One line, ready to print. Only this file makes them. */
class Line {
  /** With colours, if they are on. */
  readonly text: string;
  readonly #plain: string;

  constructor(text: string, plain: string) {
    this.text = text;
    this.#plain = plain;
  }

  /** Without colours. */
  toString(): string {
    return this.#plain;
  }
}

export type Printable = Line;
/** A plain string is printed as a text of others. */
export type Text = string | Printable;

/** True for a text with invisible characters, line ends aside. */
export function hides(text: string): boolean {
  return linesOf(text).some((line) => visible(line) !== line);
}

export function printable(text: Text | number): Printable {
  if (text instanceof Line) return text;
  const shown = visible(String(text));
  return new Line(shown, shown);
}

/** Builds a line from several parts: say`${paint.bold(name)} is ${state}`. */
export function say(words: TemplateStringsArray, ...values: readonly (Text | number)[]): Printable {
  return joined(words.flatMap((word, i) => (i < values.length ? [word, values[i] ?? ""] : [word])));
}

export function joined(parts: readonly (Text | number)[], between = ""): Printable {
  const lines = parts.map(printable);
  return new Line(lines.map(({ text }) => text).join(between), lines.map(String).join(between));
}

/** Splits a text into its lines. */
export function linesOf(text: string): readonly string[] {
  return text.split(/\r?\n/);
}

/** Coloured text, or plain text if colours are off. */
export interface Paint {
  readonly bold: (text: Text) => Printable;
  readonly dim: (text: Text) => Printable;
  readonly red: (text: Text) => Printable;
  readonly green: (text: Text) => Printable;
  readonly yellow: (text: Text) => Printable;
  readonly cyan: (text: Text) => Printable;
}

const CODES = { bold: [1, 22], dim: [2, 22], red: [31, 39], green: [32, 39], yellow: [33, 39], cyan: [36, 39] } as const;

export function createPaint(colour: boolean): Paint {
  const paint = (name: keyof typeof CODES) => (text: Text) => {
    const line = printable(text);
    return colour ? new Line(`\u001B[${CODES[name][0]}m${line.text}\u001B[${CODES[name][1]}m`, String(line)) : line;
  };
  return { bold: paint("bold"), dim: paint("dim"), red: paint("red"), green: paint("green"), yellow: paint("yellow"), cyan: paint("cyan") };
}
