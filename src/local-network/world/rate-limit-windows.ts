/** Counts requests in hour and day windows of each kind, and computes when a place frees. */
import type { TierLimits } from "../../contract/tiers.ts";
import { DAY, HOUR } from "../../core/units.ts";
import type { WindowKind } from "../assumptions.ts";

/** Times stored per span. A full span ignores further times, so its count is then a lower bound. */
const MAX_TIMES = 1_000_000;
const FIRST_CAPACITY = 64;

/** The times of the last `lengthMs`, oldest first, in a ring that grows as needed. */
export interface Span {
  add(at: number): void;
  /** Counts the times in (now - length, now]. */
  count(now: number): number;
  /** Returns the `index`-th oldest time still counted. */
  nth(index: number): number | undefined;
}

export function createSpan(lengthMs: number): Span {
  let ring = new Float64Array(FIRST_CAPACITY);
  let head = 0;
  let size = 0;
  let last = Number.NEGATIVE_INFINITY;
  const dropUntil = (now: number): void => {
    while (size > 0 && (ring[head] ?? 0) <= now - lengthMs) {
      head = (head + 1) % ring.length;
      size--;
    }
  };
  const grow = (): void => {
    const wider = new Float64Array(ring.length * 2);
    for (let i = 0; i < size; i++) wider[i] = ring[(head + i) % ring.length] ?? 0;
    ring = wider;
    head = 0;
  };
  return {
    add(at) {
      last = Math.max(last, at); // a clock set back must not free anything early
      dropUntil(last);
      if (size === MAX_TIMES) return;
      if (size === ring.length) grow();
      ring[(head + size) % ring.length] = last;
      size++;
    },
    count(now) {
      dropUntil(now);
      return size;
    },
    nth: (index) => (index < size ? ring[(head + index) % ring.length] : undefined),
  };
}

export interface WindowState {
  readonly limit: number;
  readonly used: number;
  /** Milliseconds until at least one more place is free; for cut windows, until all are. */
  readonly resetMs: number;
}

/** The two windows of one key. All three cuts are kept at once so that the switch can change. */
export interface Meter {
  add(at: number): void;
  hour(kind: WindowKind, now: number, limit: number): WindowState;
  day(kind: WindowKind, now: number, limit: number): WindowState;
  /** Starts of the anchored windows, for storage. */
  readonly anchors: { hour: Cut; day: Cut };
}

/** A window with a start, and its count since then. */
export interface Cut {
  startedAt: number;
  used: number;
}

export function createMeter(anchors: Meter["anchors"] = { hour: emptyCut(), day: emptyCut() }): Meter {
  const spans = { hour: createSpan(HOUR), day: createSpan(DAY) };
  const calendar = { hour: emptyCut(), day: emptyCut() };
  const count = (which: "hour" | "day", lengthMs: number, at: number): void => {
    spans[which].add(at);
    countIn(calendar[which], Math.floor(at / lengthMs) * lengthMs, at, lengthMs);
    countIn(anchors[which], at, at, lengthMs);
  };
  const state = (which: "hour" | "day", lengthMs: number, kind: WindowKind, now: number, limit: number): WindowState => {
    if (kind === "sliding") {
      const used = spans[which].count(now);
      const leaves = spans[which].nth(Math.max(0, used - limit));
      return { limit, used, resetMs: leaves === undefined ? 0 : Math.max(1, leaves + lengthMs - now) };
    }
    const cut = kind === "fixed" ? calendar[which] : anchors[which];
    const over = now >= cut.startedAt + lengthMs;
    return { limit, used: over ? 0 : cut.used, resetMs: over ? 0 : Math.max(1, cut.startedAt + lengthMs - now) };
  };
  return {
    anchors,
    add(at) {
      count("hour", HOUR, at);
      count("day", DAY, at);
    },
    hour: (kind, now, limit) => state("hour", HOUR, kind, now, limit),
    day: (kind, now, limit) => state("day", DAY, kind, now, limit),
  };
}

/** Returns the full window, the one that frees last if both are full; undefined while there is room. */
export function fullWindow(
  meter: Meter,
  kind: WindowKind,
  now: number,
  limits: TierLimits,
): (WindowState & { readonly name: "hour" | "day" }) | undefined {
  const hour = { name: "hour" as const, ...meter.hour(kind, now, limits.perHour) };
  const day = { name: "day" as const, ...meter.day(kind, now, limits.perDay) };
  const full = [hour, day].filter((window) => window.used >= window.limit);
  return full.sort((a, b) => b.resetMs - a.resetMs)[0];
}

function emptyCut(): Cut {
  return { startedAt: Number.NEGATIVE_INFINITY, used: 0 };
}

function countIn(cut: Cut, start: number, at: number, lengthMs: number): void {
  if (at >= cut.startedAt + lengthMs) {
    cut.startedAt = start;
    cut.used = 0;
  }
  cut.used++;
}
