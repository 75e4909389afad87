/** Events, intents and requests as facts: rows that are inserted once, and rows of the present state. Never changed once released. */

export const FACTS = `
DROP INDEX event_identity;
ALTER TABLE event RENAME TO old_event;
ALTER TABLE intent RENAME TO old_intent;
ALTER TABLE attempt RENAME TO old_attempt;

-- Facts. All five kinds share one sequence of numbers; found by number, and an event by its identity.
CREATE TABLE event (
  seq INTEGER PRIMARY KEY,
  specialist TEXT NOT NULL,
  id TEXT NOT NULL,
  kind TEXT NOT NULL,
  thread TEXT,
  payload TEXT NOT NULL,
  via TEXT NOT NULL,                   -- poll | webhook | runtime
  hops INTEGER NOT NULL DEFAULT 0,
  begun INTEGER NOT NULL DEFAULT 0,            -- 1: a handler begins with it as soon as it is committed
  delivery TEXT,                       -- the delivery that reported it and has no row of its own
  word TEXT,                           -- the network's word for that delivery, on its first event
  created_at INTEGER NOT NULL
);
CREATE UNIQUE INDEX event_identity ON event (specialist, id);

CREATE TABLE run (                     -- one handling that ended: event done, and its intents
  seq INTEGER PRIMARY KEY,
  event INTEGER NOT NULL,
  specialist TEXT NOT NULL,
  at INTEGER NOT NULL,
  intents TEXT                         -- JSON, NULL for none
);

CREATE TABLE attempt (                 -- one HTTP request, committed before its socket opens
  seq INTEGER PRIMARY KEY,
  intent INTEGER,                      -- NULL for reads
  specialist TEXT NOT NULL,
  key_id TEXT NOT NULL,
  operation TEXT NOT NULL,
  target TEXT,
  lane TEXT NOT NULL,
  cost INTEGER NOT NULL,
  at INTEGER NOT NULL,
  deadline_at INTEGER NOT NULL
);

CREATE TABLE answer (                  -- how a request ended
  seq INTEGER PRIMARY KEY,
  attempt INTEGER NOT NULL,
  at INTEGER NOT NULL,
  outcome TEXT NOT NULL,
  status INTEGER,
  ref TEXT,                            -- the id the network gave to what came to be
  note TEXT,
  counted_at INTEGER,                  -- from when on it ages in the quota; NULL: it never left
  change TEXT                          -- what became of its intent, JSON; empty: confirmed; NULL: nothing
);

CREATE TABLE change (                  -- every other change of an event (0) or an intent (1)
  seq INTEGER PRIMARY KEY,
  kind INTEGER NOT NULL,
  subject INTEGER NOT NULL,
  at INTEGER NOT NULL,
  change TEXT NOT NULL,
  failed_at INTEGER                    -- time of the failed handling that it reports
);
CREATE INDEX change_failed ON change (subject, failed_at) WHERE failed_at IS NOT NULL;

-- Written at folds. All facts up to the mark are in the rows below; those of the quota up to a number of their own.
CREATE TABLE mark (one INTEGER PRIMARY KEY CHECK (one = 1), seq INTEGER NOT NULL, quota INTEGER NOT NULL);

CREATE TABLE open (                    -- events that are not done (0), requests without an answer (1), events done late (2)
  kind INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  state TEXT NOT NULL,                 -- JSON
  PRIMARY KEY (kind, seq)
) WITHOUT ROWID;

CREATE TABLE intent (                  -- as its last fact left it
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  specialist TEXT NOT NULL,
  event_seq INTEGER NOT NULL,
  ordinal INTEGER NOT NULL,
  operation TEXT NOT NULL,
  target TEXT,
  target_intent TEXT,
  input TEXT NOT NULL,
  effect TEXT NOT NULL,
  lane TEXT NOT NULL,
  thread TEXT,
  author TEXT,
  text_hash TEXT,
  conflict_key TEXT NOT NULL,
  hops INTEGER NOT NULL DEFAULT 0,
  label TEXT,
  data TEXT,
  state TEXT NOT NULL,
  attempt INTEGER NOT NULL DEFAULT 0,
  ever_unknown INTEGER NOT NULL DEFAULT 0,
  next_at INTEGER NOT NULL DEFAULT 0,
  checks INTEGER NOT NULL DEFAULT 0,
  sent_at INTEGER,
  expires_at INTEGER,
  created_ref TEXT,
  code TEXT,
  message TEXT,
  created_at INTEGER NOT NULL,
  settled_at INTEGER,
  unanswered INTEGER NOT NULL DEFAULT 0,
  first_request INTEGER,
  last_request INTEGER,
  last INTEGER NOT NULL                -- the number of that fact
);
CREATE INDEX intent_live ON intent (seq) WHERE state IN ('proposed', 'ready', 'sending', 'in_doubt');
CREATE INDEX intent_of ON intent (specialist, seq);

-- Requests that one of the network's own limits counts.
CREATE TABLE limited_use (
  key_id TEXT NOT NULL,
  operation TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  started_at INTEGER NOT NULL,
  deadline_at INTEGER NOT NULL,
  ended_at INTEGER,
  PRIMARY KEY (key_id, operation, attempt)
) WITHOUT ROWID;

-- What there was: facts are numbered on from the highest number of before.
INSERT INTO event (seq, specialist, id, kind, thread, payload, via, hops, begun, created_at)
SELECT seq, specialist, id, kind, thread, payload, via, hops, 0, created_at FROM old_event ORDER BY seq;

INSERT INTO attempt (seq, intent, specialist, key_id, operation, target, lane, cost, at, deadline_at)
SELECT seq, intent_seq, specialist, key_id, operation, target, lane, weight, started_at, deadline_at FROM old_attempt ORDER BY seq;

INSERT INTO answer (seq, attempt, at, outcome, status, note)
SELECT seq, seq, ended_at, outcome, status, note FROM old_attempt WHERE ended_at IS NOT NULL ORDER BY seq;

INSERT INTO run (seq, event, specialist, at)
SELECT seq, seq, specialist, done_at FROM old_event WHERE state = 'done' AND done_at IS NOT NULL ORDER BY seq;

-- The last failed handling of each event.
INSERT INTO change (seq, kind, subject, at, change, failed_at)
SELECT seq, 0, seq, CAST(substr(note, 11) AS INTEGER), json_object('attempts', attempts, 'note', note), CAST(substr(note, 11) AS INTEGER)
FROM old_event WHERE substr(note, 1, 10) = '{"failed":' ORDER BY seq;

-- One that was being handled counts as a handling that ended with the process when the next one recovers: it was counted before.
INSERT INTO open (kind, seq, state)
SELECT 0, seq, iif(state = 'ready' AND attempts = 0 AND crashes = 0 AND not_before = 0 AND began_at IS NULL AND note IS NULL, '{}', json_object('state', iif(state = 'parked', 'parked', 'ready'), 'attempts', attempts, 'crashes', crashes - (state = 'running'),
  'begun', json(iif(state = 'running', 'true', 'false')), 'beganAt', began_at, 'notBefore', not_before, 'note', note,
  'parkedAt', iif(state = 'parked', done_at, NULL), 'last', 0))
FROM old_event WHERE state <> 'done';
INSERT INTO open (kind, seq, state) SELECT 1, seq, '{}' FROM old_attempt WHERE ended_at IS NULL;
INSERT INTO open (kind, seq, state)
SELECT 2, seq, json_object('at', done_at) FROM old_event WHERE state = 'done' AND done_at - created_at > 86400000;

INSERT INTO intent
SELECT seq, id, specialist, event_seq, ordinal, operation, target, target_intent, input, effect, lane, thread, author, text_hash, conflict_key,
  hops, label, data, state, attempt, ever_unknown, next_at, checks, sent_at, expires_at, created_ref, code, message, created_at, settled_at,
  (SELECT count(*) FROM old_attempt WHERE intent_seq = i.seq AND coalesce(outcome, '') NOT IN ('never-left', 'limited', 'unauthorized')),
  (SELECT min(seq) FROM old_attempt WHERE intent_seq = i.seq), (SELECT max(seq) FROM old_attempt WHERE intent_seq = i.seq), 0
FROM old_intent AS i ORDER BY seq;

INSERT INTO limited_use (key_id, operation, attempt, started_at, deadline_at, ended_at)
SELECT key_id, operation, seq, started_at, deadline_at, ended_at FROM old_attempt WHERE coalesce(outcome, '') <> 'never-left';

INSERT INTO mark (one, seq, quota)
SELECT 1, n, n FROM (SELECT max(
  (SELECT coalesce(max(seq), 0) FROM old_event), (SELECT coalesce(max(seq), 0) FROM old_intent), (SELECT coalesce(max(seq), 0) FROM old_attempt)) AS n);

DROP TABLE old_event;
DROP TABLE old_intent;
DROP TABLE old_attempt;
`;
