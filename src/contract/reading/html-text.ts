/** Plain text from the HTML of others, and HTML from plain text. Nothing of either is ever run: text is all that is read. */

const NAMED: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
  hellip: "…",
  mdash: "—",
  ndash: "–",
};
/** Elements whose content is no text. */
const UNSHOWN = /<(script|style|template)\b[^>]{0,1000}>.*?(?:<\/\1\s*>|$)|<!--.*?(?:-->|$)/gis;
const BREAKS = /<(?:br|hr)\b[^<>]{0,1000}>|<\/(?:p|div|li|tr|h[1-6]|blockquote|pre|ul|ol|table)\s*>/gi;
const TAG = /<\/?[a-z][^<>]{0,10000}>/gi;
const ENTITY = /&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,6}));/gi;

/** The text that a reader would see, with a line for each block. */
export function textOfHtml(html: string): string {
  const bare = html.replaceAll(UNSHOWN, "").replaceAll(/\s+/g, " ").replaceAll(BREAKS, "\n").replaceAll(TAG, "");
  return bare
    .replaceAll(ENTITY, (whole, decimal: string | undefined, hex: string | undefined, name: string | undefined) => {
      if (name !== undefined) return NAMED[name.toLowerCase()] ?? whole;
      const code = decimal === undefined ? Number.parseInt(hex ?? "", 16) : Number(decimal);
      return code > 0 && code <= 0x10_ff_ff ? String.fromCodePoint(code) : whole;
    })
    .replaceAll(/ *\n */g, "\n")
    .trim();
}

/** The text as HTML: nothing in it is markup. */
export function htmlOfText(text: string): string {
  const escaped = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
  return `<p>${escaped.replaceAll(/\r?\n/g, "<br>")}</p>`;
}
