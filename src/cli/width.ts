/** Width of text on a terminal. */

/** Pads with spaces, on the left to align right. */
export function pad(text: string, to: number, right: boolean): string {
  const space = " ".repeat(Math.max(0, to - width(text)));
  return right ? space + text : text + space;
}

/** Cuts to a number of columns, with an ellipsis if something is missing. */
export function fit(text: string, columns: number): string {
  return width(text) <= columns ? text : `${start(text, columns - 1)}…`;
}

/** Splits a text into pieces of at most this many columns, after a space if one is near the end. Joined they are the text. */
export function wrap(text: string, columns: number): readonly string[] {
  const pieces: string[] = [];
  let rest = text;
  for (;;) {
    const [first = ""] = rest;
    const piece = start(rest, columns) || first;
    if (piece.length === rest.length) return [...pieces, rest];
    const space = piece.lastIndexOf(" ") + 1;
    const length = space > piece.length / 2 ? space : piece.length;
    pieces.push(rest.slice(0, length));
    rest = rest.slice(length);
  }
}

/** Splits a text at spaces into lines of at most this many columns. Only a word wider than a line is broken. */
export function wordLines(text: string, columns: number): readonly string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ").flatMap((one) => (width(one) > columns ? wrap(one, columns) : [one]))) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (line !== "" && width(longer) > columns) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return [...lines, line];
}

/** The longest beginning that fits this many columns. */
function start(text: string, columns: number): string {
  let used = 0;
  let shown = "";
  for (const character of text) {
    used += cellsOf(character);
    if (used > columns) break;
    shown += character;
  }
  return shown;
}

export function width(text: string): number {
  let cells = 0;
  for (const character of text) cells += cellsOf(character);
  return cells;
}

/** Two for characters that terminals draw wide (CJK, emoji), none for those that join the previous one. */
function cellsOf(character: string): number {
  if (/^[\u0020-\u2FFF\uA4D0-\uABFF\uD7B0-\uF8FF]$/u.test(character)) return /^\p{M}$/u.test(character) ? 0 : 1;
  return /^(?:\p{M}|\u200D|\uFE0F)$/u.test(character) ? 0 : 2;
}
