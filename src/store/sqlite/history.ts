/** What people ask of the store: intents as they went, counts, and the pruning of what is long over. */
import type { DatabaseSync } from "node:sqlite";
import { asHandle } from "../../core/ids.ts";
import { INTENT_ROW, readIntent } from "./outbox.ts";
import { bytesOf, jsonOf, maybeNumber, maybeText, numberOf, textOf, type Row } from "./rows.ts";
import type { EventRow, HistoryStore, KeptDelivery, Retention } from "../history.ts";

/** Rows deleted of each table in one go, so that no commit is long. */
const PRUNE_BATCH = 1_000;

export function createHistory(db: DatabaseSync): HistoryStore {
  const eventColumns = "specialist, id, kind, state, note, attempts, not_before, created_at, done_at, payload";
  const events = db.prepare(`
    SELECT ${eventColumns} FROM event
    WHERE specialist IN (SELECT handle FROM specialist UNION SELECT specialist FROM event WHERE state = 'parked') AND id = ?
    ORDER BY seq DESC LIMIT 0 + ?`);
  const oneEvent = db.prepare(`SELECT ${eventColumns} FROM event WHERE seq = ?`);
  return {
    ...createIntentHistory(db),
    findEvents: async (id, limit) => events.all(id, limit).map(readEvent),
    async eventOf({ eventSeq }) {
      const row = oneEvent.get(eventSeq);
      return row === undefined ? undefined : readEvent(row);
    },
  };
}

/** All but events. */
export function createIntentHistory(db: DatabaseSync): Omit<HistoryStore, "findEvents" | "eventOf"> {
  const list = db.prepare(`
    SELECT ${INTENT_ROW} FROM main.intent
    WHERE (?1 IS NULL OR specialist = ?1) AND created_at >= ?2 AND seq < ?3 AND (?4 IS NULL OR state IN (SELECT value FROM json_each(?4)))
      AND (?6 IS NULL OR operation = ?6 OR substr(operation, 1, length(?6) + 1) = ?6 || '.')
    ORDER BY seq DESC LIMIT 0 + ?5`);
  const counts = db.prepare("SELECT operation, state, count(*) AS n FROM main.intent WHERE specialist = ? GROUP BY operation, state");
  const handles = db.prepare("SELECT handle FROM specialist ORDER BY handle");
  const jobs = db.prepare("SELECT state, count(*) AS n FROM watch WHERE specialist = ? AND kind = 'job' GROUP BY state");
  const keptColumns = "seq, specialist, id, kind, state, scheme, note, received_at, length(body) AS bytes";
  const isKept = "done_at IS NOT NULL AND body IS NOT NULL";
  const kept = db.prepare(`
    SELECT ${keptColumns} FROM delivery INDEXED BY delivery_leftover
    WHERE ${isKept} AND (?1 IS NULL OR specialist = ?1) AND (?2 IS NULL OR kind = ?2) AND seq < ?3 ORDER BY seq DESC LIMIT 0 + ?4`);
  const oneKept = db.prepare(`SELECT ${keptColumns}, body FROM delivery WHERE seq = ? AND ${isKept}`);
  return {
    intents: async ({ specialist, operation, since, before, states, limit }) =>
      list
        .all(
          specialist ?? null,
          since ?? 0,
          before ?? Number.MAX_SAFE_INTEGER,
          states === undefined ? null : JSON.stringify(states),
          limit,
          operation ?? null,
        )
        .map(readIntent),
    counts: async (specialist) =>
      counts
        .all(specialist)
        .map((row) => ({ operation: textOf(row, "operation"), state: textOf(row, "state"), count: numberOf(row, "n") })),
    handles: async () => handles.all().map((row) => asHandle(textOf(row, "handle"))),
    keptDeliveries: async ({ specialist, kind, before, limit }) =>
      kept.all(specialist ?? null, kind ?? null, before ?? Number.MAX_SAFE_INTEGER, limit).map(readKept),
    async keptDelivery(seq) {
      const row = oneKept.get(seq);
      return row === undefined ? undefined : { ...readKept(row), body: bytesOf(row, "body") };
    },
    jobCounts: async (specialist) => jobs.all(specialist).map((row) => ({ state: textOf(row, "state"), count: numberOf(row, "n") })),
  };
}

function readEvent(row: Row): EventRow {
  return {
    specialist: asHandle(textOf(row, "specialist")),
    id: textOf(row, "id"),
    kind: textOf(row, "kind"),
    state: textOf(row, "state"),
    note: maybeText(row, "note"),
    attempts: numberOf(row, "attempts"),
    notBefore: numberOf(row, "not_before"),
    createdAt: numberOf(row, "created_at"),
    doneAt: maybeNumber(row, "done_at"),
    payload: jsonOf(row, "payload"),
  };
}

/** Deletes what is past its retention, a bounded number of rows. Inside a transaction the caller owns. */
export function createPrune(db: DatabaseSync): (now: number, retention: Retention) => number {
  const remove = (table: string, where: string) =>
    db.prepare(`DELETE FROM ${table} WHERE seq IN (SELECT seq FROM ${table} WHERE ${where} LIMIT ${PRUNE_BATCH})`);
  const attempts = remove("attempt", "ended_at IS NOT NULL AND ended_at < ?");
  const events = remove("event", "state = 'done' AND done_at < ?");
  const intents = remove("intent", "settled_at IS NOT NULL AND settled_at < ? AND state IN ('confirmed', 'refused', 'cancelled')");
  return (now, { eventsMs, intentsMs, requestsMs }) =>
    Number(attempts.run(now - requestsMs).changes) +
    Number(events.run(now - eventsMs).changes) +
    Number(intents.run(now - intentsMs).changes);
}

function readKept(row: Row): KeptDelivery {
  return {
    seq: numberOf(row, "seq"),
    specialist: asHandle(textOf(row, "specialist")),
    id: textOf(row, "id"),
    kind: maybeText(row, "kind"),
    state: textOf(row, "state"),
    scheme: textOf(row, "scheme"),
    note: maybeText(row, "note"),
    receivedAt: numberOf(row, "received_at"),
    bytes: numberOf(row, "bytes"),
  };
}
