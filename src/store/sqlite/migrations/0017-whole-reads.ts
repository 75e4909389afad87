/** Counts of intents, indexes of those that wait for a person, and the Guardian's orders. Never changed once released. */

export const WHOLE_READS = `
-- Kept by triggers, so that a view of a million intents reads a few rows.
CREATE TABLE intent_count (
  specialist TEXT NOT NULL,
  operation TEXT NOT NULL,
  state TEXT NOT NULL,
  n INTEGER NOT NULL,
  PRIMARY KEY (specialist, operation, state)
) WITHOUT ROWID;
INSERT INTO intent_count (specialist, operation, state, n) SELECT specialist, operation, state, count(*) FROM intent GROUP BY 1, 2, 3;
-- A row that is replaced fires no trigger of its own deletion.
CREATE TRIGGER intent_replaced BEFORE INSERT ON intent BEGIN
  UPDATE intent_count SET n = n - 1
  WHERE (specialist, operation, state) = (SELECT specialist, operation, state FROM intent WHERE seq = NEW.seq);
END;
CREATE TRIGGER intent_added AFTER INSERT ON intent BEGIN
  INSERT INTO intent_count (specialist, operation, state, n) VALUES (NEW.specialist, NEW.operation, NEW.state, 1)
  ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER intent_deleted AFTER DELETE ON intent BEGIN
  UPDATE intent_count SET n = n - 1 WHERE (specialist, operation, state) = (OLD.specialist, OLD.operation, OLD.state);
END;

-- The few that wait for a person, among the many that do not.
CREATE INDEX intent_stuck ON intent (state, seq) WHERE state IN ('parked', 'pending', 'in_doubt');
CREATE INDEX intent_undelivered ON intent (specialist, target, seq) WHERE operation = 'jobs.submit' AND state = 'refused';

CREATE TABLE guardian_order (
  seq INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  who TEXT NOT NULL,
  origin TEXT NOT NULL,                -- command | code
  what TEXT NOT NULL,                  -- approve, halt, ...
  subject TEXT,                        -- the specialist, action or event that it names
  why TEXT,
  code TEXT,                           -- of the refusal; NULL: it was carried out, or never ended
  result TEXT                          -- NULL: the process ended first
);
`;
