/** The clock of quota windows as its lag behind the clock that dates rows. Never changed once released. */

export const QUOTA_CLOCK = `
-- By how much the windows' time is behind the time of rows (negative: ahead of it).
ALTER TABLE ledger_time ADD COLUMN lag_ms INTEGER NOT NULL DEFAULT 0;
-- The part of the lag that the network's time may still confirm.
ALTER TABLE ledger_time ADD COLUMN unconfirmed_ms INTEGER NOT NULL DEFAULT 0;
-- By the windows' time from here on: unsure_from, where that part begins. NULL if there is none.
-- Most by which the network's time is ahead of the windows' time; NULL before its first Date.
ALTER TABLE ledger_time ADD COLUMN network_ms INTEGER;
UPDATE ledger_time SET lag_ms = max(0, seen_at - sure_at), unconfirmed_ms = max(0, seen_at - sure_at) WHERE unsure_from IS NOT NULL;
ALTER TABLE ledger_time DROP COLUMN stood;
ALTER TABLE ledger_time DROP COLUMN sure_at;
ALTER TABLE ledger_time DROP COLUMN ahead_ms;
DELETE FROM meta WHERE name = 'ledger_behind';
`;
