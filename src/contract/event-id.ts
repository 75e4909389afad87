/** Builds one id for one event, the same from polls and webhooks. */
import { asEventId, type EventId } from "../core/ids.ts";

/** Longer object ids do not come from a network we can serve. */
const MAX_OBJECT_ID = 512;

/**
 * `kind:object` or `kind:object#occurrence`. The occurrence distinguishes repeated events on one object (a job assigned a second time): the
 * object's own version or time, or our count of transitions.
 */
export function eventId(kind: string, objectId: string, occurrence?: string | number): EventId {
  const object = objectId.slice(0, MAX_OBJECT_ID);
  return asEventId(occurrence === undefined ? `${kind}:${object}` : `${kind}:${object}#${occurrence}`);
}
