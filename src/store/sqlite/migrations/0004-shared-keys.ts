/** Specialists that share a key: they all reserve calls for the obligations of each. Never changed once released. */

export const SHARED_KEYS = `
CREATE INDEX specialist_key ON specialist (key_id) WHERE key_id IS NOT NULL;
`;
