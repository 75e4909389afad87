/** The first tables: specialists, sources, watches, inbox, steps, outbox, attempts. Never changed once released. */

export const START = `
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE specialist (
  handle TEXT PRIMARY KEY,
  account_id TEXT,                     -- its id on the network, once known
  key_id TEXT,                         -- the key it uses now, by its fingerprint
  state TEXT NOT NULL DEFAULT '{}',    -- the behaviour's own value
  parked_code TEXT,                    -- why nothing is sent for it, e.g. key_rejected
  parked_message TEXT,
  parked_at INTEGER,
  parked_until INTEGER,
  updated_at INTEGER NOT NULL
) WITHOUT ROWID;

-- What is looked at regularly: feed, jobs, schedules. One row each, with what was seen and when it is due.
CREATE TABLE source (
  specialist TEXT NOT NULL,
  name TEXT NOT NULL,
  cursor TEXT NOT NULL DEFAULT '{}',
  due_at INTEGER,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (specialist, name)
) WITHOUT ROWID;
CREATE INDEX source_due ON source (specialist, due_at) WHERE due_at IS NOT NULL;

-- Objects followed until they are settled: jobs applied for, threads taken part in.
CREATE TABLE watch (
  specialist TEXT NOT NULL,
  kind TEXT NOT NULL,                  -- job | thread
  object TEXT NOT NULL,
  state TEXT NOT NULL,
  data TEXT NOT NULL DEFAULT '{}',
  due_at INTEGER,                      -- null: nothing more to look for
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (specialist, kind, object)
) WITHOUT ROWID;
CREATE INDEX watch_due ON watch (specialist, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX watch_owed ON watch (specialist) WHERE kind = 'job' AND due_at IS NOT NULL;

CREATE TABLE event (
  seq INTEGER PRIMARY KEY,
  specialist TEXT NOT NULL,
  id TEXT NOT NULL,
  kind TEXT NOT NULL,
  thread TEXT,
  payload TEXT NOT NULL,
  via TEXT NOT NULL,                   -- poll | webhook | runtime
  hops INTEGER NOT NULL DEFAULT 0,
  state TEXT NOT NULL DEFAULT 'ready', -- ready | running | done | parked
  attempts INTEGER NOT NULL DEFAULT 0, -- handlings that failed
  crashes INTEGER NOT NULL DEFAULT 0,  -- handlings that never came back
  not_before INTEGER NOT NULL DEFAULT 0,
  began_at INTEGER,
  created_at INTEGER NOT NULL,
  done_at INTEGER,
  note TEXT
);
CREATE UNIQUE INDEX event_identity ON event (specialist, id);
CREATE INDEX event_due ON event (specialist, not_before, seq) WHERE state = 'ready';
CREATE INDEX event_thread ON event (specialist, thread, seq) WHERE state IN ('ready', 'running') AND thread IS NOT NULL;
CREATE INDEX event_running ON event (specialist) WHERE state = 'running';
CREATE INDEX event_parked ON event (specialist, seq) WHERE state = 'parked';
CREATE INDEX event_done ON event (done_at) WHERE state = 'done';

-- What a handling has computed or read, so that a re-run neither pays nor asks twice.
CREATE TABLE step (
  event_seq INTEGER NOT NULL,
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (event_seq, name)
) WITHOUT ROWID;

CREATE TABLE intent (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  specialist TEXT NOT NULL,
  event_seq INTEGER NOT NULL,
  ordinal INTEGER NOT NULL,            -- written order within the run
  operation TEXT NOT NULL,
  target TEXT,
  target_intent TEXT,                  -- the intent whose object is the target
  input TEXT NOT NULL,
  effect TEXT NOT NULL,
  lane TEXT NOT NULL,
  thread TEXT,
  author TEXT,                         -- whom it answers
  text_hash TEXT,
  conflict_key TEXT NOT NULL,
  hops INTEGER NOT NULL DEFAULT 0,
  label TEXT,
  data TEXT,
  state TEXT NOT NULL,                 -- proposed | ready | sending | in_doubt | confirmed | refused | pending | cancelled | parked
  attempt INTEGER NOT NULL DEFAULT 0,
  ever_unknown INTEGER NOT NULL DEFAULT 0,
  next_at INTEGER NOT NULL DEFAULT 0,
  checks INTEGER NOT NULL DEFAULT 0,   -- complete read-backs that found nothing
  sent_at INTEGER,
  expires_at INTEGER,
  created_ref TEXT,                    -- the id the network gave to what came to be
  code TEXT,
  message TEXT,
  created_at INTEGER NOT NULL,
  settled_at INTEGER
);
CREATE INDEX intent_ready ON intent (specialist, next_at, lane) WHERE state = 'ready';
CREATE INDEX intent_doubt ON intent (specialist, next_at) WHERE state = 'in_doubt';
CREATE INDEX intent_waiting ON intent (specialist, state, seq) WHERE state IN ('proposed', 'pending', 'parked');
CREATE INDEX intent_conflict ON intent (conflict_key) WHERE state IN ('sending', 'in_doubt');
CREATE INDEX intent_open ON intent (event_seq, ordinal) WHERE state IN ('ready', 'sending');
CREATE INDEX intent_depends ON intent (target_intent) WHERE target_intent IS NOT NULL AND state IN ('proposed', 'ready');
CREATE INDEX intent_claimed ON intent (specialist, created_ref) WHERE created_ref IS NOT NULL;
CREATE INDEX intent_thread ON intent (specialist, thread, created_at) WHERE thread IS NOT NULL;
CREATE INDEX intent_said ON intent (specialist, created_at) WHERE text_hash IS NOT NULL;
CREATE INDEX intent_text ON intent (specialist, text_hash, created_at) WHERE text_hash IS NOT NULL;
CREATE INDEX intent_author ON intent (specialist, author, created_at) WHERE author IS NOT NULL;
CREATE INDEX intent_settled ON intent (settled_at) WHERE settled_at IS NOT NULL;
CREATE INDEX intent_expiry ON intent (specialist, expires_at) WHERE expires_at IS NOT NULL AND state IN ('proposed', 'ready');

-- One row per HTTP request, committed before its socket opens.
CREATE TABLE attempt (
  seq INTEGER PRIMARY KEY,
  specialist TEXT NOT NULL,
  key_id TEXT NOT NULL,
  intent_seq INTEGER,                  -- null for reads
  operation TEXT NOT NULL,
  target TEXT,
  lane TEXT NOT NULL,
  weight INTEGER NOT NULL DEFAULT 1,    -- requests of quota
  started_at INTEGER NOT NULL,
  deadline_at INTEGER NOT NULL,
  ended_at INTEGER,
  outcome TEXT,
  status INTEGER,
  note TEXT
);
CREATE INDEX attempt_open ON attempt (key_id) WHERE ended_at IS NULL;
CREATE INDEX attempt_operation ON attempt (key_id, operation, started_at);
CREATE INDEX attempt_ended ON attempt (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX attempt_intent ON attempt (intent_seq) WHERE intent_seq IS NOT NULL;

-- Whether reading back has been seen to find a confirmed effect of ours: what earns the class "reconciled".
CREATE TABLE proof (
  key_id TEXT NOT NULL,
  operation TEXT NOT NULL,
  found INTEGER NOT NULL DEFAULT 0,
  missed INTEGER NOT NULL DEFAULT 0,
  proven INTEGER NOT NULL DEFAULT 0,
  lateness_ms INTEGER NOT NULL DEFAULT 0,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (key_id, operation)
) WITHOUT ROWID;
`;
