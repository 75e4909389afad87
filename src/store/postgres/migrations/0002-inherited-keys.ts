/** The keys that a key has replaced, as in the working copy. Never changed once released. */

export const INHERITED_KEYS = "ALTER TABLE quota_key ADD COLUMN inherits text";
