/** Which runs of a schedule are due, which were missed, and when to look again. Pure, so that a restart cannot change it. */
import { seededRandom } from "../core/random.ts";
import { DAY, MINUTE } from "../core/units.ts";
import { cronTimes } from "./cron.ts";
import { isQuiet, quietEnd, type QuietSpan } from "./quiet-hours.ts";

/** When a schedule is due: one of `cron` and `everyMs`. Its times are its *slots*; the name of a run is its slot. */
export interface ScheduleTiming {
  readonly cron: string | undefined;
  readonly everyMs: number | undefined;
  /** IANA. */
  readonly zone: string;
  /** Each slot starts up to this much later, by `share`, but always before the next slot. */
  readonly jitterMs: number;
  readonly quiet: QuietSpan | undefined;
  readonly onMissed: "skip" | "once" | { readonly all: number };
}

export interface DueQuestion {
  readonly timing: ScheduleTiming;
  /** The slot dealt with last, or the time the schedule was first seen. Stored in between. */
  readonly cursor: number;
  readonly now: number;
  /** The part of the jitter a slot gets, in [0, 1): the same answer for the same slot, also after a restart. */
  readonly share: (slot: number) => number;
}

export interface DueAnswer {
  /** Slots to run now, oldest first. Their names make a doubled answer harmless. */
  readonly runs: readonly number[];
  /** Slots that were due and are not run: by `onMissed`, or because a later one stands for them. Counted up to 500. */
  readonly skipped: number;
  /** To be stored together with the runs. */
  readonly cursor: number;
  /** When to ask again, or undefined when the schedule never comes again. */
  readonly next: number | undefined;
}

/** A run that starts this late is on time; later ones were missed. */
export const GRACE_MS = MINUTE;
/** A stored cursor further ahead than this comes from a clock that was wrong, and would silence the schedule. */
export const MAX_CLOCK_BACK_MS = DAY;
/** Slots looked at per question: 500 times of a cron expression take about 25 ms. */
const MAX_SLOTS = 500;
const MAX_PASSES = 10;

/** By the names of the specialist and its schedule, so that each has its own share and keeps it. */
export function slotShare(name: string): (slot: number) => number {
  return (slot) => seededRandom(`${name}/${slot}`).next();
}

/** What to run now. Throws `Misconfigured` (`cron_invalid`). */
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

/** A start that falls into quiet hours is looked at when they end: as a missed one. */
function afterQuiet({ quiet, zone }: ScheduleTiming, at: number): number {
  return quiet !== undefined && isQuiet(quiet, zone, at) ? quietEnd(quiet, zone, at) : at;
}

/** Of the slots that are due, those to run. `once` and `skip` run the latest only: it stands for the others. */
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

/** Slots after the cursor whose start has come (the last 500 of them), and the first one whose start has not. */
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
    // Too many to walk through: begin again nearer to now, by the density just seen.
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

/** When a slot starts: later by its share of the jitter, and always before the next slot may. */
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
