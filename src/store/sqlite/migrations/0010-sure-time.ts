/** The confirmed part of the ledger's time, and the start of the doubt. Never changed once released. */

export const SURE_TIME = `
-- Goes on as seen_at does while a process runs, and not while none does until one has heard the network's time.
ALTER TABLE ledger_time ADD COLUMN sure_at INTEGER NOT NULL DEFAULT 0;
-- By how much the ledger was ahead of the network then, at least.
ALTER TABLE ledger_time ADD COLUMN ahead_ms INTEGER NOT NULL DEFAULT 0;
-- When the first process after that began, while none has heard the network's time since.
ALTER TABLE ledger_time ADD COLUMN unsure_from INTEGER;
UPDATE ledger_time SET sure_at = seen_at;
`;
