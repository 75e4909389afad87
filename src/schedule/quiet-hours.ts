/** Quiet hours: a span of the day, in a time zone, in which no run starts. */
import { DAY, HOUR, MINUTE } from "../core/units.ts";
import { nextCron } from "./cron.ts";

/** Minutes since midnight; `fromMinute` later than `toMinute` spans midnight. */
export interface QuietSpan {
  readonly fromMinute: number;
  readonly toMinute: number;
}

const MINUTES_PER_HOUR = HOUR / MINUTE;
/** Cached formatters by zone: creating one costs far more than using it. */
const MAX_ZONES = 200;
const formatters = new Map<string, Intl.DateTimeFormat>();

export function isQuiet(span: QuietSpan, zone: string, at: number): boolean {
  const minute = minuteOfDay(zone, at);
  const { fromMinute, toMinute } = span;
  return fromMinute < toMinute ? minute >= fromMinute && minute < toMinute : minute >= fromMinute || minute < toMinute;
}

/** The end of the quiet hours that hold at `at`. If the local clock skips that minute, the first one after it. */
export function quietEnd(span: QuietSpan, zone: string, at: number): number {
  const hour = Math.floor(span.toMinute / MINUTES_PER_HOUR);
  const minute = span.toMinute % MINUTES_PER_HOUR;
  return nextCron(`${minute} ${hour} * * *`, zone, at) ?? at + DAY;
}

function minuteOfDay(zone: string, at: number): number {
  let formatter = formatters.get(zone);
  if (formatter === undefined) {
    if (formatters.size >= MAX_ZONES) formatters.clear();
    formatter = new Intl.DateTimeFormat("en-GB", { timeZone: zone, hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
    formatters.set(zone, formatter);
  }
  const [hour, minute] = formatter.format(at).split(":").map(Number);
  return (hour ?? 0) * MINUTES_PER_HOUR + (minute ?? 0);
}
