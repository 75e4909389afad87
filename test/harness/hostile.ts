/** Text of somebody who wants to steer the terminal of whoever reads it, and how to see whether it did. */

/** As a line of ours would begin. */
export const FORGED = "FORGED";

/** A text that clears, moves, colours, reorders, hides, and begins new lines. */
export const HOSTILE =
  "a\u001B[2J\u001B]0;title\u0007\u009B31m\u0085\b\u007F\u061C\u200B\u200E\u200F\u202A\u202B\u202C\u202D\u202E\u2060\u2066\u2067\u2068\u2069" +
  `\uFEFF\uFFF9\u{E0041}\uD800 \r${FORGED} by a return\u2028${FORGED} by U+2028\u2029${FORGED} by U+2029\n${FORGED} by a newline\r\n${FORGED} by both`;

/** Everything that is not seen, but the newline that ends a line. Stated apart from the code that it judges. */
const STEERING =
  // oxlint-disable-next-line no-control-regex -- control characters are what must not be there
  /[\u0000-\u0009\u000B-\u001F\u007F-\u009F\u00AD\u061C\u180E\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB]|[\u{E0000}-\u{E007F}]|\p{Cs}/u;
// oxlint-disable-next-line no-control-regex -- colours of ours are control sequences
const COLOURS = /\u001B\[(?:1|2|22|31|32|33|36|39)m/g;

/** Lines that hold what steers, or begin as one of ours would not; empty where all is well. */
export function steered(written: string): readonly string[] {
  return written
    .replaceAll(COLOURS, "")
    .split("\n")
    .filter((line) => STEERING.test(line) || line.trimStart().startsWith(FORGED))
    .map((line) => JSON.stringify(line));
}

/** The same value with every text in it made hostile, but at these keys. */
export function poisoned<Value>(value: Value, keep: readonly string[] = []): Value {
  const poison = (found: unknown, key: string): unknown => {
    if (typeof found === "string") return keep.includes(key) ? found : HOSTILE;
    if (Array.isArray(found)) return found.map((one: unknown) => poison(one, key));
    if (typeof found !== "object" || found === null) return found;
    return Object.fromEntries(Object.entries(found).map(([name, one]) => [name, poison(one, name)]));
  };
  return poison(value, "") as Value;
}
