/**
 * Computes which runs of a schedule are due, which were missed, and the time of the next check. Pure, so that a restart cannot change it.
 */
import { seededRandom } from "../core/random.ts";
import { DAY, MINUTE } from "../core/units.ts";
import { cronTimes } from "./cron.ts";
import { isQuiet, quietEnd, type QuietSpan } from "./quiet-hours.ts";

/** Timing of a schedule: one of `cron` and `everyMs`. Its times are its *slots*; a run is named by its slot. */
export interface ScheduleTiming {
  readonly cron: string | undefined;
  readonly everyMs: number | undefined;
  /** IANA name. */
  readonly zone: string;
  /** Each slot starts up to this much later, by `share`, but always before the next slot. */
  readonly jitterMs: number;
  readonly quiet: QuietSpan | undefined;
  readonly onMissed: "skip" | "once" | { readonly all: number };
}

export interface DueQuestion {
  readonly timing: ScheduleTiming;
  /** The last processed slot, or the time the schedule was first seen. Stored between questions. */
  readonly cursor: number;
  readonly now: number;
  /** The part of the jitter a slot gets, in [0, 1): stable per slot, also after a restart. */
  readonly share: (slot: number) => number;
}

export interface DueAnswer {
  /** Slots to run now, oldest first. Their names make duplicates harmless. */
  readonly runs: readonly number[];
  /** Due slots that do not run: by `onMissed`, or because a later one replaces them. Counted up to 500. */
  readonly skipped: number;
  /** To be stored together with the runs. */
  readonly cursor: number;
  /** Time of the next check, or undefined if the schedule has no further slot. */
  readonly next: number | undefined;
}

/** A run that starts this late is on time; later ones were missed. */
export const GRACE_MS = MINUTE;
/** A stored cursor further ahead than this comes from a wrong clock, and would silence the schedule. */
export const MAX_CLOCK_BACK_MS = DAY;
/** Slots examined per question: 500 times of a cron expression take about 25 ms. */
const MAX_SLOTS = 500;
const MAX_PASSES = 10;

/** Derived from the names of the specialist and its schedule, so that each keeps its own share. */
export function slotShare(name: string): (slot: number) => number {
  return (slot) => seededRandom(`${name}/${slot}`).next();
}

/** Computes the runs to start now. Throws `Misconfigured` (`cron_invalid`). */
export function dueRuns(question: DueQuestion): DueAnswer {
  const { timing, now } = question;
  const cursor = question.cursor > now + MAX_CLOCK_BACK_MS ? now : question.cursor;
  if (timing.quiet !== undefined && isQuiet(timing.quiet, timing.zone, now))
    return { runs: [], skipped: 0, cursor, next: quietEnd(timing.quiet, timing.zone, now) };
  const { slots, upcoming } = slotsUntil({ ...question, cursor });
  const dueAt = upcoming === undefined ? undefined : startOf(upcoming, question);
  const next = dueAt === undefined ? undefined : afterQuiet(timing, dueAt);
  const latest = slots.at(-1);
  if (latest === undefined) return { runs: [], skipped: 0, cursor, next };
  const runs = chosen(slots, question);
  return { runs, skipped: slots.length - runs.length, cursor: latest, next };
}

/** A start within quiet hours is checked again at their end, as a missed one. */
function afterQuiet({ quiet, zone }: ScheduleTiming, at: number): number {
  return quiet !== undefined && isQuiet(quiet, zone, at) ? quietEnd(quiet, zone, at) : at;
}

/** Chooses the due slots to run. `once` and `skip` run only the latest, which replaces the others. */
function chosen(slots: readonly number[], question: DueQuestion): readonly number[] {
  const { timing, now } = question;
  const latest = slots.at(-1);
  if (latest === undefined) return [];
  const dueAt = startOf(latest, question);
  const quiet = timing.quiet !== undefined && isQuiet(timing.quiet, timing.zone, dueAt);
  const onTime = now - dueAt <= GRACE_MS && !quiet;
  if (timing.onMissed === "skip") return onTime ? [latest] : [];
  if (timing.onMissed === "once") return [latest];
  return slots.slice(-timing.onMissed.all);
}

/** Returns the started slots after the cursor (the last 500 of them), and the first one that has not started. */
function slotsUntil(question: DueQuestion): { readonly slots: readonly number[]; readonly upcoming: number | undefined } {
  const { timing, now } = question;
  let from = question.cursor;
  for (let pass = 1; ; pass++) {
    const slots: number[] = [];
    let upcoming: number | undefined;
    for (const slot of timesAfter(timing, from)) {
      upcoming = slot;
      if (slot > now || (slot + timing.jitterMs > now && startOf(slot, question) > now)) break;
      slots.push(slot);
      upcoming = undefined;
      if (slots.length >= MAX_SLOTS) break;
    }
    const last = slots.at(-1);
    if (slots.length < MAX_SLOTS || last === undefined) return { slots, upcoming };
    // Too many slots to walk through: start again nearer to now, by the density just seen.
    const span = last - from;
    const nearer = now - span * 0.75;
    if (nearer <= from || pass === MAX_PASSES) return { slots, upcoming: [...take(timesAfter(timing, last), 1)][0] };
    from = timing.everyMs === undefined ? nearer : from + Math.floor((nearer - from) / timing.everyMs) * timing.everyMs;
  }
}

function* timesAfter({ cron, everyMs, zone }: ScheduleTiming, after: number): Generator<number, void, void> {
  if (cron !== undefined) yield* cronTimes(cron, zone, after);
  else if (everyMs !== undefined && everyMs > 0) for (let slot = after + everyMs; ; slot += everyMs) yield slot;
}

/** The start of a slot: later by its share of the jitter, and always before the next slot can start. */
function startOf(slot: number, { timing, share }: DueQuestion): number {
  if (timing.jitterMs <= 0) return slot;
  const [following] = take(timesAfter(timing, slot), 1);
  const room = following === undefined ? timing.jitterMs : Math.min(timing.jitterMs, following - slot - 1);
  return slot + Math.floor(share(slot) * Math.max(0, room));
}

function* take<Item>(items: Iterable<Item>, count: number): Generator<Item, void, void> {
  if (count <= 0) return;
  let taken = 0;
  for (const item of items) {
    yield item;
    if (++taken >= count) return;
  }
}
