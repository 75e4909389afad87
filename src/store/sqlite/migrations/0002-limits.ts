/** Quota, money, approvals and stops. Never changed once released. */

export const LIMITS = `
-- The highest time the ledger has seen: after a restart with the clock set back, time goes on from here.
CREATE TABLE ledger_time (one INTEGER PRIMARY KEY CHECK (one = 1), seen_at INTEGER NOT NULL);

CREATE TABLE quota_key (
  key_id TEXT PRIMARY KEY,
  per_hour INTEGER NOT NULL,
  per_day INTEGER NOT NULL,
  floors TEXT NOT NULL,                -- per cent by lane, JSON
  parked_at INTEGER NOT NULL DEFAULT 0,
  parked_until INTEGER NOT NULL DEFAULT 0,
  park_reason TEXT NOT NULL DEFAULT '',
  strikes INTEGER NOT NULL DEFAULT 0,
  successor TEXT                       -- the key that replaced it, and has its charges
) WITHOUT ROWID;

-- Answered requests by cell: ten seconds for the hour (span 0), a minute for the day (span 1).
-- Requests in flight are the open rows of attempt.
CREATE TABLE quota_cell (
  key_id TEXT NOT NULL,
  span INTEGER NOT NULL,
  cell INTEGER NOT NULL,
  slot INTEGER NOT NULL,               -- the lane's index; the last one counts foreign calls
  used INTEGER NOT NULL,
  PRIMARY KEY (key_id, span, cell, slot)
) WITHOUT ROWID;

-- What is held and spent per window; money is in whole millionths.
CREATE TABLE spend_row (
  scope TEXT NOT NULL,                 -- specialist:<handle> | guardian
  currency TEXT NOT NULL,
  span TEXT NOT NULL,                  -- hour | day | month | total | rolling-*
  start INTEGER NOT NULL,
  until INTEGER NOT NULL,              -- takes money before this
  ends INTEGER NOT NULL,               -- counts before this
  held INTEGER NOT NULL,
  posted INTEGER NOT NULL,
  PRIMARY KEY (scope, currency, span, start)
) WITHOUT ROWID;

CREATE TABLE spend_frozen (
  scope TEXT NOT NULL,
  currency TEXT NOT NULL,
  since INTEGER NOT NULL,
  reason TEXT NOT NULL,
  PRIMARY KEY (scope, currency)
) WITHOUT ROWID;

CREATE TABLE hold (
  id TEXT PRIMARY KEY,                 -- an intent, or a model call
  specialist TEXT NOT NULL,
  currency TEXT NOT NULL,
  amount INTEGER NOT NULL,
  starts TEXT NOT NULL,                -- JSON: per scope, the start of the row of each window it is held in
  state TEXT NOT NULL,                 -- open | posted | released | expired
  posted INTEGER NOT NULL DEFAULT 0,
  held_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  settled_at INTEGER
) WITHOUT ROWID;
CREATE INDEX hold_open ON hold (expires_at) WHERE state = 'open';
CREATE INDEX hold_settled ON hold (settled_at) WHERE settled_at IS NOT NULL;

-- Append-only: per scope and currency the sums of held and posted are the balances.
CREATE TABLE spend_entry (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  scope TEXT NOT NULL,
  currency TEXT NOT NULL,
  kind TEXT NOT NULL,                  -- hold | post | release | expire | correct | carried
  hold_id TEXT NOT NULL,
  held INTEGER NOT NULL,
  posted INTEGER NOT NULL,
  at INTEGER NOT NULL
);
CREATE INDEX spend_entry_scope ON spend_entry (scope, currency, seq);
CREATE INDEX spend_entry_at ON spend_entry (at);

CREATE TABLE approval (
  intent TEXT PRIMARY KEY,
  specialist TEXT NOT NULL,
  payload_hash TEXT NOT NULL,
  currency TEXT,
  amount INTEGER,
  state TEXT NOT NULL,                 -- asked | approved | rejected
  asked_at INTEGER NOT NULL,
  decided_at INTEGER,
  expires_at INTEGER NOT NULL,
  reason TEXT
) WITHOUT ROWID;
CREATE INDEX approval_open ON approval (specialist, asked_at) WHERE state = 'asked';
CREATE INDEX approval_decided ON approval (decided_at) WHERE decided_at IS NOT NULL;

CREATE TABLE stop (
  kind TEXT NOT NULL,                  -- halt | pause
  scope TEXT NOT NULL,                 -- a handle, or * for all
  since INTEGER NOT NULL,
  reason TEXT NOT NULL,
  PRIMARY KEY (kind, scope)
) WITHOUT ROWID;
`;
