/** Index of actions without a text, by their object. Never changed once released. */

export const WORDLESS_ACTIONS = `
CREATE INDEX intent_wordless ON intent (conflict_key) WHERE text_hash IS NULL;
`;
