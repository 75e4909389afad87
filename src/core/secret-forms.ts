/** The forms in which a text may hold a secret: in any letter case, escaped as in JSON or an address, or in base64. */

/** Characters by which a form is found. Shorter forms are ignored. */
export const WINDOW = 6;

/**
 * The secret after each round of `unescaped`, since rounds that undo a text's escapes are missing for the escapes within the
 * secret; the same from the secret without backslashes, since a text keeps nothing of an escaped backslash; and its three
 * alignments in base64, all folded. Base64 characters at the edges, which mix bits of the secret with those of its neighbours,
 * are left out: they give away less than a character.
 */
export function formsOf(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  const texts = [secret, bytes.toString("latin1"), ...(secret.startsWith(SIGNING_PREFIX) ? [secret.slice(SIGNING_PREFIX.length)] : [])];
  const base64 = [0, 1, 2].map((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString("base64");
    return text.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
  });
  const rounds = texts.flatMap((text) => [text, text.replaceAll("\\", "")]).flatMap(unescapedByRounds);
  const forms = [...rounds, ...base64].map(folded).filter((form) => form.length >= WINDOW);
  return [...new Set(forms)];
}

/** Standard Webhooks: the prefix of a signing secret. The rest is the key in base64, and may be repeated alone. */
const SIGNING_PREFIX = "whsec_";

/** Lower case, and one of the two alphabets of base64. */
function folded(text: string): string {
  return text
    .replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
    .replaceAll("+", "-")
    .replaceAll("/", "_");
}

const FOLDED = Uint8Array.from({ length: 128 }, (_, code) => folded(String.fromCharCode(code)).charCodeAt(0));

export function foldOf(code: number): number {
  return code < 128 ? (FOLDED[code] ?? 0) : code;
}

/** Signs of an escape that may hide a plain secret, and any secret. Nearly every text has an `\n` or an `\"`, which hide no plain one. */
export const PLAIN_ESCAPE = /\\\/|u00[2-7]|%[2-7]/i;
export const ANY_ESCAPE = /[\\%]/;

export function isPlain(secret: string): boolean {
  return /^[!#$&(-[\]-~]*$/.test(secret);
}

/** Escapes of escapes are undone up to this depth. */
const ROUNDS = 3;

/**
 * The text without backslashes and with `\u0073`, `%73` and `%2573` undone. Costs some 10 ns a character for any text; a
 * regular expression takes seconds for the worst one of 4 MiB.
 */
export function unescaped(text: string): string {
  return unescapedByRounds(text).at(-1) ?? text;
}

/** The text, and the text after each round that changes it. */
function unescapedByRounds(text: string): readonly string[] {
  const rounds = [text];
  let bare = text;
  while (rounds.length <= ROUNDS && ANY_ESCAPE.test(bare)) {
    const next = undone(bare);
    if (next === bare) break;
    rounds.push(next);
    bare = next;
  }
  return rounds;
}

const [BACKSLASH, PERCENT, LETTER_U] = [0x5c, 0x25, 0x75];

function undone(text: string): string {
  const codes = new Uint16Array(text.length);
  let size = 0;
  for (let at = 0; at < text.length;) {
    const code = text.charCodeAt(at++);
    if (code === BACKSLASH) {
      const unicode = (text.charCodeAt(at) | 0x20) === LETTER_U ? hexAt(text, at + 1, 4) : undefined;
      if (unicode === undefined) continue;
      codes[size++] = unicode;
      at += 5;
    } else {
      const escape = code === PERCENT ? behindPercent(text, at) : undefined;
      codes[size++] = escape?.code ?? code;
      at = escape?.to ?? at;
    }
  }
  return Buffer.from(codes.buffer, 0, size * codes.BYTES_PER_ELEMENT).toString("utf16le");
}

/** The character of a percent escape whose own sign may be escaped: `%2573` is `%73`. */
function behindPercent(text: string, from: number): { readonly code: number; readonly to: number } | undefined {
  let at = from;
  while (text.startsWith("25", at)) at += 2;
  const byte = hexAt(text, at, 2);
  if (byte !== undefined) return { code: byte, to: at + 2 };
  return at > from ? { code: PERCENT, to: at } : undefined;
}

function hexAt(text: string, from: number, digits: number): number | undefined {
  let value = 0;
  for (let at = from; at < from + digits; at++) {
    const code = text.charCodeAt(at) | 0x20;
    const digit = code >= 0x61 && code <= 0x66 ? code - 0x57 : code >= 0x30 && code <= 0x39 ? code - 0x30 : -1;
    if (digit < 0) return undefined;
    value = value * 16 + digit;
  }
  return value;
}
