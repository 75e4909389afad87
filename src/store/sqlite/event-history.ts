/** History queries for events in SQLite: facts of an event with its state, each list in one statement. */
import type { DatabaseSync } from "node:sqlite";
import { asEventId, asHandle } from "../../core/ids.ts";
import type { LiveEvent } from "../../live/live-event.ts";
import { FAILED_NOTE, readNote } from "../failure.ts";
import type { EventRow, FailureGroup } from "../history.ts";
import type { ParkedEvent } from "../inbox.ts";
import type { ReadTable } from "../people-reads.ts";
import { OPEN } from "./fold.ts";
import { FAILURE_TEXT, isOfKind } from "./history.ts";
import { ROLLED } from "./fact-indexes.ts";
import { allOccurIn, patternsOf } from "./word-search.ts";
import { jsonOf, maybeNumber, maybeText, numberOf, objectOf, textOf, type Row } from "./columns.ts";

type EventHistory = Pick<
  ReadTable,
  "findEvents" | "eventsAbout" | "eventsOf" | "eventOf" | "failing" | "failedEvents" | "parkedEvents" | "parkedEventCount"
>;

const OPEN_STATE = `(SELECT state FROM main.open WHERE open.kind = ${OPEN.event} AND open.seq = event.seq)`;
/** The last failed handling, by the index of failures. */
const failed = (name: string): string => `(
  SELECT json_extract(change, '$.${name}') FROM main.change INDEXED BY change_failed
  WHERE subject = event.seq AND failed_at IS NOT NULL ORDER BY failed_at DESC, seq DESC LIMIT 1)`;
/** The number of the run that handled an event: after the last roll-up it is nearly always among the next few rows. */
export const RUN = `iif(${OPEN_STATE} IS NULL, coalesce(
  (SELECT run FROM event_of WHERE event_of.specialist = event.specialist AND event_of.seq = event.seq),
  (SELECT run.seq FROM main.run WHERE run.seq > max(event.seq, ${ROLLED}) AND run.event = event.seq LIMIT 1)), NULL)`;

/** The columns of an event, of which another expression may be the payload. */
export const eventColumns = (payload = "event.payload"): string => `
  event.seq, event.specialist, event.id, event.kind, ${payload} AS payload, event.created_at, ${OPEN_STATE} AS open_state,
  ${failed("note")} AS note, ${failed("attempts")} AS attempts, (SELECT at FROM main.run WHERE run.seq = ${RUN}) AS done_at`;

/** The numbers of a specialist's events (?1) before a number (?2), newest first, at most ?3. */
export const NEWEST_OF = `(
  SELECT seq FROM main.event WHERE seq > ${ROLLED} AND seq < ?2 AND specialist = ?1
  UNION ALL SELECT seq FROM event_of WHERE specialist = ?1 AND seq < ?2
  ORDER BY seq DESC LIMIT 0 + ?3)`;

export function createEventHistory(db: DatabaseSync): EventHistory {
  const select = (from: string) => db.prepare(`SELECT ${eventColumns()} ${from}`);
  const byId = select("FROM main.event WHERE id = ? ORDER BY seq DESC LIMIT 0 + ?");
  const one = select("FROM main.event WHERE seq = ?");
  // An event id is kind:object, or kind:object#occurrence; "$" follows "#".
  const about = select(`
    FROM json_each(?1) AS name CROSS JOIN main.event ON event.id >= name.value AND event.id < name.value || '$'
    WHERE event.id = name.value OR substr(event.id, length(name.value) + 1, 1) = '#' ORDER BY event.seq DESC LIMIT 0 + ?2`);
  const newest = select(`FROM ${NEWEST_OF} AS page CROSS JOIN main.event ON event.seq = page.seq ORDER BY event.seq DESC`);
  const isParked = `open.kind = ${OPEN.event} AND json_extract(open.state, '$.state') = 'parked'`;
  const parked = select(`
    FROM main.open CROSS JOIN main.event ON event.seq = open.seq WHERE ${isParked} AND (?1 IS NULL OR event.specialist = ?1)
    ORDER BY open.seq DESC LIMIT 0 + ?2`);
  const parkedCount = db.prepare(`SELECT count(*) AS n FROM main.open WHERE ${isParked}`);
  return {
    eventOf({ eventSeq }) {
      const row = one.get(eventSeq);
      return row === undefined ? undefined : readEvent(row);
    },
    findEvents: (id, limit) => byId.all(id, limit).map(readEvent),
    eventsAbout(objects, kinds, limit) {
      const names = objects.flatMap((object) => kinds.map((kind) => `${kind}:${object}`));
      return about.all(JSON.stringify(names), limit).map(readEvent);
    },
    eventsOf: (specialist, limit) => newest.all(specialist, Number.MAX_SAFE_INTEGER, limit).map(readEvent),
    parkedEvents: (specialist, limit) => parked.all(specialist ?? null, limit).map(readParked),
    parkedEventCount: () => numberOf(parkedCount.get() ?? {}, "n"),
    ...createFailures(db),
  };
}

/** An event as its row has it; the handler that has it is known to the process alone. */
export function readEvent(row: Row): EventRow {
  return {
    seq: numberOf(row, "seq"),
    specialist: asHandle(textOf(row, "specialist")),
    id: textOf(row, "id"),
    kind: textOf(row, "kind"),
    createdAt: numberOf(row, "created_at"),
    payload: jsonOf(row, "payload"),
    ...(row["open_state"] === null ? endIn(row) : openStateIn(row)),
  };
}

function readParked(row: Row): ParkedEvent {
  const { seq, specialist, id, kind, attempts, note = "", failure, doneAt: parkedAt = 0 } = readEvent(row);
  return { seq, specialist, id: asEventId(id), kind, attempts, note, parkedAt, ...(failure === undefined ? {} : { failure }) };
}

type State = Pick<EventRow, "state" | "note" | "failure" | "attempts" | "notBefore" | "doneAt">;

/** The state of an event in memory. */
export function stateOf({
  state,
  isClaimed,
  note,
  attempts,
  notBefore,
  parkedAt,
}: Pick<LiveEvent, "state" | "isClaimed" | "note" | "attempts" | "notBefore" | "parkedAt">): State {
  return { state: isClaimed ? "running" : state, ...readNote(note), attempts, notBefore, doneAt: parkedAt };
}

/** The state of an event that is not done; a field that is missing was never changed. */
function openStateIn(row: Row): State {
  const { state, note, attempts, notBefore, parkedAt } = objectOf(row, "open_state");
  return stateOf({
    state: state === "parked" ? state : "ready",
    isClaimed: false,
    note: typeof note === "string" ? note : undefined,
    attempts: Number(attempts ?? 0),
    notBefore: Number(notBefore ?? 0),
    parkedAt: typeof parkedAt === "number" ? parkedAt : undefined,
  });
}

/** The state of a handled event: its run, and its last failed handling. */
function endIn(row: Row): State {
  return {
    state: "done",
    ...readNote(maybeText(row, "note")),
    attempts: maybeNumber(row, "attempts") ?? 0,
    notBefore: 0,
    doneAt: maybeNumber(row, "done_at"),
  };
}

function createFailures(db: DatabaseSync): Pick<EventHistory, "failing" | "failedEvents"> {
  const state = (name: string): string => `json_extract(open.state, '$.${name}')`;
  const groups = `
    SELECT count(*) AS n, sum(${state("state")} = 'parked') AS parked, max(json_extract(${state("note")}, '$.tries')) AS tries,
      min(CASE WHEN ${state("state")} <> 'parked' THEN ${state("notBefore")} END) AS next_at, max(event.seq) AS latest,
      count(*) OVER () AS group_count, sum(count(*)) OVER () AS event_count,
      sum(sum(${state("state")} = 'parked')) OVER () AS parked_count
    FROM main.open JOIN main.event ON event.seq = open.seq
    WHERE open.kind = ${OPEN.event} AND substr(${state("note")}, 1, ${FAILED_NOTE.length}) = '${FAILED_NOTE}' AND (?1 IS NULL OR specialist = ?1)
    GROUP BY specialist, event.kind, json_extract(${state("note")}, '$.pattern') ORDER BY n DESC, latest DESC LIMIT 0 + ?2`;
  const failing = db.prepare(
    `SELECT ${eventColumns()}, failing.* FROM (${groups}) AS failing CROSS JOIN main.event ON event.seq = failing.latest`,
  );
  // The columns are read for the page alone: a sort reads them for every row.
  const failures = db.prepare(`
    SELECT ${eventColumns()} FROM (
      SELECT event.seq, at FROM (
        SELECT subject, max(failed_at) AS at FROM main.change INDEXED BY change_failed WHERE failed_at IS NOT NULL GROUP BY subject
      ) AS failure JOIN main.event ON event.seq = failure.subject
      WHERE at >= ?3 AND at <= ?4 AND (?1 IS NULL OR specialist = ?1) AND ${isOfKind("kind", "?2")}
        AND ${allOccurIn(FAILURE_TEXT, "?6")}
      ORDER BY at DESC, event.seq DESC LIMIT 0 + ?5
    ) AS page CROSS JOIN main.event ON event.seq = page.seq ORDER BY page.at DESC, event.seq DESC`);
  const readGroup = (row: Row): FailureGroup => {
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
  };
  return {
    failing(specialist, limit) {
      const groups = failing.all(specialist ?? null, limit);
      const [first] = groups;
      return {
        groups: groups.map(readGroup),
        groupCount: first === undefined ? 0 : numberOf(first, "group_count"),
        eventCount: first === undefined ? 0 : numberOf(first, "event_count"),
        parkedCount: first === undefined ? 0 : numberOf(first, "parked_count"),
      };
    },
    failedEvents: ({ specialist, kind, since, until, search, limit }) =>
      failures
        .all(specialist ?? null, kind ?? null, since ?? 0, until ?? Number.MAX_SAFE_INTEGER, limit, patternsOf(search))
        .map(readEvent),
  };
}
