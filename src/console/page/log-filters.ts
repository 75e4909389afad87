/** Filters of the log, and the tone of an entry's state. */
import type { LogEntry } from "./answers.ts";
import { now } from "./browser.ts";
import type { Tone } from "./condition.ts";

const HOUR = 3_600_000;
const SPANS: { readonly [name: string]: number | undefined } = { hour: HOUR, day: 24 * HOUR, week: 7 * 24 * HOUR };

export const SINCE = [
  ["", "always"],
  ["hour", "the last hour"],
  ["day", "the last day"],
  ["week", "the last week"],
] as const;

/** The beginning of a span, to the whole minute: one address is asked for while a minute lasts. A time is itself. */
export function sinceTime(since: string, at: number = now()): number | undefined {
  const span = Object.hasOwn(SPANS, since) ? SPANS[since] : undefined;
  if (span !== undefined) return Math.floor((at - span) / 60_000) * 60_000;
  return /^\d+$/.test(since) ? Number(since) : undefined;
}

const TONES: { readonly [state in LogEntry["state"]]?: Tone } = {
  confirmed: "good",
  handled: "good",
  proposed: "accent",
  ready: "calm",
  sending: "calm",
  pending: "warn",
  refused: "warn",
  failing: "warn",
  in_doubt: "warn",
  parked: "bad",
};

export const toneOfState = (state: LogEntry["state"]): Tone => TONES[state] ?? "calm";
