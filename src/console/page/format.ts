/** Texts of times, amounts and numbers, as people read them. */
import type { Money } from "../../core/units.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const MICROS = 1_000_000;

const clockTime = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const dayAndTime = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
const wholeTime = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "long" });
const figures = new Intl.NumberFormat("en-GB");
const amounts = new Intl.NumberFormat("en-GB", { maximumFractionDigits: 6 });

/** `14:05`; on another day `3 Nov, 14:05`. */
export function showTime(at: number, now: number): string {
  return new Date(at).toDateString() === new Date(now).toDateString() ? clockTime.format(at) : dayAndTime.format(at);
}

/** With seconds and zone. */
export const showWholeTime = (at: number): string => wholeTime.format(at);

export const showNumber = (value: number): string => figures.format(value);

/** `12.5 credits`. */
export const showAmount = ({ micros, currency }: Money): string => `${amounts.format(micros / MICROS)} ${currency}`;

/** `2d 3h`, `5m`, `under 1m`: as exact as a person needs. */
export function showSpan(ms: number): string {
  if (ms < MINUTE) return "under 1m";
  const [days, hours, minutes] = [Math.floor(ms / DAY), Math.floor((ms % DAY) / HOUR), Math.floor((ms % HOUR) / MINUTE)];
  const parts: readonly (readonly [number, string])[] =
    days > 0
      ? [
          [days, "d"],
          [hours, "h"],
        ]
      : [
          [hours, "h"],
          [minutes, "m"],
        ];
  return parts.flatMap(([count, unit]) => (count === 0 ? [] : [`${count}${unit}`])).join(" ");
}

/** Exact to the millisecond below a second, to a tenth below a minute. */
export function showShortSpan(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  return ms < MINUTE ? `${(ms / 1_000).toFixed(1)} s` : showSpan(ms);
}

/** `5m ago`, `in 2h`, `now`. */
export function showAgo(at: number, now: number): string {
  const span = Math.abs(now - at);
  if (span < MINUTE) return at > now ? "in under 1m" : "just now";
  return at > now ? `in ${showSpan(span)}` : `${showSpan(span)} ago`;
}

/** `1 request`, `2 requests`. */
export const plural = (count: number, one: string, many = `${one}s`): string => `${showNumber(count)} ${count === 1 ? one : many}`;

/** `jobs.create` and `rate_limit` as words: the names of states and rules. */
export const words = (name: string): string => name.replaceAll("_", " ");
