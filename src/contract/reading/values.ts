/** Converts single foreign values to ours. Each function returns undefined for an unreadable value, and never invents one. */
import { isObject, type Json } from "../../core/json.ts";
import type { MoneyFormat } from "../profile/source.ts";
import { OWN_VOTES, type OwnVote } from "../records.ts";

/** Longer ids would not fit a path or an event id. */
export const MAX_ID_LENGTH = 512;
const MAX_LIST = 1_000;
/** 1973 in seconds; smaller numbers are counters, not times. */
const MIN_EPOCH_SECONDS = 1e8;
/** The year 5138 in seconds, and 1973 in milliseconds: no real time is near it. */
const SECONDS_OR_MS = 1e11;
const MAX_TIME_MS = 8.64e15;
/** Members of a reference object that may hold its id. */
const REFERENCE_KEYS = ["id", "agent_id", "agentId", "user_id", "handle", "username", "_id"];
const BARE_OR_KEYED = ["", ...REFERENCE_KEYS];
const WORD_KEYS = ["name", "slug", "id", "title"];

export type TimeFormat = "auto" | "iso" | "seconds" | "milliseconds";

/** A string, or a whole number that a double holds exactly. Larger numbers must come as text: see `parseExactJson`. */
export function readId(value: Json): string | undefined {
  if (typeof value === "number") return Number.isSafeInteger(value) ? String(value) : undefined;
  return typeof value === "string" && value.trim() !== "" && value.length <= MAX_ID_LENGTH ? value : undefined;
}

export function readText(value: Json): string | undefined {
  return typeof value === "string" ? value : undefined;
}

export function readNumber(value: Json): number | undefined {
  if (typeof value === "number") return Number.isFinite(value) ? value : undefined;
  if (typeof value !== "string" || !/^[+-]?\d{1,15}(?:\.\d{1,15})?$/.test(value)) return undefined;
  return Number(value);
}

/** An amount in whole units, as a number or a text. A text that names another unit is unreadable. */
export function readMoney(value: Json, { perUnit, unit }: MoneyFormat): number | undefined {
  const count = readNumber(value);
  if (count !== undefined) return count / perUnit;
  const [, before = "", amount = "", after = ""] =
    typeof value === "string" ? (/^([^\d+-]{0,20})([+-]?\d{1,15}(?:\.\d{1,15}|,\d\d)?)(\D{0,20})$/.exec(value.trim()) ?? []) : [];
  const named = `${before}${after}`.trim().toLowerCase();
  return unit.some((word) => word.toLowerCase() === named) ? readNumber(amount.replace(",", ".")) : undefined;
}

export function readInteger(value: Json): number | undefined {
  const number = readNumber(value);
  return number !== undefined && Number.isSafeInteger(number) ? number : undefined;
}

export function readBoolean(value: Json): boolean | undefined {
  if (typeof value === "boolean") return value;
  return value === "true" ? true : value === "false" ? false : undefined;
}

const VOTE_WORDS: { readonly [vote in OwnVote]: readonly string[] } = {
  up: ["up", "upvote", "upvoted", "like", "liked", "positive", "true", "1", "+1"],
  down: ["down", "downvote", "downvoted", "dislike", "disliked", "negative", "-1"],
  none: ["none", "no", "neutral", "null", "", "0"],
  "not-up": ["false"],
};

/** Reads the asking account's vote. A number other than 1, 0 and -1 is the count of all votes. */
export function readVote(value: Json): OwnVote | undefined {
  if (value === null) return "none";
  if (typeof value !== "string" && typeof value !== "number" && typeof value !== "boolean") return undefined;
  const word = String(value).toLowerCase();
  return OWN_VOTES.find((vote) => VOTE_WORDS[vote].includes(word));
}

/** As most languages write it: what `Date.parse` reads without help. */
const USUAL_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/;

/** Milliseconds since the epoch. A date without a zone counts as UTC, since a server's own zone is unknown. */
export function readTime(value: Json, format: TimeFormat): number | undefined {
  const number = typeof value === "number" || (typeof value === "string" && /^\d{9,17}(?:\.\d+)?$/.test(value)) ? Number(value) : undefined;
  if (number !== undefined) return epochMs(number, format);
  if (typeof value === "string" && (format === "auto" || format === "iso") && USUAL_TIME.test(value)) return finite(Date.parse(value));
  if (typeof value !== "string" || value.length > 64 || format === "seconds" || format === "milliseconds") return undefined;
  const iso = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?( ?(?:Z|UTC|[+-]\d\d:?\d\d))?)?$/i.exec(value);
  if (iso !== null) {
    const dated = value
      .replace(" ", "T")
      .replace(",", ".")
      .replace(/ ?(?:UTC|Z)$/i, "Z");
    return finite(Date.parse(iso[1] === undefined && value.length > 10 ? `${dated}Z` : dated));
  }
  return /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/.test(value) ? finite(Date.parse(value)) : undefined;
}

function epochMs(number: number, format: TimeFormat): number | undefined {
  if (format === "iso" || !Number.isFinite(number) || number < MIN_EPOCH_SECONDS) return undefined;
  const seconds = format === "seconds" || (format === "auto" && number < SECONDS_OR_MS);
  const ms = Math.round(seconds ? number * 1_000 : number);
  return ms <= MAX_TIME_MS ? ms : undefined;
}

/** A duration in seconds, as milliseconds. */
export function readSeconds(value: Json): number | undefined {
  const ms = Math.round((readNumber(value) ?? Number.NaN) * 1_000);
  return ms >= 0 && ms <= MAX_TIME_MS ? ms : undefined;
}

function finite(ms: number): number | undefined {
  return Number.isFinite(ms) ? ms : undefined;
}

/** Strings, or objects with a name; a text is split at commas. Unreadable items are left out. */
export function readWords(value: Json): string[] | undefined {
  if (typeof value === "string") return value.split(",", MAX_LIST).flatMap((word) => (word.trim() === "" ? [] : [word.trim()]));
  return readEach(value, (item) => (typeof item === "string" ? item : named(item, WORD_KEYS)));
}

export interface References {
  readonly ids: readonly string[];
  /** The member that holds the ids; empty if the items are the ids; undefined if none could be read. */
  readonly by: string | undefined;
}

/**
 * Ids, or objects that hold one, all by the same member: the one given, else that of the first readable item. An id and a handle of one
 * account would otherwise count as two. Other items are left out.
 */
export function readReferences(value: Json, by?: string): References | undefined {
  let known = by;
  const ids = readEach(value, (item) => {
    for (const key of known === undefined ? BARE_OR_KEYED : [known]) {
      const id = key === "" ? readId(item) : named(item, [key]);
      if (id === undefined) continue;
      known = key;
      return id;
    }
    return undefined;
  });
  return ids === undefined ? undefined : { ids, by: known };
}

function readEach(value: Json, read: (item: Json) => string | undefined): string[] | undefined {
  if (!Array.isArray(value)) return undefined;
  return value.slice(0, MAX_LIST).flatMap((item: Json) => read(item) ?? []);
}

function named(item: Json, keys: readonly string[]): string | undefined {
  if (!isObject(item)) return undefined;
  for (const key of keys) {
    const value = Object.hasOwn(item, key) ? item[key] : undefined;
    const id = value === undefined ? undefined : readId(value);
    if (id !== undefined) return id;
  }
  return undefined;
}

/** Normalises a status word for comparison: `IN-PROGRESS` equals `in_progress`. */
export function statusWord(word: string): string {
  return word.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "");
}
