/** Makes lists and schedules dormant that no definition uses: never due, and stored, so that a restored one continues at its position. */
import type { JsonObject } from "../core/json.ts";
import { type SourceRow } from "../store/sources.ts";
import type { Member } from "../gateway/member.ts";
import type { Clock } from "../core/clock.ts";
import type { Store } from "../store/store.ts";
import { SCHEDULE_PREFIX } from "../contract/event-kinds.ts";

/** Removes the due times of these rows. */
export async function makeDormant(
  parts: { readonly store: Store; readonly clock: Clock },
  member: Member,
  rows: readonly SourceRow[],
  asDormant: (cursor: JsonObject) => JsonObject,
): Promise<void> {
  const cursors = rows
    .filter(({ dueAt }) => dueAt !== null)
    .map(({ name, cursor }) => ({ specialist: member.specialist.handle, source: name, cursor: asDormant(cursor), dueAt: null }));
  if (cursors.length > 0) await parts.store.putEvents({ events: [], cursors }, parts.clock.now());
}

export function isSchedule({ name }: SourceRow): boolean {
  return name.startsWith(SCHEDULE_PREFIX);
}
