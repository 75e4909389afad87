/** Who froze an account or let it spend again, and why, among the entries of the books. Never changed once released. */

export const FROZEN_ACCOUNTS = `
ALTER TABLE spend_entry ADD COLUMN said_by TEXT;  -- kinds freeze and thaw, which move no money
ALTER TABLE spend_entry ADD COLUMN reason TEXT;
`;
