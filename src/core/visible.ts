/** Shows the characters of a text that nobody sees: texts of others can steer neither a terminal nor a page by them. */

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

function escapeOf(text: string, at: number): string {
  return `\\u${text.charCodeAt(at).toString(16).padStart(4, "0")}`;
}
