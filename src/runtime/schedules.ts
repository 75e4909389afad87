/** From a definition's schedules to the inbox: each due time becomes one event, none twice and none lost over a restart. */
import type { NewEvent } from "../contract/happening.ts";
import { eventId } from "../contract/identity.ts";
import type { JsonObject } from "../core/json.ts";
import { seededRandom } from "../core/random.ts";
import { dueRuns } from "../schedule/missed.ts";
import { SCHEDULE_PREFIX } from "../schedule/port.ts";
import type { Schedule } from "../specialist/specialist.ts";
import type { Member } from "./member.ts";
import type { Parts } from "./parts.ts";

/** Puts the runs that are due into the inbox and stores when the next one is. */
export async function startSchedules(parts: Parts, member: Member): Promise<boolean> {
  const { specialist } = member;
  if (specialist.schedules.length === 0 || member.retired) return false;
  const rows = new Map((await parts.store.sources(specialist.handle)).map((row) => [row.name, row]));
  for (const schedule of specialist.schedules) {
    const row = rows.get(sourceName(schedule));
    if (row === undefined || (row.dueAt !== null && row.dueAt <= parts.clock.now())) await startOne(parts, member, schedule, row?.cursor);
  }
  return false;
}

async function startOne(parts: Parts, member: Member, schedule: Schedule, stored: JsonObject | undefined): Promise<void> {
  const { store, clock, announcer } = parts;
  const { handle } = member.specialist;
  const source = sourceName(schedule);
  const now = clock.now();
  const due = dueRuns({
    timing: { ...schedule, zone: schedule.zone ?? parts.zone },
    cursor: numberIn(stored, "cursor") ?? now,
    now,
    share: (slot) => seededRandom(`${handle}/${source}/${slot}`).next(),
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
  const cursor = { cursor: due.cursor, skipped, ...(lastStarted === undefined ? {} : { lastStarted }) };
  await store.putEvents({ events, cursors: [{ specialist: handle, source, cursor, dueAt: due.next ?? null }] }, now);
  if (due.skipped > 0) announcer.emit("poll", { at: now, handle, source, fresh: events.length, skipped: due.skipped });
  if (events.length > 0) parts.wake(member, "events");
}

function sourceName({ name }: Schedule): string {
  return `${SCHEDULE_PREFIX}${name}`;
}

function numberIn(cursor: JsonObject | undefined, name: string): number | undefined {
  const value = cursor?.[name];
  return typeof value === "number" ? value : undefined;
}
