/** Ids in other forms: each canonical id has exactly one, and goes back to it. */
import type { Json } from "../../../../src/core/json.ts";

export const ID_STYLES = ["prefixed", "number", "digits", "snowflake", "uuid", "letters"] as const;
export type IdStyle = (typeof ID_STYLES)[number];

export interface Ids {
  /** The accent's form of a canonical id, as it stands in a body. */
  say(id: string): Json;
  /** As it stands in a path. */
  inPath(id: string): string;
  /** The canonical id, or one that nothing has. */
  hear(kind: Kind, said: string): string;
}

const KINDS = ["post", "job", "agt", "com", "wh", "app", "apr", "evt"] as const;
export type Kind = (typeof KINDS)[number];

const NOTHING = "nothing_0";
/** Marks a number that a double cannot hold: `exact()` takes the marks away on the way out. */
const EXACT = "\u0001#";

/** Puts whole numbers that were too large for a double into a body's text. */
export function exact(body: string): string {
  return body.includes("\\u0001#") ? body.replaceAll(/"\\u0001#(\d+)"/g, "$1") : body;
}

/** Multiplying by an odd number is a bijection of 48 bits; the second one undoes the first. */
const BITS = 48n;
const SCATTER = 0x5bd1e995a7c5n;
const GATHER = inverse(SCATTER);

export function idsIn(style: IdStyle, salt: number): Ids {
  const offset = (kind: string): number => 1_000 + (salt % 997) + 3 * KINDS.indexOf(kind as Kind);
  const parts = (id: string): { kind: string; n: number } => {
    const at = id.lastIndexOf("_");
    return { kind: id.slice(0, at), n: Number(id.slice(at + 1)) };
  };
  const text = (id: string): string => {
    const { kind, n } = parts(id);
    if (!KINDS.includes(kind as Kind) || !Number.isSafeInteger(n)) return id;
    switch (style) {
      case "prefixed":
        return `${kind.slice(0, 1)}-${n.toString(36)}x`;
      case "number":
      case "digits":
        return `${offset(kind) + n}`;
      case "snowflake":
        return `${7_100_000_000_000_000_000n + BigInt(offset(kind)) * 10_000_000_000n + BigInt(n)}`;
      case "letters":
        return `${(offset(kind) + n).toString(36)}zq`;
      case "uuid":
        return uuid(n, KINDS.indexOf(kind as Kind), salt);
    }
  };
  const back = (kind: Kind, said: string): number | undefined => {
    switch (style) {
      case "prefixed":
        return said.startsWith(`${kind.slice(0, 1)}-`) ? Number.parseInt(said.slice(2, -1), 36) : undefined;
      case "number":
      case "digits":
        return Number(said) - offset(kind);
      case "snowflake":
        return /^\d{19}$/.test(said)
          ? Number(BigInt(said) - 7_100_000_000_000_000_000n - BigInt(offset(kind)) * 10_000_000_000n)
          : undefined;
      case "letters":
        return Number.parseInt(said.slice(0, -2), 36) - offset(kind);
      case "uuid":
        return fromUuid(said);
    }
  };
  return {
    say(id) {
      const said = text(id);
      if (said === id) return id;
      return style === "number" ? Number(said) : style === "snowflake" ? EXACT + said : said;
    },
    inPath: text,
    hear(kind, said) {
      const n = back(kind, said);
      const id = `${kind}_${n}`;
      return n !== undefined && Number.isSafeInteger(n) && n > 0 && text(id) === said ? id : NOTHING;
    },
  };
}

function uuid(n: number, kind: number, salt: number): string {
  const scattered = ((BigInt(n) * SCATTER) & ((1n << BITS) - 1n)).toString(16).padStart(12, "0");
  const tail = (BigInt(salt >>> 0) * 8n + BigInt(kind)).toString(16).padStart(12, "0");
  return `${scattered.slice(0, 8)}-${scattered.slice(8)}-4${tail.slice(0, 3)}-8${tail.slice(3, 6)}-${tail.slice(6)}${tail.slice(0, 6)}`;
}

function fromUuid(said: string): number | undefined {
  const digits = /^([0-9a-f]{8})-([0-9a-f]{4})-/.exec(said);
  if (digits === null) return undefined;
  return Number((BigInt(`0x${digits[1]}${digits[2]}`) * GATHER) & ((1n << BITS) - 1n));
}

/** By Newton's method: each step doubles the bits that are right. */
function inverse(odd: bigint): bigint {
  let found = odd;
  for (let step = 0; step < 6; step++) found = (found * (2n - odd * found)) & ((1n << BITS) - 1n);
  return found & ((1n << BITS) - 1n);
}
