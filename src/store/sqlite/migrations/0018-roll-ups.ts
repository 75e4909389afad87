/** Sums by hour, and the events and requests behind one another, kept in the background. Never changed once released. */

export const ROLL_UPS = `
-- Facts and ledger entries up to these numbers are in the tables below.
CREATE TABLE rolled_up (one INTEGER PRIMARY KEY CHECK (one = 1), facts INTEGER NOT NULL, entries INTEGER NOT NULL);

-- An index of events by specialist: as a real one it would cost every event a page of its specialist.
CREATE TABLE event_of (
  specialist TEXT NOT NULL,
  seq INTEGER NOT NULL,
  run INTEGER,                         -- the run that handled it
  PRIMARY KEY (specialist, seq)
) WITHOUT ROWID;
CREATE TRIGGER event_pruned AFTER DELETE ON event BEGIN
  DELETE FROM event_of WHERE specialist = OLD.specialist AND seq = OLD.seq;
END;

-- An index of requests by intent.
CREATE TABLE attempt_of (
  intent INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  PRIMARY KEY (intent, seq)
) WITHOUT ROWID;
CREATE TRIGGER attempt_pruned AFTER DELETE ON attempt WHEN OLD.intent IS NOT NULL BEGIN
  DELETE FROM attempt_of WHERE intent = OLD.intent AND seq = OLD.seq;
END;

CREATE TABLE usage_hour (
  hour INTEGER NOT NULL,               -- hours since the epoch
  specialist TEXT NOT NULL,
  requests INTEGER NOT NULL,           -- as the quota counts them
  late INTEGER NOT NULL,               -- events
  late_ms INTEGER NOT NULL,            -- the longest delay
  PRIMARY KEY (hour, specialist)
) WITHOUT ROWID;

CREATE TABLE money_hour (
  hour INTEGER NOT NULL,
  specialist TEXT NOT NULL,
  currency TEXT NOT NULL,
  micros INTEGER NOT NULL,
  PRIMARY KEY (hour, specialist, currency)
) WITHOUT ROWID;

INSERT INTO event_of (specialist, seq, run)
SELECT event.specialist, event.seq, run.seq FROM event LEFT JOIN run ON run.event = event.seq ORDER BY 1, 2 ON CONFLICT DO NOTHING;

INSERT INTO attempt_of (intent, seq) SELECT intent, seq FROM attempt WHERE intent IS NOT NULL ORDER BY 1, 2;

INSERT INTO usage_hour (hour, specialist, requests, late, late_ms)
SELECT hour, specialist, sum(requests), sum(took >= 60000), max(took) FROM (
  SELECT at / 3600000 AS hour, specialist, cost AS requests, 0 AS took FROM attempt
  UNION ALL SELECT run.at / 3600000, run.specialist, 0, max(0, run.at - coalesce(
    iif(substr(event.kind, 1, 9) = 'schedule:', json_extract(event.payload, '$.scheduledAt'), NULL), event.created_at))
  FROM run CROSS JOIN event ON event.seq = run.event
) GROUP BY 1, 2;

INSERT INTO money_hour (hour, specialist, currency, micros)
SELECT at / 3600000, substr(scope, 12), currency, sum(posted) FROM spend_entry
WHERE posted <> 0 AND kind <> 'carried' AND substr(scope, 1, 11) = 'specialist:' GROUP BY 1, 2, 3;

INSERT INTO rolled_up (one, facts, entries)
SELECT 1, max((SELECT coalesce(max(seq), 0) FROM mark), (SELECT coalesce(max(seq), 0) FROM event), (SELECT coalesce(max(seq), 0) FROM run),
  (SELECT coalesce(max(seq), 0) FROM attempt)), (SELECT coalesce(max(seq), 0) FROM spend_entry);

-- The Guardian's reason, given with an approval.
ALTER TABLE intent ADD COLUMN reason TEXT;
`;
