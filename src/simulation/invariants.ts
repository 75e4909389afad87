/** Tripwires in the store's own database: triggers that note each transition no promise allows, in the transaction that makes it. */
import type { OpenDatabase } from "../store/sqlite/database.ts";
import { MICROS_PER_UNIT } from "../core/units.ts";
import type { Specialist } from "../specialist/specialist.ts";

export type Promised = "P1" | "P2" | "P3" | "P4" | "P5";

export interface Breach {
  readonly promise: Promised;
  readonly what: string;
}

export interface Invariants {
  /** What was noted since the last call, in committed transactions. */
  read(): readonly Breach[];
}

/** "Not there" must be seen this often before anything is sent again. Stated here anew: the judge takes no one's word for it. */
const LOOKS = 2;

type Database = OpenDatabase["db"];

const NOTE = (promise: Promised, what: string): string => `INSERT INTO breach (promise, what) VALUES ('${promise}', ${what});`;

/** A fact has no state of its own. */
const deletedState = (rows: "main" | "temp"): string =>
  rows === "main" ? "old.state" : "(SELECT state FROM temp.event WHERE seq = old.seq)";

/** They see what is committed, and a rollback takes their notes back with it. */
const triggers = (rows: "main" | "temp"): string => `
CREATE TEMP TABLE breach (seq INTEGER PRIMARY KEY, promise TEXT NOT NULL, what TEXT NOT NULL);
CREATE TEMP TABLE allowed (specialist TEXT PRIMARY KEY, may TEXT NOT NULL, review TEXT NOT NULL, per_day INTEGER, total INTEGER);

CREATE TEMP TRIGGER intent_settled AFTER UPDATE OF state ON ${rows}.intent
WHEN old.state IN ('confirmed', 'refused', 'cancelled') AND new.state <> old.state
BEGIN ${NOTE("P4", "'intent ' || old.id || ' was ' || old.state || ' and became ' || new.state")} END;

CREATE TEMP TRIGGER intent_forgotten AFTER DELETE ON main.intent
WHEN old.state NOT IN ('confirmed', 'refused', 'cancelled')
BEGIN ${NOTE("P3", "'intent ' || old.id || ' was deleted while ' || old.state")} END;

CREATE TEMP TRIGGER intent_conflict AFTER UPDATE OF state ON ${rows}.intent
WHEN new.state = 'sending' AND EXISTS (
  SELECT 1 FROM ${rows}.intent AS other WHERE other.conflict_key = new.conflict_key AND other.seq <> new.seq AND other.state IN ('sending', 'in_doubt'))
BEGIN ${NOTE("P4", "'intent ' || new.id || ' was sent while another on ' || new.conflict_key || ' was not settled'")} END;

CREATE TEMP TRIGGER intent_unmarked AFTER UPDATE OF state ON ${rows}.intent
WHEN new.state = 'in_doubt' AND new.ever_unknown = 0
BEGIN ${NOTE("P4", "'intent ' || new.id || ' is in doubt, and nothing on it says so'")} END;

CREATE TEMP TRIGGER intent_hasty AFTER UPDATE OF state ON ${rows}.intent
WHEN old.state = 'in_doubt' AND new.state = 'ready' AND new.attempt > 0 AND new.checks < ${LOOKS}
BEGIN ${NOTE("P4", "'intent ' || new.id || ' is to be sent again after ' || new.checks || ' looks that count'")} END;

CREATE TEMP TRIGGER event_undone AFTER UPDATE OF state ON ${rows}.event
WHEN old.state = 'done' AND new.state <> 'done'
BEGIN ${NOTE("P4", "'event ' || old.id || ' was handled and became ' || new.state")} END;

CREATE TEMP TRIGGER event_skipped AFTER UPDATE OF state ON ${rows}.event
WHEN new.state = 'done' AND old.state <> 'running'
BEGIN ${NOTE("P3", "'event ' || old.id || ' became done without being handled'")} END;

CREATE TEMP TRIGGER event_forgotten AFTER DELETE ON main.event
WHEN ${deletedState(rows)} <> 'done'
BEGIN ${NOTE("P3", `'event ' || old.id || ' was deleted while ' || ${deletedState(rows)}`)} END;

CREATE TEMP TRIGGER attempt_doubled AFTER INSERT ON ${rows}.attempt
WHEN new.intent_seq IS NOT NULL AND EXISTS (
  SELECT 1 FROM ${rows}.attempt AS other WHERE other.intent_seq = new.intent_seq AND other.ended_at IS NULL AND other.seq <> new.seq)
BEGIN ${NOTE("P4", "'intent ' || new.intent_seq || ' was admitted while an attempt for it was open'")} END;

CREATE TEMP TRIGGER attempt_halted AFTER INSERT ON ${rows}.attempt
WHEN new.intent_seq IS NOT NULL AND EXISTS (SELECT 1 FROM main.stop WHERE kind = 'halt' AND scope IN ('*', new.specialist))
BEGIN ${NOTE("P5", "new.operation || ' was admitted for ' || new.specialist || ' while writes were halted'")} END;

CREATE TEMP TRIGGER attempt_forbidden AFTER INSERT ON ${rows}.attempt
WHEN new.intent_seq IS NOT NULL AND NOT EXISTS (
  SELECT 1 FROM allowed, json_each(allowed.may) WHERE allowed.specialist = new.specialist AND json_each.value = new.operation)
BEGIN ${NOTE("P5", "new.operation || ' was admitted for ' || new.specialist || ', who may not do it'")} END;

CREATE TEMP TRIGGER attempt_unapproved AFTER INSERT ON ${rows}.attempt
WHEN new.intent_seq IS NOT NULL
  AND EXISTS (SELECT 1 FROM allowed, json_each(allowed.review) WHERE allowed.specialist = new.specialist AND json_each.value = new.operation)
  AND NOT EXISTS (
    SELECT 1 FROM main.approval JOIN ${rows}.intent ON ${rows}.intent.id = main.approval.intent
    WHERE ${rows}.intent.seq = new.intent_seq AND main.approval.state = 'approved')
BEGIN ${NOTE("P5", "new.operation || ' was admitted for ' || new.specialist || ' without its approval'")} END;

CREATE TEMP TRIGGER hold_freed AFTER UPDATE OF state ON main.hold
WHEN new.state = 'released' AND coalesce((SELECT state FROM ${rows}.intent WHERE id = new.id), '') NOT IN ('refused', 'cancelled')
BEGIN ${NOTE("P2", "'the money of intent ' || new.id || ' was released while it was not refused'")} END;

CREATE TEMP TRIGGER hold_deleted AFTER DELETE ON main.hold
WHEN old.state = 'open'
BEGIN ${NOTE("P2", "'the hold of intent ' || old.id || ' was deleted while open'")} END;

CREATE TEMP TRIGGER hold_over_day AFTER INSERT ON main.hold
WHEN (SELECT sum(CASE state WHEN 'open' THEN amount ELSE posted END) FROM main.hold
      WHERE specialist = new.specialist AND currency = new.currency AND held_at > new.held_at - 86400000)
     > (SELECT per_day FROM allowed WHERE specialist = new.specialist)
BEGIN ${NOTE("P2", "new.specialist || ' holds and has spent more in 24 h than its cap of a day'")} END;

CREATE TEMP TRIGGER hold_over_total AFTER INSERT ON main.hold
WHEN (SELECT sum(CASE state WHEN 'open' THEN amount ELSE posted END) FROM main.hold
      WHERE specialist = new.specialist AND currency = new.currency)
     > (SELECT total FROM allowed WHERE specialist = new.specialist)
BEGIN ${NOTE("P2", "new.specialist || ' holds and has spent more than its cap in all'")} END;
`;

/** Lays them, on the store's own rows of events, intents and requests or on those a mirror keeps. A specialist's caps in network credits count; without one, nothing may be spent. */
export function installInvariants(db: Database, specialists: readonly Specialist[], rows: "main" | "temp" = "main"): Invariants {
  db.exec(triggers(rows));
  const allow = db.prepare("INSERT INTO allowed (specialist, may, review, per_day, total) VALUES (?, ?, ?, ?, ?)");
  for (const { handle, may, review, spend } of specialists) {
    const micros = (amounts: Specialist["spend"]["perDay"]): number | null =>
      amounts.find(({ currency }) => currency === "credits")?.micros ?? null;
    allow.run(handle, JSON.stringify(may), JSON.stringify(review), micros(spend.perDay), micros(spend.total));
  }
  const fresh = db.prepare("SELECT seq, promise, what FROM breach WHERE seq > ? ORDER BY seq LIMIT 100");
  let seen = 0;
  return {
    read() {
      const rows = fresh.all(seen);
      return rows.map((row) => {
        seen = Number(row["seq"]);
        return { promise: row["promise"] as Promised, what: String(row["what"]) }; // written above, nowhere else
      });
    },
  };
}

/** What a specialist's ledger says was spent or is held, in whole credits. */
export function creditsCounted(db: Database, handle: string): number {
  const row = db
    .prepare("SELECT coalesce(sum(CASE state WHEN 'open' THEN amount ELSE posted END), 0) AS micros FROM hold WHERE specialist = ?")
    .get(handle);
  return Number(row?.["micros"] ?? 0) / MICROS_PER_UNIT;
}
