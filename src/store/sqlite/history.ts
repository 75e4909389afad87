/** History queries in SQLite, and the pruning of old rows. */
import type { DatabaseSync } from "node:sqlite";
import { asHandle } from "../../core/ids.ts";
import { FINAL } from "../../outbox/intent.ts";
import { sqlStates, stateOf } from "./intent-states.ts";
import { readNote } from "../failure.ts";
import { HAS_FAILED } from "./inbox.ts";
import { INTENT_ROW, readIntent } from "./outbox.ts";
import { bytesOf, jsonOf, maybeNumber, maybeText, numberOf, textOf, type Row } from "./rows.ts";
import type { EventRow, FailureGroup, HeldIntents, HistoryStore, KeptDelivery, Retention } from "../history.ts";

/** Rows deleted of each table in one go, so that no commit is long. */
const PRUNE_BATCH = 1_000;

/** Every specialist with events, even one without a row, which has sent nothing yet. Walks the index of event ids. */
const WITH_HANDLES = `WITH RECURSIVE known (handle) AS (
  SELECT min(specialist) FROM event UNION ALL SELECT (SELECT min(specialist) FROM event WHERE specialist > handle) FROM known WHERE handle IS NOT NULL)`;

export function createHistory(db: DatabaseSync): HistoryStore {
  const list = db.prepare(`
    SELECT ${INTENT_ROW} FROM intent
    WHERE (?1 IS NULL OR specialist = ?1) AND created_at >= ?2 AND created_at <= ?3 AND (?4 IS NULL OR state IN (SELECT value FROM json_each(?4)))
      AND (?6 IS NULL OR operation = ?6 OR substr(operation, 1, length(?6) + 1) = ?6 || '.')
      AND (?7 IS NULL OR target = ?7 OR created_ref = ?7 OR thread = ?7 OR thread = 'job:' || ?7)
    ORDER BY seq DESC LIMIT 0 + ?5`);
  const counts = db.prepare("SELECT operation, state, count(*) AS n FROM intent WHERE specialist = ? GROUP BY operation, state");
  const handles = db.prepare("SELECT handle FROM specialist ORDER BY handle");
  const eventColumns = "seq, specialist, id, kind, state, note, attempts, not_before, created_at, done_at, payload";
  const events = db.prepare(`
    ${WITH_HANDLES}
    SELECT ${eventColumns} FROM event WHERE specialist IN (SELECT handle FROM known) AND id = ? ORDER BY seq DESC LIMIT 0 + ?`);
  const oneEvent = db.prepare(`SELECT ${eventColumns} FROM event WHERE seq = ?`);
  const jobs = db.prepare("SELECT state, count(*) AS n FROM watch WHERE specialist = ? AND kind = 'job' GROUP BY state");
  const keptColumns = "seq, specialist, id, kind, state, scheme, note, received_at, length(body) AS bytes";
  const isKept = "done_at IS NOT NULL AND body IS NOT NULL";
  const kept = db.prepare(`
    SELECT ${keptColumns} FROM delivery INDEXED BY delivery_leftover
    WHERE ${isKept} AND (?1 IS NULL OR specialist = ?1) AND (?2 IS NULL OR kind = ?2) AND seq < ?3 ORDER BY seq DESC LIMIT 0 + ?4`);
  const oneKept = db.prepare(`SELECT ${keptColumns}, body FROM delivery WHERE seq = ? AND ${isKept}`);
  return {
    intents: async ({ specialist, operation, since, until, object, states, limit }) =>
      list
        .all(
          specialist ?? null,
          since ?? 0,
          until ?? Number.MAX_SAFE_INTEGER,
          states === undefined ? null : JSON.stringify(states),
          limit,
          operation ?? null,
          object ?? null,
        )
        .map(readIntent),
    counts: async (specialist) =>
      counts.all(specialist).map((row) => ({ operation: textOf(row, "operation"), state: stateOf(row), count: numberOf(row, "n") })),
    handles: async () => handles.all().map((row) => asHandle(textOf(row, "handle"))),
    ...createFailures(db, eventColumns),
    findEvents: async (id, limit) => events.all(id, limit).map(readEvent),
    async eventOf({ eventSeq }) {
      const row = oneEvent.get(eventSeq);
      return row === undefined ? undefined : readEvent(row);
    },
    keptDeliveries: async ({ specialist, kind, before, limit }) =>
      kept.all(specialist ?? null, kind ?? null, before ?? Number.MAX_SAFE_INTEGER, limit).map(readKept),
    async keptDelivery(seq) {
      const row = oneKept.get(seq);
      return row === undefined ? undefined : { ...readKept(row), body: bytesOf(row, "body") };
    },
    jobCounts: async (specialist) => jobs.all(specialist).map((row) => ({ state: textOf(row, "state"), count: numberOf(row, "n") })),
  };
}

/** Failures, held intents, and events about an object: queries for people only. */
function createFailures(db: DatabaseSync, eventColumns: string): Pick<HistoryStore, "failing" | "failedEvents" | "eventsAbout" | "held"> {
  const failing = db.prepare(`
    SELECT alike.*, count(*) OVER () AS group_count, sum(n) OVER () AS event_count, ${columnsOf("event", eventColumns)} FROM (
      SELECT count(*) AS n, sum(state = 'parked') AS parked, max(json_extract(note, '$.tries')) AS tries,
        min(CASE WHEN state <> 'parked' THEN not_before END) AS next_at, max(seq) AS latest
      FROM event INDEXED BY event_failed
      WHERE ${HAS_FAILED} AND state <> 'done' AND (?1 IS NULL OR specialist = ?1) GROUP BY specialist, kind, json_extract(note, '$.pattern')
    ) AS alike JOIN event ON event.seq = alike.latest ORDER BY n DESC, latest DESC LIMIT 0 + ?2`);
  const failedAt = "CAST(substr(note, 11) AS INTEGER)";
  const failed = db.prepare(`
    SELECT ${eventColumns} FROM event INDEXED BY event_failed
    WHERE ${HAS_FAILED} AND (?1 IS NULL OR specialist = ?1) AND (?2 IS NULL OR kind = ?2 OR substr(kind, 1, length(?2) + 1) = ?2 || '.')
      AND ${failedAt} >= ?3 AND ${failedAt} <= ?4
    ORDER BY ${failedAt} DESC LIMIT 0 + ?5`);
  // An event id is kind:object, or kind:object#occurrence; "$" follows "#".
  const about = db.prepare(`
    ${WITH_HANDLES}
    SELECT ${columnsOf("event", eventColumns)} FROM known JOIN json_each(?1) AS name
    JOIN event ON event.specialist = known.handle AND event.id >= name.value AND event.id < name.value || '$'
    WHERE event.id = name.value OR substr(event.id, length(name.value) + 1, 1) = '#' ORDER BY event.seq DESC LIMIT 0 + ?2`);
  // One part for each state, because each has its own index. An intent that follows another one of its run waits for the same.
  const heldIn = (state: HeldIntents["state"]): string => `
    SELECT i.operation, i.lane, coalesce(i.code, head.code) AS why, max(coalesce(i.message, head.message)) AS message, count(*) AS n,
      min(max(i.next_at, coalesce(head.next_at, 0))) AS next_at, i.state
    FROM intent AS i LEFT JOIN intent AS head ON head.seq = (
      SELECT b.seq FROM intent AS b INDEXED BY intent_open
      WHERE b.event_seq = i.event_seq AND b.ordinal < i.ordinal AND b.state IN ${sqlStates(["ready", "sending"])} ORDER BY b.ordinal LIMIT 1)
    WHERE i.specialist = ?1 AND i.state = '${state}' GROUP BY i.operation, i.lane, why`;
  const held = db.prepare(`${heldIn("ready")} UNION ALL ${heldIn("proposed")} ORDER BY n DESC LIMIT 0 + ?2`);
  return {
    async failing(specialist, limit) {
      const rows = failing.all(specialist ?? null, limit);
      const [first] = rows;
      return {
        groups: rows.map(readGroup),
        groupCount: first === undefined ? 0 : numberOf(first, "group_count"),
        eventCount: first === undefined ? 0 : numberOf(first, "event_count"),
      };
    },
    failedEvents: async ({ specialist, kind, since, until, limit }) =>
      failed.all(specialist ?? null, kind ?? null, since ?? 0, until ?? Number.MAX_SAFE_INTEGER, limit).map(readEvent),
    eventsAbout: async (objects, kinds, limit) =>
      about.all(JSON.stringify(objects.flatMap((object) => kinds.map((kind) => `${kind}:${object}`))), limit).map(readEvent),
    held: async (specialist, limit) =>
      held.all(specialist, limit).map((row) => ({
        operation: textOf(row, "operation"),
        lane: textOf(row, "lane"),
        state: textOf(row, "state") === "proposed" ? "proposed" : "ready",
        code: maybeText(row, "why"),
        message: maybeText(row, "message"),
        count: numberOf(row, "n"),
        nextAt: numberOf(row, "next_at"),
      })),
  };
}

const columnsOf = (table: string, columns: string): string =>
  columns
    .split(", ")
    .map((column) => `${table}.${column}`)
    .join(", ");

function readGroup(row: Row): FailureGroup {
  const latest = readEvent(row);
  return {
    specialist: latest.specialist,
    kind: latest.kind,
    count: numberOf(row, "n"),
    parked: numberOf(row, "parked"),
    tries: maybeNumber(row, "tries") ?? 1,
    nextAt: maybeNumber(row, "next_at"),
    latest,
  };
}

function readEvent(row: Row): EventRow {
  return {
    seq: numberOf(row, "seq"),
    specialist: asHandle(textOf(row, "specialist")),
    id: textOf(row, "id"),
    kind: textOf(row, "kind"),
    state: textOf(row, "state"),
    ...readNote(maybeText(row, "note")),
    attempts: numberOf(row, "attempts"),
    notBefore: numberOf(row, "not_before"),
    createdAt: numberOf(row, "created_at"),
    doneAt: maybeNumber(row, "done_at"),
    payload: jsonOf(row, "payload"),
  };
}

/** Deletes rows past their retention, a bounded number. Inside a transaction the caller owns. */
export function createPrune(db: DatabaseSync): (now: number, retention: Retention) => number {
  const remove = (table: string, where: string) =>
    db.prepare(`DELETE FROM ${table} WHERE seq IN (SELECT seq FROM ${table} WHERE ${where} LIMIT ${PRUNE_BATCH})`);
  const attempts = remove("attempt", "ended_at IS NOT NULL AND ended_at < ?");
  const events = remove("event", "state = 'done' AND done_at < ?");
  const intents = remove("intent", `settled_at IS NOT NULL AND settled_at < ? AND state IN ${sqlStates(FINAL)}`);
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
