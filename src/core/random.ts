/** Source of random numbers, seeded for runs that must replay. The only one in the program. */
import { randomBytes } from "node:crypto";

/** A source of chance. The same seed gives the same values. */
export interface Random {
  /** A number in [0, 1). */
  next(): number;
  /** A whole number in [0, below). */
  int(below: number): number;
  /** One of the items; throws on an empty list. */
  pick<T>(items: readonly T[]): T;
  /** `length` characters of [0-9a-z], for identifiers. */
  word(length: number): string;
  /** Returns a new independent source, named so that adding one does not shift the others. */
  fork(name: string): Random;
}

/** The same seed gives the same sequence, on every machine (sfc32 seeded by splitmix32). */
export function seededRandom(seed: number | string): Random {
  let mix = typeof seed === "number" ? seed >>> 0 : hash32(seed);
  const split = (): number => {
    mix = (mix + 0x9e3779b9) | 0;
    let z = mix ^ (mix >>> 16);
    z = Math.imul(z, 0x21f0aaad);
    z ^= z >>> 15;
    z = Math.imul(z, 0x735a2d97);
    return (z ^ (z >>> 15)) >>> 0;
  };
  let a = split();
  let b = split();
  let c = split();
  let counter = 1;
  const bits = (): number => {
    const t = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + t;
    return t >>> 0;
  };
  for (let i = 0; i < 12; i++) bits();
  const start = `${seed}`;
  return {
    next: () => bits() / 2 ** 32,
    ...drawing(() => bits() / 2 ** 32),
    fork: (name) => seededRandom(`${start}/${name}`),
  };
}

/** Random numbers from the operating system. */
export function systemRandom(): Random {
  let pool = new Uint32Array(0);
  let used = 0;
  const next = (): number => {
    if (used >= pool.length) {
      const bytes = randomBytes(4_096);
      pool = new Uint32Array(bytes.buffer, bytes.byteOffset, 1_024);
      used = 0;
    }
    return (pool[used++] ?? 0) / 2 ** 32;
  };
  const random: Random = { next, ...drawing(next), fork: () => random };
  return random;
}

/** Digits of this radix are 0-9 and a-z. */
const RADIX = 36;
/** So many fit a small integer: a string for each letter took ten times the memory. */
const AT_ONCE = 5;

function drawing(next: () => number): Pick<Random, "int" | "pick" | "word"> {
  const int = (below: number): number => Math.floor(next() * below);
  return {
    int,
    pick(items) {
      const item = items[int(items.length)];
      if (item === undefined) throw new RangeError("expected at least one item to pick from, got none");
      return item;
    },
    word(length) {
      let text = "";
      for (let left = length; left > 0; left -= AT_ONCE) {
        const letters = Math.min(left, AT_ONCE);
        let digits = 0;
        for (let i = 0; i < letters; i++) digits = digits * RADIX + int(RADIX);
        text += digits.toString(RADIX).padStart(letters, "0");
      }
      return text;
    },
  };
}

/** FNV-1a, 32 bits. */
function hash32(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) {
    hash ^= text.charCodeAt(i);
    hash = Math.imul(hash, 0x01000193);
  }
  return hash >>> 0;
}
