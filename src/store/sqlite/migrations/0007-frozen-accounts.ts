/** Entries for frozen accounts and their release: by whom, and why. Never changed once released. */

export const FROZEN_ACCOUNTS = `
ALTER TABLE spend_entry ADD COLUMN said_by TEXT;  -- kinds freeze and thaw, which move no money
ALTER TABLE spend_entry ADD COLUMN reason TEXT;
`;
