/** Calendar windows in an IANA time zone, from Intl alone: days of 23, 24 and 25 hours, zones without a midnight. */
import { Misconfigured } from "../core/errors.ts";
import { DAY, HOUR } from "../core/units.ts";

/** Half-open: `start` belongs to it, `end` to the next one. In ms since the epoch. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

export type CalendarUnit = "hour" | "day" | "month";

/** Formatters are costly to make and few: one per zone in use. */
const MAX_ZONES = 512;
const formatters = new Map<string, Intl.DateTimeFormat>();

/** The calendar hour, day or month around a moment. Consecutive spans meet exactly. Throws `Misconfigured` (`zone_unknown`). */
export function calendarSpan(unit: CalendarUnit, zone: string, at: number): Span {
  if (unit === "hour") return hourSpan(zone, at);
  const local = new Date(localTime(zone, at));
  const day = unit === "day" ? local.getUTCDate() : 1;
  const step = (steps: number): number =>
    unit === "day"
      ? startOf(zone, Date.UTC(local.getUTCFullYear(), local.getUTCMonth(), day + steps))
      : startOf(zone, Date.UTC(local.getUTCFullYear(), local.getUTCMonth() + steps, 1));
  // Where the clock is put back across midnight, a date begins, pauses and goes on: it counts from its first beginning.
  const next = step(1);
  return at < next ? { start: step(0), end: next } : { start: next, end: step(2) };
}

/** Local hours of zones whose clock moves by half an hour may last 30 or 90 minutes; they never overlap. */
function hourSpan(zone: string, at: number): Span {
  const start = at - positive(localTime(zone, at), HOUR);
  const offset = offsetAt(zone, at);
  const from = offsetAt(zone, start) === offset ? start : transition(zone, start, at);
  const end = start + HOUR;
  return { start: from, end: offsetAt(zone, end - 1) === offset ? end : transition(zone, at, end) };
}

/** The earliest moment whose local time is `local` (given as if it were UTC); past a gap, the moment of the gap. */
function startOf(zone: string, local: number): number {
  const samples = [local - 1.5 * DAY, local, local + 1.5 * DAY].map((at) => offsetAt(zone, at));
  const exact = samples.map((offset) => local - offset).filter((at) => localTime(zone, at) === local);
  return exact.length > 0 ? Math.min(...exact) : transition(zone, local - 1.5 * DAY, local + 1.5 * DAY);
}

/** The first moment after `from` at which the zone's offset is no longer the one of `from`. */
function transition(zone: string, from: number, to: number): number {
  const before = offsetAt(zone, from);
  let low = from;
  let high = to;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetAt(zone, middle) === before) low = middle;
    else high = middle;
  }
  return high;
}

function offsetAt(zone: string, at: number): number {
  return localTime(zone, at) - at;
}

/** The wall clock of a zone, as if it were UTC. */
function localTime(zone: string, at: number): number {
  const part = new Map<string, number>();
  for (const { type, value } of formatterOf(zone).formatToParts(at)) part.set(type, Number(value));
  const of = (type: Intl.DateTimeFormatPartTypes): number => part.get(type) ?? 0;
  return Date.UTC(of("year"), of("month") - 1, of("day"), of("hour"), of("minute"), of("second")) + positive(at, 1_000);
}

function positive(value: number, modulus: number): number {
  return ((value % modulus) + modulus) % modulus;
}

function formatterOf(zone: string): Intl.DateTimeFormat {
  const known = formatters.get(zone);
  if (known !== undefined) return known;
  let made: Intl.DateTimeFormat;
  try {
    made = new Intl.DateTimeFormat("en-US", {
      timeZone: zone,
      calendar: "iso8601",
      numberingSystem: "latn",
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
  } catch (cause) {
    throw new Misconfigured("zone_unknown", `expected an IANA time zone such as "Europe/London", got ${JSON.stringify(zone)}`, { cause });
  }
  if (formatters.size >= MAX_ZONES) formatters.clear();
  formatters.set(zone, made);
  return made;
}
