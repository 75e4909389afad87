/** The tables of the store, a row of the working copy each, with the shard or the holder that it belongs to. Never changed once released. */

/** Actions that are not over, and deliveries of jobs that the network refused: a person may have to do them. */
export const OPEN_INTENTS = "(state NOT IN ('confirmed', 'refused', 'cancelled') OR (operation = 'jobs.submit' AND state = 'refused'))";
/** Money that is set aside. */
export const OPEN_HOLDS = "state = 'open'";

export const TABLES = `
-- Numbers of processes and holders, and blocks of numbers for facts: a holder has each block alone, and takes them upwards.
CREATE SEQUENCE process_number;
CREATE SEQUENCE holder_number;
CREATE SEQUENCE fact_block;

CREATE TABLE process (                 -- one for each start of a runtime; it lives while its advisory lock is held
  number bigint PRIMARY KEY,
  name text NOT NULL,
  version text NOT NULL,
  started_at bigint NOT NULL,
  handles text[] NOT NULL,             -- the specialists that it can run
  draining boolean NOT NULL DEFAULT false
);

CREATE TABLE holder (                  -- one for each opening of shards, with the session that writes for it
  number bigint PRIMARY KEY,
  process bigint NOT NULL,
  backend integer NOT NULL,
  opened_at bigint NOT NULL,
  closed_at bigint                     -- set when everything is folded and added up: its shards need no recovery
);

CREATE TABLE shard (                   -- its last holder, and the server that it was held on
  shard integer PRIMARY KEY,
  holder bigint,
  since bigint NOT NULL,
  server text,
  lost_by bigint[] NOT NULL DEFAULT '{}' -- living processes that lost it: what they had begun to send may still leave
);
INSERT INTO shard (shard, since) SELECT number, 0 FROM generate_series(0, 1023) AS number;

CREATE TABLE placement (specialist text PRIMARY KEY, shard integer NOT NULL);

CREATE UNLOGGED TABLE request (        -- of one process to another: a question, an order or a delivery
  number bigint PRIMARY KEY,
  receiver bigint NOT NULL,
  body text NOT NULL,
  deadline timestamptz NOT NULL,       -- it is not taken later
  taken_at timestamptz,                -- the receiver has it, and may do what it is asked for
  answer text
);
CREATE SEQUENCE request_number;
CREATE INDEX request_untaken ON request (receiver, number) WHERE taken_at IS NULL;
CREATE INDEX request_deadline ON request (deadline);

CREATE TABLE guardian_grant (          -- the Guardian's money that a holder may spend; its account tells what it has
  holder bigint NOT NULL,
  currency text NOT NULL,
  granted double precision NOT NULL,
  PRIMARY KEY (holder, currency)
);

-- Numbers that are no identity may have a fraction, as in the working copy.
CREATE TABLE answer (
  shard integer NOT NULL, seq bigint NOT NULL, attempt bigint NOT NULL, at double precision NOT NULL, outcome text NOT NULL,
  status double precision, ref text, note text, counted_at double precision, change text, PRIMARY KEY (shard, seq)
);
CREATE TABLE approval (
  shard integer NOT NULL, intent text NOT NULL, specialist text NOT NULL, payload_hash text NOT NULL, currency text,
  amount double precision, state text NOT NULL, asked_at double precision NOT NULL, decided_at double precision,
  expires_at double precision NOT NULL, reason text, PRIMARY KEY (shard, intent)
);
CREATE TABLE attempt (
  shard integer NOT NULL, seq bigint NOT NULL, intent bigint, specialist text NOT NULL, key_id text NOT NULL,
  operation text NOT NULL, target text, lane text NOT NULL, cost double precision NOT NULL, at double precision NOT NULL,
  deadline_at double precision NOT NULL, PRIMARY KEY (shard, seq)
);
CREATE TABLE change (
  shard integer NOT NULL, seq bigint NOT NULL, kind double precision NOT NULL, subject bigint NOT NULL,
  at double precision NOT NULL, change text NOT NULL, failed_at double precision, PRIMARY KEY (shard, seq)
);
CREATE TABLE delivery (
  shard integer NOT NULL, seq bigint NOT NULL, specialist text NOT NULL, id text NOT NULL, kind text, scheme text NOT NULL,
  body bytea, state text NOT NULL, attempts double precision NOT NULL, due_at double precision NOT NULL,
  received_at double precision NOT NULL, done_at double precision, note text, PRIMARY KEY (shard, seq)
);
CREATE TABLE delivery_count (
  shard integer NOT NULL, specialist text NOT NULL, kind text NOT NULL, state text NOT NULL, n double precision NOT NULL,
  PRIMARY KEY (shard, specialist, kind, state)
);
CREATE TABLE event (
  shard integer NOT NULL, seq bigint NOT NULL, specialist text NOT NULL, id text NOT NULL, kind text NOT NULL, thread text,
  payload text NOT NULL, via text NOT NULL, hops double precision NOT NULL, begun double precision NOT NULL, delivery text,
  word text, created_at double precision NOT NULL, PRIMARY KEY (shard, seq)
);
CREATE TABLE guardian_order (
  shard integer NOT NULL, seq bigint NOT NULL, at double precision NOT NULL, who text NOT NULL, origin text NOT NULL, what text NOT NULL, subject text,
  why text, code text, result text, PRIMARY KEY (seq)
);
CREATE TABLE hold (
  shard integer NOT NULL, id text NOT NULL, specialist text NOT NULL, currency text NOT NULL, amount double precision NOT NULL,
  starts text NOT NULL, state text NOT NULL, posted double precision NOT NULL, held_at double precision NOT NULL,
  expires_at double precision NOT NULL, settled_at double precision, PRIMARY KEY (shard, id)
);
CREATE TABLE intent (
  shard integer NOT NULL, seq bigint NOT NULL, id text NOT NULL, specialist text NOT NULL, event_seq bigint NOT NULL,
  ordinal double precision NOT NULL, operation text NOT NULL, target text, target_intent text, input text NOT NULL,
  effect text NOT NULL, lane text NOT NULL, thread text, author text, text_hash text, conflict_key text NOT NULL,
  hops double precision NOT NULL, label text, data text, state text NOT NULL, attempt bigint NOT NULL,
  ever_unknown double precision NOT NULL, next_at double precision NOT NULL, checks double precision NOT NULL,
  sent_at double precision, expires_at double precision, created_ref text, code text, message text,
  created_at double precision NOT NULL, settled_at double precision, unanswered double precision NOT NULL, first_request bigint,
  last_request bigint, last bigint NOT NULL, reason text, PRIMARY KEY (shard, seq)
);
CREATE TABLE intent_count (
  shard integer NOT NULL, specialist text NOT NULL, operation text NOT NULL, state text NOT NULL, n double precision NOT NULL,
  PRIMARY KEY (shard, specialist, operation, state)
);
CREATE TABLE ledger_time (
  holder bigint NOT NULL, seen_at double precision NOT NULL, unsure_from double precision, lag_ms double precision NOT NULL,
  unconfirmed_ms double precision NOT NULL, network_ms double precision, PRIMARY KEY (holder)
);
CREATE TABLE limited_use (
  shard integer NOT NULL, key_id text NOT NULL, operation text NOT NULL, attempt bigint NOT NULL,
  started_at double precision NOT NULL, deadline_at double precision NOT NULL, ended_at double precision,
  PRIMARY KEY (shard, key_id, operation, attempt)
);
CREATE TABLE mark (
  holder bigint NOT NULL, seq bigint NOT NULL, quota bigint NOT NULL, PRIMARY KEY (holder)
);
CREATE TABLE meta (
  name text NOT NULL, value text NOT NULL, PRIMARY KEY (name)
);
CREATE TABLE money_hour (
  shard integer NOT NULL, hour bigint NOT NULL, specialist text NOT NULL, currency text NOT NULL,
  micros double precision NOT NULL, PRIMARY KEY (shard, hour, specialist, currency)
);
CREATE TABLE open (
  shard integer NOT NULL, kind bigint NOT NULL, seq bigint NOT NULL, state text NOT NULL, PRIMARY KEY (shard, kind, seq)
);
CREATE TABLE proof (
  shard integer NOT NULL, key_id text NOT NULL, operation text NOT NULL, found double precision NOT NULL,
  missed double precision NOT NULL, proven double precision NOT NULL, lateness_ms double precision NOT NULL,
  updated_at double precision NOT NULL, PRIMARY KEY (shard, key_id, operation)
);
CREATE TABLE quota_cell (
  shard integer NOT NULL, key_id text NOT NULL, span bigint NOT NULL, cell bigint NOT NULL, slot bigint NOT NULL,
  used double precision NOT NULL, PRIMARY KEY (shard, key_id, span, cell, slot)
);
CREATE TABLE quota_key (
  shard integer NOT NULL, key_id text NOT NULL, per_hour double precision NOT NULL, per_day double precision NOT NULL,
  floors text NOT NULL, parked_at double precision NOT NULL, parked_until double precision NOT NULL, park_reason text NOT NULL,
  strikes double precision NOT NULL, successor text, PRIMARY KEY (shard, key_id)
);
CREATE TABLE registration (
  shard integer NOT NULL, specialist text NOT NULL, webhook_id text NOT NULL, url text NOT NULL,
  foreign_secret double precision NOT NULL, updated_at double precision NOT NULL, signed_with text,
  PRIMARY KEY (shard, specialist, webhook_id)
);
CREATE TABLE rolled_up (
  holder bigint NOT NULL, facts bigint NOT NULL, entries bigint NOT NULL, PRIMARY KEY (holder)
);
CREATE TABLE run (
  shard integer NOT NULL, seq bigint NOT NULL, event bigint NOT NULL, specialist text NOT NULL, at double precision NOT NULL,
  intents text, PRIMARY KEY (shard, seq)
);
CREATE TABLE source (
  shard integer NOT NULL, specialist text NOT NULL, name text NOT NULL, cursor text NOT NULL, due_at double precision,
  updated_at double precision NOT NULL, PRIMARY KEY (shard, specialist, name)
);
CREATE TABLE specialist (
  shard integer NOT NULL, handle text NOT NULL, account_id text, key_id text, state text NOT NULL, parked_code text,
  parked_message text, parked_at double precision, parked_until double precision, updated_at double precision NOT NULL,
  PRIMARY KEY (shard, handle)
);
CREATE TABLE spend_entry (
  shard integer NOT NULL, seq bigint NOT NULL, scope text NOT NULL, currency text NOT NULL, kind text NOT NULL,
  hold_id text NOT NULL, held double precision NOT NULL, posted double precision NOT NULL, at double precision NOT NULL,
  said_by text, reason text, PRIMARY KEY (shard, seq)
);
CREATE TABLE spend_frozen (
  shard integer NOT NULL, scope text NOT NULL, currency text NOT NULL, since double precision NOT NULL, reason text NOT NULL,
  PRIMARY KEY (shard, scope, currency)
);
CREATE TABLE spend_row (                -- the Guardian's account: the sum of what each holder adds to it
  shard integer NOT NULL, holder bigint NOT NULL, scope text NOT NULL, currency text NOT NULL, span text NOT NULL, start bigint NOT NULL,
  until double precision NOT NULL, ends double precision NOT NULL, held double precision NOT NULL,
  posted double precision NOT NULL, PRIMARY KEY (shard, holder, scope, currency, span, start)
);
CREATE TABLE standing (
  kind text NOT NULL, name text NOT NULL, data text NOT NULL, updated_at double precision NOT NULL, PRIMARY KEY (kind, name)
);
CREATE TABLE step (
  shard integer NOT NULL, event_seq bigint NOT NULL, name text NOT NULL, value text NOT NULL,
  PRIMARY KEY (shard, event_seq, name)
);
CREATE TABLE stop (
  kind text NOT NULL, scope text NOT NULL, since double precision NOT NULL, reason text NOT NULL, PRIMARY KEY (kind, scope)
);
CREATE TABLE usage_hour (
  shard integer NOT NULL, hour bigint NOT NULL, specialist text NOT NULL, requests double precision NOT NULL,
  late double precision NOT NULL, late_ms double precision NOT NULL, PRIMARY KEY (shard, hour, specialist)
);
CREATE TABLE watch (
  shard integer NOT NULL, specialist text NOT NULL, kind text NOT NULL, object text NOT NULL, state text NOT NULL,
  data text NOT NULL, due_at double precision, created_at double precision NOT NULL, updated_at double precision NOT NULL,
  PRIMARY KEY (shard, specialist, kind, object)
);
CREATE TABLE webhook_health (
  shard integer NOT NULL, specialist text NOT NULL, told double precision NOT NULL, missed double precision NOT NULL,
  missed_in_row double precision NOT NULL, last_told_at double precision, kinds text NOT NULL,
  updated_at double precision NOT NULL, PRIMARY KEY (shard, specialist)
);

CREATE UNIQUE INDEX event_identity ON event (shard, specialist, id);
CREATE INDEX intent_id ON intent (id);
-- The few rows that a start needs, among the many that are past.
CREATE INDEX intent_open ON intent (shard, seq) WHERE ${OPEN_INTENTS};
CREATE INDEX hold_open ON hold (shard, id) WHERE ${OPEN_HOLDS};
`;
