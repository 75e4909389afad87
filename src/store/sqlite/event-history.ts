/** History queries for events in SQLite: facts of an event, joined with its state in memory or in its open row. */
import type { DatabaseSync } from "node:sqlite";
import { asHandle } from "../../core/ids.ts";
import type { LiveEvent } from "../../live/live-event.ts";
import { FAILED_NOTE, readNote } from "../failure.ts";
import { MAX_EVENTS_LOOKED_AT, type EventRow, type FailureGroup, type HistoryStore } from "../history.ts";
import { OPEN } from "./fold.ts";
import { FAILURE_TEXT, isOfKind, type HistoryParts } from "./history.ts";
import { allOccurIn, patternsOf } from "./word-search.ts";
import { jsonOf, maybeNumber, maybeText, numberOf, textOf, type Row } from "./columns.ts";

type EventHistory = Pick<HistoryStore, "findEvents" | "eventsAbout" | "eventsOf" | "eventOf" | "failing" | "failedEvents">;

const COLUMNS = "event.seq, event.specialist, event.id, event.kind, event.payload, event.created_at";

export function createEventHistory(db: DatabaseSync, { present, rows, foldNow }: HistoryParts): EventHistory {
  const byId = db.prepare(`SELECT ${COLUMNS} FROM main.event WHERE id = ? ORDER BY seq DESC LIMIT 0 + ?`);
  const one = db.prepare(`SELECT ${COLUMNS} FROM main.event WHERE seq = ?`);
  // An event id is kind:object, or kind:object#occurrence; "$" follows "#".
  const about = db.prepare(`
    SELECT ${COLUMNS} FROM json_each(?1) AS name CROSS JOIN main.event ON event.id >= name.value AND event.id < name.value || '$'
    WHERE event.id = name.value OR substr(event.id, length(name.value) + 1, 1) = '#' ORDER BY event.seq DESC LIMIT 0 + ?2`);
  const newest = db.prepare(`
    SELECT ${COLUMNS} FROM (SELECT * FROM main.event ORDER BY seq DESC LIMIT ${MAX_EVENTS_LOOKED_AT}) AS event
    WHERE specialist = ? ORDER BY seq DESC LIMIT 0 + ?`);
  const endOf = createEndOf(db);
  const eventRow = (row: Row): EventRow => {
    const seq = numberOf(row, "seq");
    const live = present.events.get(seq) ?? rows.openEvent(seq);
    return {
      seq,
      specialist: asHandle(textOf(row, "specialist")),
      id: textOf(row, "id"),
      kind: textOf(row, "kind"),
      createdAt: numberOf(row, "created_at"),
      payload: jsonOf(row, "payload"),
      ...(live === undefined ? endOf(seq) : stateOf(live)),
    };
  };
  return {
    async eventOf({ eventSeq }) {
      foldNow();
      const row = one.get(eventSeq);
      return row === undefined ? undefined : eventRow(row);
    },
    async findEvents(id, limit) {
      foldNow();
      return byId.all(id, limit).map(eventRow);
    },
    async eventsAbout(objects, kinds, limit) {
      foldNow();
      const names = objects.flatMap((object) => kinds.map((kind) => `${kind}:${object}`));
      return about.all(JSON.stringify(names), limit).map(eventRow);
    },
    async eventsOf(specialist, limit) {
      foldNow();
      return newest.all(specialist, limit).map(eventRow);
    },
    ...createFailures(db, foldNow, (seq) => one.all(seq).map(eventRow)),
  };
}

type State = Pick<EventRow, "state" | "note" | "failure" | "attempts" | "notBefore" | "doneAt">;

function stateOf({ state, isClaimed, note, attempts, notBefore, parkedAt }: LiveEvent): State {
  return { state: isClaimed ? "running" : state, ...readNote(note), attempts, notBefore, doneAt: parkedAt };
}

/** The state of a handled event: its run, and its last failed handling. */
function createEndOf(db: DatabaseSync): (event: number) => State {
  // Nearly always among the next few rows: a run follows its event.
  const doneAt = db.prepare("SELECT at FROM main.run WHERE seq >= ?1 AND event = ?1 LIMIT 1");
  const failed = db.prepare(`
    SELECT json_extract(change, '$.note') AS note, json_extract(change, '$.attempts') AS attempts
    FROM main.change INDEXED BY change_failed WHERE subject = ? AND failed_at IS NOT NULL ORDER BY failed_at DESC, seq DESC LIMIT 1`);
  return (event) => {
    const run = doneAt.get(event);
    const failure = failed.get(event) ?? {};
    return {
      state: "done",
      ...readNote(maybeText(failure, "note")),
      attempts: maybeNumber(failure, "attempts") ?? 0,
      notBefore: 0,
      doneAt: run === undefined ? undefined : maybeNumber(run, "at"),
    };
  };
}

function createFailures(
  db: DatabaseSync,
  foldNow: () => void,
  eventRows: (seq: number) => readonly EventRow[],
): Pick<EventHistory, "failing" | "failedEvents"> {
  const state = (name: string): string => `json_extract(open.state, '$.${name}')`;
  const failing = db.prepare(`
    SELECT count(*) AS n, sum(${state("state")} = 'parked') AS parked, max(json_extract(${state("note")}, '$.tries')) AS tries,
      min(CASE WHEN ${state("state")} <> 'parked' THEN ${state("notBefore")} END) AS next_at, max(event.seq) AS latest,
      count(*) OVER () AS group_count, sum(count(*)) OVER () AS event_count,
      sum(sum(${state("state")} = 'parked')) OVER () AS parked_count
    FROM main.open JOIN main.event ON event.seq = open.seq
    WHERE open.kind = ${OPEN.event} AND substr(${state("note")}, 1, ${FAILED_NOTE.length}) = '${FAILED_NOTE}' AND (?1 IS NULL OR specialist = ?1)
    GROUP BY specialist, event.kind, json_extract(${state("note")}, '$.pattern') ORDER BY n DESC, latest DESC LIMIT 0 + ?2`);
  const failed = db.prepare(`
    SELECT event.seq FROM (
      SELECT subject, max(failed_at) AS at FROM main.change INDEXED BY change_failed WHERE failed_at IS NOT NULL GROUP BY subject
    ) AS failure JOIN main.event ON event.seq = failure.subject
    WHERE at >= ?3 AND at <= ?4 AND (?1 IS NULL OR specialist = ?1) AND ${isOfKind("kind", "?2")}
      AND ${allOccurIn(FAILURE_TEXT, "?6")}
    ORDER BY at DESC, event.seq DESC LIMIT 0 + ?5`);
  const readGroup = (row: Row): readonly FailureGroup[] =>
    eventRows(numberOf(row, "latest")).map((latest) => ({
      specialist: latest.specialist,
      kind: latest.kind,
      count: numberOf(row, "n"),
      parked: numberOf(row, "parked"),
      tries: maybeNumber(row, "tries") ?? 1,
      nextAt: maybeNumber(row, "next_at"),
      latest,
    }));
  return {
    async failing(specialist, limit) {
      foldNow();
      const groups = failing.all(specialist ?? null, limit);
      const [first] = groups;
      return {
        groups: groups.flatMap(readGroup),
        groupCount: first === undefined ? 0 : numberOf(first, "group_count"),
        eventCount: first === undefined ? 0 : numberOf(first, "event_count"),
        parkedCount: first === undefined ? 0 : numberOf(first, "parked_count"),
      };
    },
    async failedEvents({ specialist, kind, since, until, search, limit }) {
      foldNow();
      return failed
        .all(specialist ?? null, kind ?? null, since ?? 0, until ?? Number.MAX_SAFE_INTEGER, limit, patternsOf(search))
        .flatMap((row) => eventRows(numberOf(row, "seq")));
    },
  };
}
