/** Index of events whose last handling failed, by the time of the failure. Never changed once released. */

export const FAILURES = `
CREATE INDEX event_failed ON event (CAST(substr(note, 11) AS INTEGER)) WHERE substr(note, 1, 10) = '{"failed":';
`;
