/** Makes text safe to print: texts of others cannot steer the terminal, start one of our lines or hide characters. */

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

/**
 * Invisible characters: controls (C0, DEL, C1), direction marks, line and paragraph separators, halves of characters. Joiners of letters
 * and emoji stay, and so do the Arabic number signs, which are visible.
 */
const UNSEEN =
  /[[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]--[\uFE0E\uFE0F\u0600-\u0605\u06DD\u070F\u0890\u0891\u08E2\u{110BD}\u{110CD}\u200C\u200D]]/gv;
const SHORT: { readonly [character: string]: string | undefined } = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** Escapes invisible characters as JSON does (`\u001b`), so that JSON keeps its value. */
export function visible(text: string): string {
  return text.replace(UNSEEN, (found) => SHORT[found] ?? Array.from({ length: found.length }, (_, i) => escapeOf(found, i)).join(""));
}

/** True for a text with invisible characters, line ends aside. */
export function hides(text: string): boolean {
  return linesOf(text).some((line) => visible(line) !== line);
}

function escapeOf(text: string, at: number): string {
  return `\\u${text.charCodeAt(at).toString(16).padStart(4, "0")}`;
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
