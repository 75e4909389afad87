/** The keys that a key has replaced. Never changed once released. */

export const INHERITED_KEYS = `
-- Keys whose usage counts for this one too, each up to a time of the quota's clock: JSON. \`successor\` is not read any longer.
ALTER TABLE quota_key ADD COLUMN inherits TEXT;
`;
