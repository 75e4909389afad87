/** The index of identities, led by the event's id. Never changed once released. */

export const EVENT_INDEX = `
DROP INDEX event_identity;
-- Networks mostly number their objects upwards, so new events of all specialists share a page; led by the specialist, each had its own.
CREATE UNIQUE INDEX event_identity ON event (id, specialist);
`;
