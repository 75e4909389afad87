/** From a definition's schedules to the inbox: each due time becomes one event, none twice and none lost over a restart. */
import type { NewEvent } from "../contract/event.ts";
import { eventId } from "../contract/event-id.ts";
import { numberIn } from "../core/json.ts";
import { dueRuns, slotShare } from "./missed-runs.ts";
import { type SourceRow } from "../store/sources.ts";
import type { Schedule } from "../specialist/specialist.ts";
import type { Member } from "../gateway/member.ts";
import type { Announcer } from "../core/events.ts";
import type { Clock } from "../core/clock.ts";
import type { WorkKind } from "../store/sources.ts";
import type { Store } from "../store/store.ts";
import { isDormant, isSchedule, makeDormant } from "../polling/dormant.ts";
import { SCHEDULE_PREFIX } from "../contract/event-kinds.ts";

/** The parts of the runtime that schedules use. */
export interface ScheduleDependencies {
  readonly clock: Clock;
  readonly announcer: Announcer;
  readonly store: Store;
  /** The IANA time zone of the Guardian. */
  readonly zone: string;
  /** Reports that a kind of work of a specialist has something to do. */
  readonly wake: (member: Member, part: WorkKind) => void;
}

/** Puts the runs that are due into the inbox and stores when the next one is. */
export async function startSchedules(parts: ScheduleDependencies, member: Member): Promise<boolean> {
  const { specialist, retired } = member;
  const schedules = retired ? [] : specialist.schedules;
  const stored = (await parts.store.sources(specialist.handle)).filter(isSchedule);
  await makeDormant(
    parts,
    member,
    stored.filter((row) => !schedules.some((one) => sourceName(one) === row.name)),
  );
  const rows = new Map(stored.map((row) => [row.name, row]));
  for (const schedule of schedules) {
    const row = rows.get(sourceName(schedule));
    if (row === undefined || isDue(row, parts.clock.now()) || isAnother(parts, schedule, row)) await startOne(parts, member, schedule, row);
  }
  return false;
}

function isDue({ dueAt, cursor }: SourceRow, now: number): boolean {
  return dueAt === null ? isDormant(cursor) : dueAt <= now;
}

/** Of the same name, and due at other times than when the row was written. */
function isAnother(parts: ScheduleDependencies, schedule: Schedule, { cursor }: SourceRow): boolean {
  return typeof cursor["timing"] === "string" && cursor["timing"] !== timingOf(parts, schedule);
}

function timingOf({ zone }: ScheduleDependencies, schedule: Schedule): string {
  return JSON.stringify([schedule.cron, schedule.everyMs, schedule.zone ?? zone, schedule.jitterMs, schedule.quiet]);
}

async function startOne(parts: ScheduleDependencies, member: Member, schedule: Schedule, row: SourceRow | undefined): Promise<void> {
  const { store, clock, announcer } = parts;
  const { handle } = member.specialist;
  const source = sourceName(schedule);
  const now = clock.now();
  const stored = row?.cursor;
  // What other times would have been due was never asked for.
  const from = row === undefined || isAnother(parts, schedule, row) ? now : (numberIn(stored, "cursor") ?? now);
  const due = dueRuns({
    timing: { ...schedule, zone: schedule.zone ?? parts.zone },
    cursor: from,
    now,
    share: slotShare(`${handle}/${source}`),
  });
  const events = due.runs.map((slot): NewEvent => ({
    specialist: handle,
    id: eventId(source, `${slot}`),
    kind: source,
    payload: { scheduledAt: slot },
    via: "runtime",
    hops: 0,
  }));
  const skipped = (numberIn(stored, "skipped") ?? 0) + due.skipped;
  const lastStarted = events.length > 0 ? now : numberIn(stored, "lastStarted");
  const cursor = { cursor: due.cursor, timing: timingOf(parts, schedule), skipped, ...(lastStarted === undefined ? {} : { lastStarted }) };
  await store.putEvents({ events, cursors: [{ specialist: handle, source, cursor, dueAt: due.next ?? null }] }, now);
  if (due.skipped > 0) announcer.emit("poll", { at: now, handle, source, fresh: events.length, skipped: due.skipped });
  if (events.length > 0) parts.wake(member, "events");
}

function sourceName({ name }: Schedule): string {
  return `${SCHEDULE_PREFIX}${name}`;
}
