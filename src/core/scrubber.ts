/** Takes known secrets out of text that comes in or is shown, also where they are escaped or encoded. */
import { mapLiterals } from "./json.ts";
import { HIDDEN, type Secret } from "./secret.ts";
import { ANY_ESCAPE, foldOf, formsOf, isPlain, PLAIN_ESCAPE, unescaped, WINDOW } from "./secret-forms.ts";

/** Shorter values are ignored, since they would blank ordinary words. */
export const MIN_SCRUBBED_LENGTH = 8;
/** A row of stars or dots masks a secret and is none. */
const MIN_DISTINCT = 4;
/** True for values that the scrubber searches for. */
export function isScrubbable(value: string): boolean {
  return value.length >= MIN_SCRUBBED_LENGTH && new Set(value).size >= MIN_DISTINCT;
}

/** Room for the key, two tokens and the webhook secret of ten thousand specialists. The least recently added are forgotten. */
const MAX_SECRETS = 40_000;
const MAX_FORMS = 100;
/** Any key with one of the published prefixes. */
const KEY_SHAPED = /\b(sk-agent-|sk_live_)[A-Za-z0-9_-]{4,}/g;

/** The place of a secret in a text. */
interface Place {
  readonly from: number;
  readonly to: number;
}

/**
 * Knows every secret of a process. One search finds all of them, in 3 to 6 µs for a kilobyte, whether there is one or ten
 * thousand: the hash of the last six characters is looked up at each character (Rabin and Karp), and only a hit is compared.
 */
export class Scrubber {
  readonly #secrets = new Set<string>();
  /** Secrets by one mark of each of their forms: the mark that the fewest others share, so that many keys may end alike. */
  readonly #byMark = new Map<number, string | string[]>();
  #marks = new BitSet(FEWEST_BITS);
  #escape = PLAIN_ESCAPE;
  /** Forms of secrets that were found lately: computing them takes far longer than comparing them. */
  readonly #forms = new Map<string, readonly Form[]>();

  add(secret: Secret): void {
    const value = secret.reveal();
    if (this.#secrets.has(value)) return this.#renew(value);
    if (!isScrubbable(value)) return;
    this.#secrets.add(value);
    this.#index(value);
    if (!isPlain(value)) this.#escape = ANY_ESCAPE;
    const [oldest] = this.#secrets;
    if (this.#secrets.size > MAX_SECRETS && oldest !== undefined) this.#forget(oldest);
  }

  /** The set keeps its order, the latest last; the order counts only where secrets are soon forgotten. */
  #renew(value: string): void {
    if (this.#secrets.size <= MAX_SECRETS / 2) return;
    this.#secrets.delete(value);
    this.#secrets.add(value);
  }

  /** True where the text holds a known secret, in any form. */
  holds(text: string): boolean {
    if (this.#places(text).length > 0) return true;
    return this.#escape.test(text) && this.#places(unescaped(text)).length > 0;
  }

  /** The text without known secrets; the same text where it holds none. A text that hides a secret in escapes comes back unescaped. */
  blank(text: string): string {
    if (text.length < WINDOW) return text;
    const plain = cut(text, this.#places(text));
    if (!this.#escape.test(plain)) return plain;
    const bare = unescaped(plain);
    const places = this.#places(bare);
    return places.length === 0 ? plain : cut(bare, places);
  }

  /** As `blank`, for each name and value of a JSON text, so that it stays JSON. Other text is blanked as a whole. */
  blankJson(json: string): string {
    return this.holds(json) ? mapLiterals(json, (text) => this.blank(text)) : json;
  }

  /** As `blank`, for text shown to people: anything shaped like a published key goes too. */
  clean(text: string): string {
    return this.blank(text).replace(KEY_SHAPED, `$1${HIDDEN}`);
  }

  /** As `clean`, for JSON. */
  cleanJson(json: string): string {
    return this.holds(json) || json.search(KEY_SHAPED) >= 0 ? mapLiterals(json, (text) => this.clean(text)) : json;
  }

  #index(value: string): void {
    for (const { marks } of markedForms(value)) {
      const [mark = 0] = marks.toSorted((a, b) => this.#markedBy(a).length - this.#markedBy(b).length);
      const known = this.#byMark.get(mark);
      if (typeof known === "object") known.push(value);
      else this.#byMark.set(mark, known === undefined ? value : [known, value]);
      this.#marks.add(mark);
    }
    if (this.#marks.isFull) this.#marks = BitSet.of(this.#byMark.keys(), this.#byMark.size);
  }

  #forget(value: string): void {
    this.#secrets.delete(value);
    for (const mark of markedForms(value).flatMap(({ marks }) => marks)) {
      const known = this.#markedBy(mark);
      if (!known.includes(value)) continue;
      const others = known.filter((other) => other !== value);
      if (others.length === 0) this.#byMark.delete(mark);
      else this.#byMark.set(mark, others);
    }
  }

  #markedBy(mark: number): readonly string[] {
    const known = this.#byMark.get(mark) ?? [];
    return typeof known === "string" ? [known] : known;
  }

  #formsOf(value: string): readonly Form[] {
    const known = this.#forms.get(value);
    if (known !== undefined) return known;
    const forms = markedForms(value);
    if (this.#forms.size >= MAX_FORMS) this.#forms.clear();
    this.#forms.set(value, forms);
    return forms;
  }

  #places(text: string): readonly Place[] {
    let found: Place[] | undefined;
    let hash = 0;
    for (let at = 1; at <= text.length; at++) {
      hash = nextHash(hash, text.charCodeAt(at - 1));
      if (!this.#marks.has(hash)) continue;
      for (const value of this.#markedBy(hash))
        for (const { text: form, marks } of this.#formsOf(value))
          for (const [i, mark] of marks.entries()) {
            const to = at + i * WINDOW;
            if (mark === hash && endsAt(text, to, form)) (found ??= []).push({ from: to - form.length, to });
          }
    }
    return found ?? NOWHERE;
  }
}

/** One form of a secret, and its marks: the hashes of its stretches of `WINDOW` characters, counted from its end. */
interface Form {
  readonly text: string;
  readonly marks: readonly number[];
}

function markedForms(value: string): readonly Form[] {
  return formsOf(value).map((text) => ({
    text,
    marks: Array.from({ length: Math.floor(text.length / WINDOW) }, (_, i) => markAt(text, text.length - i * WINDOW)),
  }));
}

function markAt(text: string, end: number): number {
  let hash = 0;
  for (let at = end - WINDOW; at < end; at++) hash = nextHash(hash, text.charCodeAt(at));
  return hash;
}

const NOWHERE: readonly Place[] = [];
const FEWEST_BITS = 16;
/** Shifted by 5 bits at each character, a hash of 30 bits has forgotten all but the last six. */
const HASH_MASK = (1 << (5 * WINDOW)) - 1;
/** Spreads neighbouring hashes (Knuth, The Art of Computer Programming, 6.4). */
const GOLDEN = 0x9e3779b1;

function nextHash(hash: number, code: number): number {
  return ((hash << 5) & HASH_MASK) ^ foldOf(code);
}

/** A Bloom filter with one hash: a number that was added is always found, any other seldom. */
class BitSet {
  readonly #words: Uint32Array;
  readonly #shift: number;
  /** Numbers that may still be added before more than one in sixteen others is found by mistake. */
  #room: number;

  constructor(bits: number) {
    this.#words = new Uint32Array(1 << (bits - 5));
    this.#shift = 32 - bits;
    this.#room = 1 << (bits - 4);
  }

  static of(numbers: Iterable<number>, size: number): BitSet {
    const set = new BitSet(Math.max(FEWEST_BITS, Math.ceil(Math.log2(size)) + 5));
    for (const number of numbers) set.add(number);
    return set;
  }

  get isFull(): boolean {
    return this.#room <= 0;
  }

  add(number: number): void {
    const bit = Math.imul(number, GOLDEN) >>> this.#shift;
    this.#words[bit >>> 5] = (this.#words[bit >>> 5] ?? 0) | (1 << (bit & 31));
    this.#room--;
  }

  has(number: number): boolean {
    const bit = Math.imul(number, GOLDEN) >>> this.#shift;
    return ((this.#words[bit >>> 5] ?? 0) & (1 << (bit & 31))) !== 0;
  }
}

function endsAt(text: string, end: number, form: string): boolean {
  const from = end - form.length;
  if (from < 0 || end > text.length) return false;
  for (let at = 0; at < form.length; at++) if (foldOf(text.charCodeAt(from + at)) !== form.charCodeAt(at)) return false;
  return true;
}

/** The text with `[secret]` in each place; overlapping places become one. */
function cut(text: string, places: readonly Place[]): string {
  if (places.length === 0) return text;
  const merged: { from: number; to: number }[] = [];
  for (const { from, to } of [...places].sort((a, b) => a.from - b.from)) {
    const last = merged.at(-1);
    if (last !== undefined && from < last.to) last.to = Math.max(last.to, to);
    else merged.push({ from, to });
  }
  let kept = "";
  let at = 0;
  for (const { from, to } of merged) {
    kept += text.slice(at, from) + HIDDEN;
    at = to;
  }
  return kept + text.slice(at);
}
