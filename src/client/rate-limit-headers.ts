/** Reads a key's limits from answer headers, in every known dialect; they are never trusted upwards. */
import type { LimitHints } from "../contract/call.ts";
import type { Profile } from "../contract/profile/profile.ts";
import { readTime } from "../contract/reading/values.ts";
import { defined } from "../core/defined.ts";
import { BODY_SOURCE, fieldPath, valueAt } from "../contract/reading/field-path.ts";
import type { Json } from "../core/json.ts";
import { DAY, HOUR, MINUTE, SECOND } from "../core/units.ts";
import type { WireHeaders } from "./transport.ts";

const MAX_STRUCTURED_LENGTH = 1_000;
const MAX_STRUCTURED_ITEMS = 10;

export interface LimitReader {
  /** Undefined if no header states a limit. `nowMs` is the server's time if it sent one. */
  hints(headers: WireHeaders, nowMs: number): LimitHints | undefined;
  /** The headers, and the values of the body that the profile reads like headers. */
  withBody(headers: WireHeaders, body: Json | undefined): WireHeaders;
  /** Milliseconds to wait: 0 or more and finite, or undefined for none or garbage. The limits clamp it. */
  retryAfterMs(headers: WireHeaders, nowMs: number, fromBody: unknown): number | undefined;
}

export function limitReader(names: Profile["limitHeaders"], waitUnit: WaitUnit): LimitReader {
  const inBody = Object.values(names)
    .flatMap((value) => (Array.isArray(value) ? value : []))
    .filter((name: string) => BODY_SOURCE.test(name))
    .map((name: string) => ({ name, path: fieldPath(name.slice(name.indexOf(":") + 1)) }));
  return {
    withBody(headers, body) {
      if (inBody.length === 0) return headers;
      return { ...headers, ...Object.fromEntries(inBody.map(({ name, path }) => [name, bodyText(valueAt(body, path))])) };
    },
    hints(headers, nowMs) {
      const structured = readStructured(headers, names.structured);
      const hour = count(headers, names.remainingHour) ?? structured?.hour;
      const day = count(headers, names.remainingDay) ?? structured?.day;
      const plain = count(headers, names.remaining);
      const remaining = plain ?? structured?.unknown;
      const limit = count(headers, names.limit);
      const windowMs = plain === undefined ? structured?.windowMs : names.windowMs;
      const reset = resetMs(first(headers, names.reset), nowMs) ?? structured?.resetMs;
      if (hour === undefined && day === undefined && remaining === undefined && reset === undefined) return undefined;
      return {
        ...(hour === undefined ? {} : { remainingHour: hour }),
        ...(day === undefined ? {} : { remainingDay: day }),
        ...(remaining === undefined ? {} : { remaining, ...defined({ limit, windowMs }) }),
        ...(reset === undefined ? {} : { resetMs: reset }),
      };
    },
    retryAfterMs: (headers, nowMs, fromBody) =>
      waitMs(first(headers, names.retryAfter), nowMs) ?? waitMs(bodyText(fromBody), nowMs, UNIT_MS[waitUnit]),
  };
}

/** The first present header of several; of a repeated one, the first value. */
function first(headers: WireHeaders, names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = headers[name];
    if (value !== undefined) return Array.isArray(value) ? value[0] : value;
  }
  return undefined;
}

function count(headers: WireHeaders, names: readonly string[]): number | undefined {
  const text = first(headers, names);
  return text !== undefined && /^ *-?\d{1,15}(?:\.\d+)? *$/.test(text) ? Math.max(0, Math.floor(Number(text))) : undefined;
}

function bodyText(value: unknown): string | undefined {
  return typeof value === "string" || typeof value === "number" ? String(value) : undefined;
}

type WaitUnit = Profile["errors"]["waitUnit"];

const UNIT_MS: { readonly [unit in WaitUnit]: number } = { milliseconds: 1, seconds: SECOND, minutes: MINUTE, hours: HOUR };
const MAX_WAIT_LENGTH = 300;

/** `Retry-After`: seconds (negative ones count as 0), an HTTP date, an ISO time, or words. */
export function waitMs(text: string | undefined, nowMs: number, unitMs = SECOND): number | undefined {
  if (text === undefined || text.length > MAX_WAIT_LENGTH) return undefined;
  const trimmed = text.trim();
  if (/^[+-]?\d+(?:\.\d+)?$/.test(trimmed)) return bounded(Number(trimmed) * unitMs);
  const isDate = /^[A-Z][a-z]{2,8},? [\w -]+\d\d:\d\d:\d\d/.test(trimmed);
  const at = isDate ? Date.parse(trimmed) : readTime(trimmed, "iso");
  return at === undefined || !Number.isFinite(at) ? wordedMs(trimmed) : bounded(at - nowMs);
}

const WORDED = /(\d+(?:\.\d+)?\s*|\b(?:an?|one)\s+)(ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?)(?![a-z])/gi;
const WORD_MS: Readonly<Record<string, number>> = { s: SECOND, m: MINUTE, h: HOUR, d: DAY };

/** `in 3 minutes`, `1 h 30 min`, `PT4M30S`: the sum of all durations named. */
function wordedMs(text: string): number | undefined {
  const parts = [
    ...text
      .replace(/^P(?=[\dT])/, "")
      .replace(/(?<=^|\d[A-Z])T(?=\d)/, " ")
      .matchAll(WORDED),
  ];
  if (parts.length === 0) return undefined;
  return bounded(
    parts.reduce((sum, [, count = "", unit = ""]) => {
      const name = unit.toLowerCase();
      const unitMs = /^m(?:s|illi)/.test(name) ? 1 : (WORD_MS[name.slice(0, 1)] ?? 0);
      return sum + (/^\d/.test(count) ? Number(count) : 1) * unitMs;
    }, 0),
  );
}

/** Seconds from now, seconds or milliseconds since the epoch (distinguished by size), or a time. */
function resetMs(text: string | undefined, nowMs: number): number | undefined {
  if (text === undefined || !/^ *\d{1,15}(?:\.\d+)? *$/.test(text)) return waitMs(text, nowMs);
  const number = Number(text);
  if (number < 1e9) return bounded(number * SECOND);
  return bounded((number < 1e11 ? number * SECOND : number) - nowMs);
}

function bounded(ms: number): number {
  return Math.min(Math.max(0, Math.round(ms)), Number.MAX_SAFE_INTEGER);
}

interface Structured {
  hour?: number;
  day?: number;
  unknown?: number;
  /** Length of the window of `unknown`, if its policy states it. */
  windowMs?: number;
  resetMs?: number;
}

/** `"day";r=40;t=300` with lengths from `RateLimit-Policy`, and the older `limit=100, remaining=50, reset=5`. */
function readStructured(headers: WireHeaders, names: readonly string[]): Structured | undefined {
  const text = joined(headers, names);
  if (text === undefined || text.length > MAX_STRUCTURED_LENGTH) return undefined;
  const old = parameters(text.replaceAll(",", ";"));
  if (old.get("remaining") !== undefined && !text.includes("r=")) return described(old.get("remaining"), old.get("reset"));
  const lengths = policyLengths(
    joined(
      headers,
      names.map((name) => `${name}-policy`),
    ),
  );
  const found: Structured = {};
  let resetS: number | undefined;
  const items = text.split(",", MAX_STRUCTURED_ITEMS);
  for (const item of items) {
    const name = /^\s*"?([^";\s]*)/.exec(item)?.[1]?.toLowerCase() ?? "";
    const given = parameters(item);
    const left = given.get("r");
    if (left === undefined) continue;
    const length = lengths.get(name);
    if (length === HOUR || (length === undefined && /hour/.test(name))) found.hour = left;
    else if (length === DAY || (length === undefined && /day|daily/.test(name))) found.day = left;
    else if (left <= (found.unknown ?? left)) {
      found.unknown = left;
      if (length !== undefined) found.windowMs = length;
    }
    resetS = Math.min(given.get("t") ?? Infinity, resetS ?? Infinity);
  }
  if (resetS !== undefined && Number.isFinite(resetS)) found.resetMs = resetS * SECOND;
  return found;
}

function described(remaining: number | undefined, resetS: number | undefined): Structured {
  return { ...(remaining === undefined ? {} : { unknown: remaining }), ...(resetS === undefined ? {} : { resetMs: resetS * SECOND }) };
}

function joined(headers: WireHeaders, names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = headers[name];
    if (value !== undefined) return Array.isArray(value) ? value.join(", ") : value;
  }
  return undefined;
}

function policyLengths(text: string | undefined): Map<string, number> {
  const lengths = new Map<string, number>();
  if (text === undefined || text.length > MAX_STRUCTURED_LENGTH) return lengths;
  for (const item of text.split(",", MAX_STRUCTURED_ITEMS)) {
    const seconds = parameters(item).get("w");
    if (seconds !== undefined) lengths.set(/^\s*"?([^";\s]*)/.exec(item)?.[1]?.toLowerCase() ?? "", seconds * SECOND);
  }
  return lengths;
}

function parameters(item: string): Map<string, number> {
  return new Map([...item.matchAll(/(?:^|;)\s*([a-z]+)=(\d{1,12})(?=\s*(?:;|$))/g)].map((match) => [match[1] ?? "", Number(match[2])]));
}
