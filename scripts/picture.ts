/** Draws README's picture: half a minute of the real demo on a terminal of 110 columns, its last screen as SVG. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { main } from "../src/cli/main.ts";

const COLUMNS = 110;
const ROWS = 25;
const CELL = { width: 8.4, height: 19 };
const MARGIN = 16;
const FONT = "ui-monospace, SFMono-Regular, Menlo, Consolas, monospace";
/** By the codes of the terminal. */
const COLOURS: { readonly [code: string]: string } = { "2": "#8a9199", "31": "#e57373", "32": "#8ec07c", "33": "#e5c07b", "36": "#79b8d1" };
/** The live view goes home before each screen; what is drawn to the end of the line or below is cleared. */
// oxlint-disable-next-line no-control-regex -- these are a terminal's control sequences
const SCREEN = /\u001B\[H([^]*?)\u001B\[J/g;

interface Piece {
  readonly text: string;
  readonly style: string;
}

/** A line of the terminal as pieces of one style each. */
function piecesOf(line: string): Piece[] {
  let style = "";
  const pieces: Piece[] = [];
  // oxlint-disable-next-line no-control-regex -- as above
  for (const part of line.split(/(\u001B\[\d*[mK])/)) {
    // oxlint-disable-next-line no-control-regex -- as above
    const code = /^\u001B\[(\d*)m$/.exec(part)?.[1];
    if (code !== undefined) style = code === "1" ? ` font-weight="700"` : code in COLOURS ? ` fill="${COLOURS[code]}"` : "";
    else if (!part.startsWith("\u001B") && part !== "") pieces.push({ text: part, style });
  }
  return pieces;
}

/** Each piece says how wide it is, so that columns line up in whatever font there is. */
function lineOf(line: string, row: number): string {
  let column = 0;
  const spans = piecesOf(line).flatMap(({ text, style }) =>
    text.split(/( {2,})/).map((part) => {
      const width = Array.from(part).length;
      const x = MARGIN + column * CELL.width;
      column += width;
      if (part.trim() === "") return "";
      return `<tspan x="${x.toFixed(1)}" textLength="${(width * CELL.width).toFixed(1)}" lengthAdjust="spacingAndGlyphs"${style}>${escaped(part)}</tspan>`;
    }),
  );
  return `<text y="${MARGIN + (row + 2) * CELL.height}">${spans.join("")}</text>`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (char) => `&#${char.charCodeAt(0)};`);
}

function pictureOf(screen: string): string {
  const width = Math.round(2 * MARGIN + COLUMNS * CELL.width);
  const height = Math.round(2 * MARGIN + (ROWS + 1) * CELL.height);
  const lines = screen
    .split("\r\n")
    .map(lineOf)
    .filter((line) => line.includes("tspan"));
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="The demo in a terminal: five specialists at work on a local network, their quotas, what they spent, what they do now and what they did last">
<rect width="${width}" height="${height}" rx="8" fill="#16191d"/>
<g font-family="${FONT}" font-size="14" fill="#d8dde3" xml:space="preserve">
<text x="${MARGIN}" y="${MARGIN + CELL.height / 2}" fill="#8a9199">$ npm start</text>
${lines.join("\n")}
</g>
</svg>
`;
}

const written: string[] = [];
const terminal = { isTTY: true, columns: COLUMNS, rows: ROWS, write: (text: string) => void written.push(text) };
const cwd = mkdtempSync(join(tmpdir(), "retinue-picture-"));
const code = await main(["demo", "--for", "33s", "--agents", join(import.meta.dirname, "../agents")], {
  cwd,
  env: { TERM: "xterm" },
  stdout: terminal,
  stderr: process.stderr,
});
rmSync(cwd, { recursive: true, force: true });
// The last but a few: the very last ones say that it stops.
const screen = [...written.join("").matchAll(SCREEN)].at(-12)?.[1];
if (code !== 0 || screen === undefined) throw new Error(`the demo ended with ${code} and drew ${written.length} times`);
writeFileSync(join(import.meta.dirname, "../docs/demo.svg"), pictureOf(screen));
