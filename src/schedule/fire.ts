/** Turns due schedules into inbox events, each exactly once, also over a restart. */
import type { NewEvent } from "../contract/event.ts";
import { eventId } from "../contract/event-id.ts";
import { readScheduleState, storeScheduleState, type ScheduleState } from "./schedule-state.ts";
import { dueRuns, slotShare } from "./missed-runs.ts";
import type { Schedule } from "../specialist/specialist.ts";
import type { Member } from "../gateway/member.ts";
import type { Announcer } from "../core/events.ts";
import type { Clock } from "../core/clock.ts";
import type { WorkKind } from "../store/sources.ts";
import type { Store } from "../store/store.ts";
import { isSchedule, makeDormant } from "../polling/dormant.ts";
import { SCHEDULE_PREFIX } from "../contract/event-kinds.ts";

/** Dependencies of schedules. */
export interface ScheduleDependencies {
  readonly clock: Clock;
  readonly announcer: Announcer;
  readonly store: Store;
  /** The IANA time zone of the Guardian. */
  readonly zone: string;
  /** Reports that a kind of work of a specialist has something to do. */
  readonly wake: (member: Member, part: WorkKind) => void;
}

/** Puts the due runs into the inbox and stores the time of the next one. */
export async function startSchedules(parts: ScheduleDependencies, member: Member): Promise<boolean> {
  const { specialist, retired } = member;
  const schedules = retired ? [] : specialist.schedules;
  const stored = (await parts.store.sources(specialist.handle)).filter(isSchedule);
  const dropped = stored.filter((row) => !schedules.some((one) => sourceName(one) === row.name));
  await makeDormant(parts, member, dropped, (cursor) => storeScheduleState({ ...readScheduleState(cursor), dormant: true }));
  const known = new Map(stored.map(({ name, cursor, dueAt }) => [name, { state: readScheduleState(cursor), dueAt }]));
  for (const schedule of schedules) {
    const one = known.get(sourceName(schedule));
    if (one === undefined || isDue(one, parts.clock.now()) || isAnother(parts, schedule, one.state))
      await startOne(parts, member, schedule, one?.state);
  }
  return false;
}

function isDue({ state, dueAt }: { readonly state: ScheduleState; readonly dueAt: number | null }, now: number): boolean {
  return dueAt === null ? state.dormant : dueAt <= now;
}

/** Detects a schedule of the same name whose timing has changed since the row was written. */
function isAnother(parts: ScheduleDependencies, schedule: Schedule, { timing }: ScheduleState): boolean {
  return timing !== undefined && timing !== timingOf(parts, schedule);
}

function timingOf({ zone }: ScheduleDependencies, schedule: Schedule): string {
  return JSON.stringify([schedule.cron, schedule.everyMs, schedule.zone ?? zone, schedule.jitterMs, schedule.quiet]);
}

async function startOne(parts: ScheduleDependencies, member: Member, schedule: Schedule, known: ScheduleState | undefined): Promise<void> {
  const { store, clock, announcer } = parts;
  const { handle } = member.specialist;
  const source = sourceName(schedule);
  const now = clock.now();
  // The new timing applies from now on: nobody asked for its earlier times.
  const from = known === undefined || isAnother(parts, schedule, known) ? now : (known.doneUntil ?? now);
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
  const cursor = storeScheduleState({
    doneUntil: due.cursor,
    timing: timingOf(parts, schedule),
    skipped: (known?.skipped ?? 0) + due.skipped,
    lastStarted: events.length > 0 ? now : known?.lastStarted,
    dormant: false,
  });
  await store.putEvents({ events, cursors: [{ specialist: handle, source, cursor, dueAt: due.next ?? null }] }, now);
  if (due.skipped > 0) announcer.emit("poll", { at: now, handle, source, fresh: events.length, skipped: due.skipped });
  if (events.length > 0) parts.wake(member, "events");
}

function sourceName({ name }: Schedule): string {
  return `${SCHEDULE_PREFIX}${name}`;
}
