/** Who shares a key: what one of them owes, all of them set calls aside for. Never changed once released. */

export const SHARED_KEYS = `
CREATE INDEX specialist_key ON specialist (key_id) WHERE key_id IS NOT NULL;
`;
