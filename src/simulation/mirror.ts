/** Mirrors facts as rows of events, intents and requests, for oracles that query rows: in the same transactions as the facts. */
import type { Fact } from "../live/facts.ts";
import type { LiveIntent } from "../live/live-intent.ts";
import type { OpenDatabase } from "../store/sqlite/database.ts";
import type { Observe } from "../store/sqlite/fact-log.ts";

/** Temporary tables hide the store's tables of the same names. */
const TABLES = `
CREATE TEMP TABLE event (seq INTEGER PRIMARY KEY, specialist TEXT, id TEXT, kind TEXT, payload TEXT, delivery TEXT, state TEXT, note TEXT, created_at INTEGER);
CREATE INDEX temp.mirrored_event ON event (specialist, id);
CREATE INDEX temp.mirrored_delivery ON event (delivery) WHERE delivery IS NOT NULL;
CREATE TEMP TABLE intent (seq INTEGER PRIMARY KEY, id TEXT, specialist TEXT, operation TEXT, effect TEXT, conflict_key TEXT, target TEXT,
  target_intent TEXT, created_at INTEGER, state TEXT, code TEXT, attempt INTEGER, checks INTEGER, ever_unknown INTEGER);
CREATE INDEX temp.mirrored_intent ON intent (id);
CREATE INDEX temp.mirrored_conflict ON intent (conflict_key) WHERE state IN ('sending', 'in_doubt');
CREATE TEMP TABLE attempt (seq INTEGER PRIMARY KEY, specialist TEXT, key_id TEXT, intent_seq INTEGER, operation TEXT, started_at INTEGER, ended_at INTEGER);
CREATE INDEX temp.mirrored_attempt ON attempt (intent_seq) WHERE intent_seq IS NOT NULL;
CREATE INDEX temp.mirrored_open ON attempt (seq) WHERE ended_at IS NULL;`;

/** Creates the tables. Returns a function to call with each applied fact. */
export function createMirror(db: OpenDatabase["db"]): Observe {
  db.exec(TABLES);
  const event = db.prepare(
    "INSERT INTO temp.event (seq, specialist, id, kind, payload, delivery, state, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
  );
  const eventState = db.prepare("UPDATE temp.event SET state = ?2, note = ?3 WHERE seq = ?1");
  const intent = db.prepare(`
    INSERT INTO temp.intent (seq, id, specialist, operation, effect, conflict_key, target, target_intent, created_at, state, code, attempt, checks, ever_unknown)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, ?)`);
  const intentState = db.prepare(
    "UPDATE temp.intent SET state = ?2, code = ?3, attempt = ?4, checks = ?5, ever_unknown = ?6, target = ?7 WHERE seq = ?1",
  );
  const attempt = db.prepare(
    "INSERT INTO temp.attempt (seq, specialist, key_id, intent_seq, operation, started_at) VALUES (?, ?, ?, ?, ?, ?)",
  );
  const answer = db.prepare("UPDATE temp.attempt SET ended_at = ?2 WHERE seq = ?1 RETURNING intent_seq");
  const set = (one: LiveIntent | undefined): void => {
    if (one === undefined) return;
    intentState.run(one.seq, one.state, one.code ?? null, one.attempt, one.checks, one.everUnknown ? 1 : 0, one.target ?? null);
  };
  return (fact: Fact, present) => {
    switch (fact.fact) {
      case "event": {
        const state = fact.begun ? "running" : "ready";
        event.run(fact.seq, fact.specialist, fact.id, fact.kind, fact.payload, fact.delivery ?? null, state, fact.at);
        return;
      }
      case "run":
        eventState.run(fact.event, "done", null);
        for (const { id } of fact.intents) {
          const one = present.byId(id);
          if (one === undefined) continue;
          const { seq, specialist, operation, effect, conflictKey, target, targetIntent, createdAt, state, code, everUnknown } = one;
          const about = [seq, id, specialist, operation, effect, conflictKey, target ?? null, targetIntent ?? null, createdAt] as const;
          intent.run(...about, state, code ?? null, everUnknown ? 1 : 0);
        }
        return;
      case "attempt":
        attempt.run(fact.seq, fact.specialist, fact.key, fact.intent ?? null, fact.operation, fact.at);
        if (fact.intent !== undefined) set(present.intents.get(fact.intent));
        return;
      case "answer": {
        const of = answer.get(fact.attempt, fact.at)?.["intent_seq"];
        if (typeof of === "number") set(present.intents.get(of));
        return;
      }
      case "change":
        if (fact.of === "intent") return set(present.intents.get(fact.subject));
        const changed = present.events.get(fact.subject);
        if (changed === undefined) return;
        eventState.run(changed.seq, changed.begun && changed.state === "ready" ? "running" : changed.state, changed.note ?? null);
    }
  };
}
