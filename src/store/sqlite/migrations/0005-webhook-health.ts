/** Reliability of webhooks, kept over restarts. Never changed once released. */

export const WEBHOOK_HEALTH = `
CREATE TABLE webhook_health (
  specialist TEXT PRIMARY KEY,
  told INTEGER NOT NULL,
  missed INTEGER NOT NULL,
  missed_in_row INTEGER NOT NULL,
  last_told_at INTEGER,
  kinds TEXT NOT NULL,                 -- JSON: what deliveries have told of before
  updated_at INTEGER NOT NULL
) WITHOUT ROWID;
`;
