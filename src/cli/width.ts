/** How wide text is on a terminal. */

/** Filled up with spaces, on the left where it is to stand on the right. */
export function pad(text: string, to: number, right: boolean): string {
  const space = " ".repeat(Math.max(0, to - width(text)));
  return right ? space + text : text + space;
}

/** Cuts to so many columns, with an ellipsis where something is missing. */
export function fit(text: string, columns: number): string {
  return width(text) <= columns ? text : `${start(text, columns - 1)}…`;
}

/** Pieces of at most so many columns, cut after a space where there is one near the end. Joined they are the text. */
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

/** As much of the beginning as so many columns hold. */
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

/** Two for what terminals draw wide (CJK, emoji), none for what joins to the character before. */
function cellsOf(character: string): number {
  if (/^[\u0020-\u2FFF\uA4D0-\uABFF\uD7B0-\uF8FF]$/u.test(character)) return /^\p{M}$/u.test(character) ? 0 : 1;
  return /^(?:\p{M}|\u200D|\uFE0F)$/u.test(character) ? 0 : 2;
}
