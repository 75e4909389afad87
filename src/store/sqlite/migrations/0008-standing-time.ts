/** Marks requests counted while the ledger's time stood still. Never changed once released. */

export const STANDING_TIME = `
ALTER TABLE ledger_time ADD COLUMN stood INTEGER NOT NULL DEFAULT 1;  -- a store from before does not say
`;
