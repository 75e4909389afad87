/**
 * Installs invariants in the store's database: triggers that record each transition that no promise allows, in the transaction that makes
 * it.
 */
import type { OpenDatabase } from "../store/sqlite/database.ts";
import { MICROS_PER_UNIT } from "../core/units.ts";
import type { Specialist } from "../specialist/specialist.ts";

export type Promised = "P1" | "P2" | "P3" | "P4" | "P5";

export interface Breach {
  readonly promise: Promised;
  readonly what: string;
}

export interface Invariants {
  /** Returns the breaches recorded by committed transactions since the last call. */
  read(): readonly Breach[];
}

/** Required number of "not there" checks before a resend. Stated independently of the code under test. */
const LOOKS = 2;

type Database = OpenDatabase["db"];

const NOTE = (promise: Promised, what: string): string => `INSERT INTO breach (promise, what) VALUES ('${promise}', ${what});`;

/** The legal transitions of an action. Stated independently of the code under test. */
const LEGAL_MOVES =
  "proposed>ready proposed>in_doubt proposed>cancelled " +
  "ready>sending ready>in_doubt ready>refused ready>parked ready>cancelled " +
  "sending>ready sending>in_doubt sending>confirmed sending>refused sending>pending sending>parked " +
  "in_doubt>ready in_doubt>confirmed in_doubt>refused in_doubt>parked in_doubt>cancelled " +
  "pending>ready pending>confirmed pending>refused pending>cancelled parked>ready parked>in_doubt parked>confirmed parked>cancelled";

/** An event's fact has no state. */
const DELETED_STATE = "(SELECT state FROM temp.event WHERE seq = old.seq)";

/** The triggers record committed transitions only: a rollback removes their rows too. */
const TRIGGERS = `
CREATE TEMP TABLE breach (seq INTEGER PRIMARY KEY, promise TEXT NOT NULL, what TEXT NOT NULL);
CREATE TEMP TABLE allowed (specialist TEXT PRIMARY KEY, may TEXT NOT NULL, review TEXT NOT NULL);
CREATE TEMP TABLE cap (specialist TEXT, currency TEXT, per_day INTEGER, total INTEGER, PRIMARY KEY (specialist, currency));

CREATE TEMP TRIGGER intent_settled AFTER UPDATE OF state ON temp.intent
WHEN old.state IN ('confirmed', 'refused', 'cancelled') AND new.state <> old.state
BEGIN ${NOTE("P4", "'intent ' || old.id || ' was ' || old.state || ' and became ' || new.state")} END;

CREATE TEMP TRIGGER intent_strange AFTER UPDATE OF state ON temp.intent
WHEN new.state <> old.state AND old.state NOT IN ('confirmed', 'refused', 'cancelled')
  AND instr(' ${LEGAL_MOVES} ', ' ' || old.state || '>' || new.state || ' ') = 0
BEGIN ${NOTE("P4", "'intent ' || old.id || ' went from ' || old.state || ' to ' || new.state")} END;

CREATE TEMP TRIGGER intent_forgotten AFTER DELETE ON main.intent
WHEN old.state NOT IN ('confirmed', 'refused', 'cancelled')
BEGIN ${NOTE("P3", "'intent ' || old.id || ' was deleted while ' || old.state")} END;

CREATE TEMP TRIGGER intent_conflict AFTER UPDATE OF state ON temp.intent
WHEN new.state = 'sending' AND EXISTS (
  SELECT 1 FROM temp.intent AS other WHERE other.conflict_key = new.conflict_key AND other.seq <> new.seq AND other.state IN ('sending', 'in_doubt'))
BEGIN ${NOTE("P4", "'intent ' || new.id || ' was sent while another on ' || new.conflict_key || ' was not settled'")} END;

CREATE TEMP TRIGGER intent_unmarked AFTER UPDATE OF state ON temp.intent
WHEN new.state = 'in_doubt' AND new.ever_unknown = 0
BEGIN ${NOTE("P4", "'intent ' || new.id || ' is in doubt, and nothing on it says so'")} END;

CREATE TEMP TRIGGER intent_hasty AFTER UPDATE OF state ON temp.intent
WHEN old.state = 'in_doubt' AND new.state = 'ready' AND new.attempt > 0 AND new.checks < ${LOOKS}
BEGIN ${NOTE("P4", "'intent ' || new.id || ' is to be sent again after ' || new.checks || ' looks that count'")} END;

CREATE TEMP TRIGGER event_undone AFTER UPDATE OF state ON temp.event
WHEN old.state = 'done' AND new.state <> 'done'
BEGIN ${NOTE("P4", "'event ' || old.id || ' was handled and became ' || new.state")} END;

CREATE TEMP TRIGGER event_skipped AFTER UPDATE OF state ON temp.event
WHEN new.state = 'done' AND old.state <> 'running'
BEGIN ${NOTE("P3", "'event ' || old.id || ' became done without being handled'")} END;

CREATE TEMP TRIGGER event_forgotten AFTER DELETE ON main.event
WHEN ${DELETED_STATE} <> 'done'
BEGIN ${NOTE("P3", `'event ' || old.id || ' was deleted while ' || ${DELETED_STATE}`)} END;

CREATE TEMP TRIGGER attempt_doubled AFTER INSERT ON temp.attempt
WHEN new.intent_seq IS NOT NULL AND EXISTS (
  SELECT 1 FROM temp.attempt AS other WHERE other.intent_seq = new.intent_seq AND other.ended_at IS NULL AND other.seq <> new.seq)
BEGIN ${NOTE("P4", "'intent ' || new.intent_seq || ' was admitted while an attempt for it was open'")} END;

CREATE TEMP TRIGGER attempt_halted AFTER INSERT ON temp.attempt
WHEN new.intent_seq IS NOT NULL AND EXISTS (SELECT 1 FROM main.stop WHERE kind = 'halt' AND scope IN ('*', new.specialist))
BEGIN ${NOTE("P5", "new.operation || ' was admitted for ' || new.specialist || ' while writes were halted'")} END;

CREATE TEMP TRIGGER attempt_forbidden AFTER INSERT ON temp.attempt
WHEN new.intent_seq IS NOT NULL AND NOT EXISTS (
  SELECT 1 FROM allowed, json_each(allowed.may) WHERE allowed.specialist = new.specialist AND json_each.value = new.operation)
BEGIN ${NOTE("P5", "new.operation || ' was admitted for ' || new.specialist || ', who may not do it'")} END;

CREATE TEMP TRIGGER attempt_unapproved AFTER INSERT ON temp.attempt
WHEN new.intent_seq IS NOT NULL
  AND EXISTS (SELECT 1 FROM allowed, json_each(allowed.review) WHERE allowed.specialist = new.specialist AND json_each.value = new.operation)
  AND NOT EXISTS (
    SELECT 1 FROM main.approval JOIN temp.intent ON temp.intent.id = main.approval.intent
    WHERE temp.intent.seq = new.intent_seq AND main.approval.state = 'approved')
BEGIN ${NOTE("P5", "new.operation || ' was admitted for ' || new.specialist || ' without its approval'")} END;

CREATE TEMP TRIGGER hold_freed AFTER UPDATE OF state ON main.hold
WHEN new.state = 'released' AND new.id NOT LIKE 'model:%' AND coalesce((SELECT state FROM temp.intent WHERE id = new.id), '') NOT IN ('refused', 'cancelled')
BEGIN ${NOTE("P2", "'the money of intent ' || new.id || ' was released while it was not refused'")} END;

CREATE TEMP TRIGGER hold_deleted AFTER DELETE ON main.hold
WHEN old.state = 'open'
BEGIN ${NOTE("P2", "'the hold of intent ' || old.id || ' was deleted while open'")} END;

CREATE TEMP TRIGGER hold_over_day AFTER INSERT ON main.hold
WHEN (SELECT sum(CASE state WHEN 'open' THEN amount ELSE posted END) FROM main.hold
      WHERE specialist = new.specialist AND currency = new.currency AND held_at > new.held_at - 86400000)
     > (SELECT per_day FROM cap WHERE specialist = new.specialist AND currency = new.currency)
BEGIN ${NOTE("P2", "new.specialist || ' holds and has spent more in 24 h than its cap of a day'")} END;

CREATE TEMP TRIGGER hold_over_total AFTER INSERT ON main.hold
WHEN (SELECT sum(CASE state WHEN 'open' THEN amount ELSE posted END) FROM main.hold
      WHERE specialist = new.specialist AND currency = new.currency)
     > (SELECT total FROM cap WHERE specialist = new.specialist AND currency = new.currency)
BEGIN ${NOTE("P2", "new.specialist || ' holds and has spent more than its cap in all'")} END;
`;

/** Installs the triggers, on the rows of a mirror. */
export function installInvariants(db: Database, specialists: readonly Specialist[]): Invariants {
  db.exec(TRIGGERS);
  const allow = db.prepare("INSERT INTO allowed (specialist, may, review) VALUES (?, ?, ?)");
  const limit = db.prepare("INSERT INTO cap (specialist, currency, per_day, total) VALUES (?, ?, ?, ?)");
  for (const { handle, may, review, spend } of specialists) {
    allow.run(handle, JSON.stringify(may), JSON.stringify(review));
    for (const currency of new Set([...spend.perDay, ...spend.total].map((amount) => amount.currency))) {
      const micros = (amounts: Specialist["spend"]["perDay"]): number | null =>
        amounts.find((amount) => amount.currency === currency)?.micros ?? null;
      limit.run(handle, currency, micros(spend.perDay), micros(spend.total));
    }
  }
  const fresh = db.prepare("SELECT seq, promise, what FROM breach WHERE seq > ? ORDER BY seq LIMIT 100");
  let seen = 0;
  return {
    read() {
      const rows = fresh.all(seen);
      return rows.map((row) => {
        seen = Number(row["seq"]);
        return { promise: row["promise"] as Promised, what: String(row["what"]) }; // only the triggers above write this column
      });
    },
  };
}

/** Returns the amount that a specialist's ledger counts as spent or held, in units of the currency. */
export function moneyCounted(db: Database, handle: string, currency: string): number {
  const row = db
    .prepare(
      "SELECT coalesce(sum(CASE state WHEN 'open' THEN amount ELSE posted END), 0) AS micros FROM hold WHERE specialist = ? AND currency = ?",
    )
    .get(handle, currency);
  return Number(row?.["micros"] ?? 0) / MICROS_PER_UNIT;
}
