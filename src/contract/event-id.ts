/** One identity for one happening, whether a poll or a webhook reports it. */
import { asEventId, type EventId } from "../core/ids.ts";

/** Identities longer than this are no ids of a network we can serve. */
const MAX_OBJECT_ID = 512;

/**
 * `kind:object` or `kind:object#occurrence`. The occurrence tells apart what can happen twice to one object
 * (a job assigned a second time): the object's own version or time, or our count of transitions.
 */
export function eventId(kind: string, objectId: string, occurrence?: string | number): EventId {
  const object = objectId.slice(0, MAX_OBJECT_ID);
  return asEventId(occurrence === undefined ? `${kind}:${object}` : `${kind}:${object}#${occurrence}`);
}
