/** Webhook deliveries and our registrations on networks. Never changed once released. */

export const WEBHOOKS = `
CREATE TABLE delivery (
  seq INTEGER PRIMARY KEY,
  specialist TEXT NOT NULL,
  id TEXT NOT NULL,                    -- the signed id, or one derived from the signed bytes
  kind TEXT,                           -- the network's word
  scheme TEXT NOT NULL,
  body BLOB,                           -- as it came; dropped when done
  state TEXT NOT NULL DEFAULT 'ready', -- ready | done | unhandled | parked
  attempts INTEGER NOT NULL DEFAULT 0,
  due_at INTEGER NOT NULL DEFAULT 0,   -- 0: at once, whatever the clock says
  received_at INTEGER NOT NULL,
  done_at INTEGER,
  note TEXT
);
CREATE UNIQUE INDEX delivery_identity ON delivery (specialist, id);
CREATE INDEX delivery_due ON delivery (specialist, due_at, seq) WHERE state = 'ready';
CREATE INDEX delivery_done ON delivery (done_at) WHERE done_at IS NOT NULL;

-- How many came of each kind, kept beside them: counting the rows would slow down with every delivery.
CREATE TABLE delivery_count (
  specialist TEXT NOT NULL,
  kind TEXT NOT NULL,
  state TEXT NOT NULL,
  n INTEGER NOT NULL,
  PRIMARY KEY (specialist, kind, state)
) WITHOUT ROWID;

CREATE TABLE registration (
  specialist TEXT NOT NULL,
  webhook_id TEXT NOT NULL,
  url TEXT NOT NULL,
  foreign_secret INTEGER NOT NULL DEFAULT 0,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (specialist, webhook_id)
) WITHOUT ROWID;
`;
