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
INSERT INTO specialist (handle, account_id, key_id, state, parked_code, parked_message, parked_at, parked_until, updated_at) VALUES ('scout', NULL, 'k1', '{}', NULL, NULL, NULL, NULL, 1795305600000);
CREATE TABLE source (
  specialist TEXT NOT NULL,
  name TEXT NOT NULL,
  cursor TEXT NOT NULL DEFAULT '{}',
  due_at INTEGER,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (specialist, name)
) WITHOUT ROWID;
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
INSERT INTO event (seq, specialist, id, kind, thread, payload, via, hops, state, attempts, crashes, not_before, began_at, created_at, done_at, note) VALUES (1, 'scout', 'post.created:done', 'post.created', NULL, '{"id":"done"}', 'poll', 0, 'done', 0, 0, 0, 1795305600000, 1795305600000, 1795305600000, NULL);
INSERT INTO event (seq, specialist, id, kind, thread, payload, via, hops, state, attempts, crashes, not_before, began_at, created_at, done_at, note) VALUES (2, 'scout', 'post.created:other', 'post.created', NULL, '{"id":"other"}', 'poll', 0, 'done', 0, 0, 0, 1795305600000, 1795305600000, 1795305600000, NULL);
INSERT INTO event (seq, specialist, id, kind, thread, payload, via, hops, state, attempts, crashes, not_before, began_at, created_at, done_at, note) VALUES (3, 'scout', 'post.created:third', 'post.created', NULL, '{"id":"third"}', 'poll', 0, 'done', 0, 0, 0, 1795305600000, 1795305600000, 1795305600000, NULL);
INSERT INTO event (seq, specialist, id, kind, thread, payload, via, hops, state, attempts, crashes, not_before, began_at, created_at, done_at, note) VALUES (4, 'scout', 'post.created:mended', 'post.created', NULL, '{"id":"mended"}', 'poll', 0, 'done', 1, 0, 0, 1795305600000, 1795305600000, 1795305601000, '{"failed":1795305601000,"code":"handler_threw","message":"broke once","pattern":"broke once","tries":1}');
INSERT INTO event (seq, specialist, id, kind, thread, payload, via, hops, state, attempts, crashes, not_before, began_at, created_at, done_at, note) VALUES (5, 'scout', 'post.created:poison', 'post.created', NULL, '{"id":"poison"}', 'poll', 0, 'parked', 0, 1, 0, 1795305600000, 1795305600000, 1795305600000, '{"failed":1795305604000,"code":"handler_threw","message":"cannot read","pattern":"cannot read","tries":4}');
INSERT INTO event (seq, specialist, id, kind, thread, payload, via, hops, state, attempts, crashes, not_before, began_at, created_at, done_at, note) VALUES (6, 'scout', 'post.created:later', 'post.created', NULL, '{"id":"later"}', 'poll', 0, 'ready', 1, 0, 1795309200000, 1795305600000, 1795305600000, NULL, '{"failed":1795305602000,"code":"handler_threw","message":"not yet","pattern":"not yet","tries":2}');
INSERT INTO event (seq, specialist, id, kind, thread, payload, via, hops, state, attempts, crashes, not_before, began_at, created_at, done_at, note) VALUES (7, 'scout', 'post.created:timed', 'post.created', NULL, '{"id":"timed"}', 'poll', 0, 'ready', 1, 0, 1795309200000, 1795305600000, 1795305600000, NULL, '{"failed":1795305601000,"code":"handler_threw","message":"not yet","pattern":"not yet","tries":1,"timed":true}');
INSERT INTO event (seq, specialist, id, kind, thread, payload, via, hops, state, attempts, crashes, not_before, began_at, created_at, done_at, note) VALUES (8, 'scout', 'post.created:running', 'post.created', NULL, '{"id":"running"}', 'poll', 0, 'running', 0, 1, 0, 1795305600000, 1795305600000, NULL, NULL);
INSERT INTO event (seq, specialist, id, kind, thread, payload, via, hops, state, attempts, crashes, not_before, began_at, created_at, done_at, note) VALUES (9, 'scout', 'post.created:waiting', 'post.created', NULL, '{"id":"waiting"}', 'poll', 0, 'ready', 0, 0, 0, NULL, 1795305600000, NULL, NULL);
CREATE TABLE step (
  event_seq INTEGER NOT NULL,
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (event_seq, name)
) WITHOUT ROWID;
INSERT INTO step (event_seq, name, value) VALUES (8, 'fetched', '{"n":1}');
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
INSERT INTO intent (seq, id, specialist, event_seq, ordinal, operation, target, target_intent, input, effect, lane, thread, author, text_hash, conflict_key, hops, label, data, state, attempt, ever_unknown, next_at, checks, sent_at, expires_at, created_ref, code, message, created_at, settled_at) VALUES (1, 'sent', 'scout', 1, 0, 'posts.reply', 'sent', NULL, '{"content":"about sent"}', 'reconciled', 'reply', 't1', NULL, 'sent', 'reply sent', 0, NULL, NULL, 'confirmed', 1, 0, 0, 0, 1795305600000, NULL, 'r1', NULL, NULL, 1795305600000, 1795305600000);
INSERT INTO intent (seq, id, specialist, event_seq, ordinal, operation, target, target_intent, input, effect, lane, thread, author, text_hash, conflict_key, hops, label, data, state, attempt, ever_unknown, next_at, checks, sent_at, expires_at, created_ref, code, message, created_at, settled_at) VALUES (2, 'next', 'scout', 1, 1, 'posts.reply', 'next', NULL, '{"content":"about next"}', 'reconciled', 'reply', 't1', NULL, 'next', 'reply next', 0, NULL, NULL, 'ready', 0, 0, 0, 0, NULL, 1795309200000, NULL, NULL, NULL, 1795305600000, NULL);
INSERT INTO intent (seq, id, specialist, event_seq, ordinal, operation, target, target_intent, input, effect, lane, thread, author, text_hash, conflict_key, hops, label, data, state, attempt, ever_unknown, next_at, checks, sent_at, expires_at, created_ref, code, message, created_at, settled_at) VALUES (3, 'no', 'scout', 2, 0, 'posts.reply', 'no', NULL, '{"content":"about no"}', 'reconciled', 'reply', 't1', NULL, 'no', 'reply no', 0, NULL, NULL, 'refused', 0, 0, 0, 0, NULL, NULL, NULL, 'not_allowed', 'no', 1795305600000, 1795305600000);
INSERT INTO intent (seq, id, specialist, event_seq, ordinal, operation, target, target_intent, input, effect, lane, thread, author, text_hash, conflict_key, hops, label, data, state, attempt, ever_unknown, next_at, checks, sent_at, expires_at, created_ref, code, message, created_at, settled_at) VALUES (4, 'flying', 'scout', 2, 1, 'posts.reply', 'flying', NULL, '{"content":"about flying"}', 'reconciled', 'reply', 't1', NULL, 'flying', 'reply flying', 0, NULL, NULL, 'sending', 1, 0, 0, 0, 1795305600000, NULL, NULL, NULL, NULL, 1795305600000, NULL);
INSERT INTO intent (seq, id, specialist, event_seq, ordinal, operation, target, target_intent, input, effect, lane, thread, author, text_hash, conflict_key, hops, label, data, state, attempt, ever_unknown, next_at, checks, sent_at, expires_at, created_ref, code, message, created_at, settled_at) VALUES (5, 'doubted', 'scout', 3, 0, 'posts.reply', 'doubted', NULL, '{"content":"about doubted"}', 'reconciled', 'reply', 't1', NULL, 'doubted', 'reply doubted', 0, NULL, NULL, 'in_doubt', 0, 1, 1795305601000, 0, NULL, NULL, NULL, 'outcome_unknown', 'lost', 1795305600000, NULL);
INSERT INTO intent (seq, id, specialist, event_seq, ordinal, operation, target, target_intent, input, effect, lane, thread, author, text_hash, conflict_key, hops, label, data, state, attempt, ever_unknown, next_at, checks, sent_at, expires_at, created_ref, code, message, created_at, settled_at) VALUES (6, 'parked', 'scout', 3, 1, 'posts.reply', 'parked', NULL, '{"content":"about parked"}', 'reconciled', 'reply', 't1', NULL, 'parked', 'reply parked', 0, NULL, NULL, 'parked', 0, 0, 0, 0, NULL, NULL, NULL, 'same_words', 'a person has to look', 1795305600000, 1795305600000);
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
INSERT INTO attempt (seq, specialist, key_id, intent_seq, operation, target, lane, weight, started_at, deadline_at, ended_at, outcome, status, note) VALUES (1, 'scout', 'k1', 1, 'posts.reply', NULL, 'reply', 1, 1795305600000, 1795305630000, 1795305600000, 'confirmed', NULL, NULL);
INSERT INTO attempt (seq, specialist, key_id, intent_seq, operation, target, lane, weight, started_at, deadline_at, ended_at, outcome, status, note) VALUES (2, 'scout', 'k1', 4, 'posts.reply', NULL, 'reply', 1, 1795305600000, 1795305630000, NULL, NULL, NULL, NULL);
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
CREATE TABLE ledger_time (one INTEGER PRIMARY KEY CHECK (one = 1), seen_at INTEGER NOT NULL, stood INTEGER NOT NULL DEFAULT 1, sure_at INTEGER NOT NULL DEFAULT 0, ahead_ms INTEGER NOT NULL DEFAULT 0, unsure_from INTEGER);
INSERT INTO ledger_time (one, seen_at, stood, sure_at, ahead_ms, unsure_from) VALUES (1, 1795305600000, 0, 1795305600000, 0, NULL);
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
INSERT INTO quota_key (key_id, per_hour, per_day, floors, parked_at, parked_until, park_reason, strikes, successor) VALUES ('k1', 60, 600, '{"obligation":25,"reply":25,"act":15,"watch":10,"poll":20,"explore":5}', 0, 0, '', 0, NULL);
CREATE TABLE quota_cell (
  key_id TEXT NOT NULL,
  span INTEGER NOT NULL,
  cell INTEGER NOT NULL,
  slot INTEGER NOT NULL,               -- the lane's index; the last one counts foreign calls
  used INTEGER NOT NULL,
  PRIMARY KEY (key_id, span, cell, slot)
) WITHOUT ROWID;
INSERT INTO quota_cell (key_id, span, cell, slot, used) VALUES ('k1', 0, 179530560, 1, 1);
INSERT INTO quota_cell (key_id, span, cell, slot, used) VALUES ('k1', 1, 29921760, 1, 1);
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
CREATE TABLE spend_entry (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  scope TEXT NOT NULL,
  currency TEXT NOT NULL,
  kind TEXT NOT NULL,                  -- hold | post | release | expire | correct | carried
  hold_id TEXT NOT NULL,
  held INTEGER NOT NULL,
  posted INTEGER NOT NULL,
  at INTEGER NOT NULL
, said_by TEXT, reason TEXT);
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
CREATE TABLE stop (
  kind TEXT NOT NULL,                  -- halt | pause
  scope TEXT NOT NULL,                 -- a handle, or * for all
  since INTEGER NOT NULL,
  reason TEXT NOT NULL,
  PRIMARY KEY (kind, scope)
) WITHOUT ROWID;
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
INSERT INTO delivery (seq, specialist, id, kind, scheme, body, state, attempts, due_at, received_at, done_at, note) VALUES (1, 'scout', 'd1', 'odd', 'header', X'7B7D', 'ready', 0, 0, 1795305600000, NULL, NULL);
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
  updated_at INTEGER NOT NULL, signed_with TEXT,
  PRIMARY KEY (specialist, webhook_id)
) WITHOUT ROWID;
CREATE TABLE webhook_health (
  specialist TEXT PRIMARY KEY,
  told INTEGER NOT NULL,
  missed INTEGER NOT NULL,
  missed_in_row INTEGER NOT NULL,
  last_told_at INTEGER,
  kinds TEXT NOT NULL,                 -- JSON: what deliveries have told of before
  updated_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE standing (
  kind TEXT NOT NULL,                  -- stop | drift | slowed | profile
  name TEXT NOT NULL,
  data TEXT NOT NULL,                  -- a JSON object, by kind
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (kind, name)
) WITHOUT ROWID;
CREATE INDEX source_due ON source (specialist, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX watch_due ON watch (specialist, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX watch_owed ON watch (specialist) WHERE kind = 'job' AND due_at IS NOT NULL;
CREATE UNIQUE INDEX event_identity ON event (specialist, id);
CREATE INDEX event_due ON event (specialist, not_before, seq) WHERE state = 'ready';
CREATE INDEX event_thread ON event (specialist, thread, seq) WHERE state IN ('ready', 'running') AND thread IS NOT NULL;
CREATE INDEX event_running ON event (specialist) WHERE state = 'running';
CREATE INDEX event_parked ON event (specialist, seq) WHERE state = 'parked';
CREATE INDEX event_done ON event (done_at) WHERE state = 'done';
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
CREATE INDEX attempt_open ON attempt (key_id) WHERE ended_at IS NULL;
CREATE INDEX attempt_operation ON attempt (key_id, operation, started_at);
CREATE INDEX attempt_ended ON attempt (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX attempt_intent ON attempt (intent_seq) WHERE intent_seq IS NOT NULL;
CREATE INDEX hold_open ON hold (expires_at) WHERE state = 'open';
CREATE INDEX hold_settled ON hold (settled_at) WHERE settled_at IS NOT NULL;
CREATE INDEX spend_entry_scope ON spend_entry (scope, currency, seq);
CREATE INDEX spend_entry_at ON spend_entry (at);
CREATE INDEX approval_open ON approval (specialist, asked_at) WHERE state = 'asked';
CREATE INDEX approval_decided ON approval (decided_at) WHERE decided_at IS NOT NULL;
CREATE UNIQUE INDEX delivery_identity ON delivery (specialist, id);
CREATE INDEX delivery_due ON delivery (specialist, due_at, seq) WHERE state = 'ready';
CREATE INDEX delivery_done ON delivery (done_at) WHERE done_at IS NOT NULL;
CREATE INDEX specialist_key ON specialist (key_id) WHERE key_id IS NOT NULL;
CREATE INDEX intent_wordless ON intent (conflict_key) WHERE text_hash IS NULL;
CREATE INDEX delivery_leftover ON delivery (specialist, kind, seq) WHERE done_at IS NOT NULL AND body IS NOT NULL;
CREATE INDEX event_failed ON event (CAST(substr(note, 11) AS INTEGER)) WHERE substr(note, 1, 10) = '{"failed":';
PRAGMA user_version = 13;
