/** Text as it may be printed: words of others steer no terminal, begin no line of ours and hide nothing. */

/** One line, ready to print. Only this file makes them. */
class Line {
  /** With colours, where there are any. */
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
/** A string is printed as text of others. */
export type Text = string | Printable;

/**
 * Controls (C0, DEL, C1), marks of direction and all else that is invisible, separators of lines and paragraphs, halves of
 * characters. Joiners of letters and emoji stay, and so do the number signs of Arabic, which are seen.
 */
const UNSEEN =
  /[[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]--[\uFE0E\uFE0F\u0600-\u0605\u06DD\u070F\u0890\u0891\u08E2\u{110BD}\u{110CD}\u200C\u200D]]/gv;
const SHORT: { readonly [character: string]: string | undefined } = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** Writes unseen characters out as JSON does (`\u001b`), so that JSON stays the same value. */
export function visible(text: string): string {
  return text.replace(UNSEEN, (found) => SHORT[found] ?? Array.from({ length: found.length }, (_, i) => escapeOf(found, i)).join(""));
}

/** True of a text with characters that nobody sees; the ends of its lines do not count. */
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

/** A line of several parts: say`${paint.bold(name)} is ${state}`. */
export function say(words: TemplateStringsArray, ...values: readonly (Text | number)[]): Printable {
  return joined(words.flatMap((word, i) => (i < values.length ? [word, values[i] ?? ""] : [word])));
}

export function joined(parts: readonly (Text | number)[], between = ""): Printable {
  const lines = parts.map(printable);
  return new Line(lines.map(({ text }) => text).join(between), lines.map(String).join(between));
}

/** A text of several lines, each of them by itself. */
export function linesOf(text: string): readonly string[] {
  return text.split(/\r?\n/);
}

/** Text in a colour, or as it is where colours are off. */
export interface Paint {
  bold(text: Text): Printable;
  dim(text: Text): Printable;
  red(text: Text): Printable;
  green(text: Text): Printable;
  yellow(text: Text): Printable;
  cyan(text: Text): Printable;
}

const CODES = { bold: [1, 22], dim: [2, 22], red: [31, 39], green: [32, 39], yellow: [33, 39], cyan: [36, 39] } as const;

export function createPaint(colour: boolean): Paint {
  const paint = (name: keyof typeof CODES) => (text: Text) => {
    const line = printable(text);
    return colour ? new Line(`\u001B[${CODES[name][0]}m${line.text}\u001B[${CODES[name][1]}m`, String(line)) : line;
  };
  return { bold: paint("bold"), dim: paint("dim"), red: paint("red"), green: paint("green"), yellow: paint("yellow"), cyan: paint("cyan") };
}
