/** Up to when the ledger's time is known to be right, and since when it is not. Never changed once released. */

export const SURE_TIME = `
-- The highest time seen by a process that had heard the network's.
ALTER TABLE ledger_time ADD COLUMN sure_at INTEGER NOT NULL DEFAULT 0;
-- By how much the ledger was ahead of the network then, at least.
ALTER TABLE ledger_time ADD COLUMN ahead_ms INTEGER NOT NULL DEFAULT 0;
-- When the first process after that began, while none has heard the network's time since.
ALTER TABLE ledger_time ADD COLUMN unsure_from INTEGER;
UPDATE ledger_time SET sure_at = seen_at;
`;
