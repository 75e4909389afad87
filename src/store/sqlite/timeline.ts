/** A specialist's timeline in SQLite: five statements a page, each by an index and the few facts after the last roll-up. */
import type { DatabaseSync } from "node:sqlite";
import { parseJson } from "../../core/json.ts";
import type { OutcomeClass } from "../../contract/call.ts";
import { defined } from "../../core/defined.ts";
import type { Intent } from "../../outbox/intent.ts";
import { INTENTS_OF_RUN } from "../../live/facts.ts";
import type { ReadTable } from "../people-reads.ts";
import { MAX_REQUESTS, MAX_STEPS, MAX_TEXT, type StoredRequest, type TimelineRow } from "../timeline.ts";
import { eventColumns, NEWEST_OF, readEvent, RUN } from "./event-history.ts";
import { intentRow, readIntent } from "./intent-rows.ts";
import { ROLLED } from "./fact-indexes.ts";
import { maybeNumber, maybeText, numberOf, textOf, type Row } from "./columns.ts";

/** A JSON object without its nested values, and with its texts cut: a payload may have a megabyte. */
const brief = (json: string): string =>
  `('' || (
    SELECT json_group_object('' || key, iif(type = 'text', substr(value, 1, ${MAX_TEXT}), value)) FROM json_each(${json})
    WHERE key IS NOT NULL AND type NOT IN ('object', 'array')))`;
const WANTED = "(SELECT value AS number FROM json_each(?1)) AS wanted";

export function createTimeline(db: DatabaseSync): Pick<ReadTable, "timeline"> {
  const events = db.prepare(`
    SELECT ${eventColumns(brief("event.payload"))}, ${RUN} AS run
    FROM ${NEWEST_OF} AS page CROSS JOIN main.event ON event.seq = page.seq ORDER BY event.seq DESC`);
  const total = db.prepare(`
    SELECT (SELECT count(*) FROM event_of WHERE specialist = ?1) +
      (SELECT count(*) FROM main.event WHERE seq > ${ROLLED} AND specialist = ?1) AS n`);
  const steps = db.prepare(`
    SELECT event_seq, name, octet_length(value) AS bytes FROM ${WANTED} CROSS JOIN step ON step.event_seq = wanted.number
    ORDER BY event_seq, name`);
  // An intent's number is made of its run's.
  const intents = db.prepare(`
    SELECT ${intentRow(brief("input"))} FROM ${WANTED} CROSS JOIN main.intent
      ON intent.seq >= wanted.number * ${INTENTS_OF_RUN} AND intent.seq < (wanted.number + 1) * ${INTENTS_OF_RUN}
    ORDER BY intent.seq`);
  // An answer follows its request within the request's deadline.
  const requests = db.prepare(`
    WITH sent AS (
      SELECT attempt_of.intent, attempt_of.seq FROM ${WANTED} CROSS JOIN attempt_of ON attempt_of.intent = wanted.number
      UNION ALL SELECT intent, seq FROM main.attempt WHERE seq > ${ROLLED} AND intent IN (SELECT value FROM json_each(?1))
    ), ranked AS (SELECT intent, seq, row_number() OVER (PARTITION BY intent ORDER BY seq DESC) AS back FROM sent)
    SELECT ranked.intent, attempt.at, (
      SELECT json_array(answer.at, outcome, status, note) FROM main.answer
      WHERE answer.seq >= ranked.seq AND answer.attempt = ranked.seq LIMIT 1) AS answer
    FROM ranked CROSS JOIN main.attempt ON attempt.seq = ranked.seq WHERE back <= ${MAX_REQUESTS} ORDER BY ranked.seq`);
  return {
    timeline({ specialist, before, limit }) {
      const page = events.all(specialist, before ?? Number.MAX_SAFE_INTEGER, limit);
      const wanted = (numbers: readonly number[]): string => JSON.stringify(numbers);
      const stepsOf = grouped(steps.all(wanted(page.map((row) => numberOf(row, "seq")))), "event_seq", readStep);
      const actions = intents.all(wanted(page.flatMap((row) => maybeNumber(row, "run") ?? []))).map(readIntent);
      const requestsOf = grouped(requests.all(wanted(actions.map(({ seq }) => seq))), "intent", readRequest);
      const actionsOf = Map.groupBy(actions, ({ eventSeq }) => eventSeq);
      const rows = page.map((row): TimelineRow => {
        const event = readEvent(row);
        const all = stepsOf.get(event.seq) ?? [];
        const mine: readonly Intent[] = actionsOf.get(event.seq) ?? [];
        return {
          event,
          steps: all.slice(0, MAX_STEPS),
          stepCount: all.length,
          actions: mine.map((intent) => ({ intent, requests: requestsOf.get(intent.seq) ?? [] })),
        };
      });
      return { rows, total: numberOf(total.get(specialist) ?? {}, "n") };
    },
  };
}

function grouped<Value>(rows: readonly Row[], by: string, read: (row: Row) => Value): ReadonlyMap<number, readonly Value[]> {
  const groups = Map.groupBy(rows, (row) => numberOf(row, by));
  return new Map([...groups].map(([key, all]) => [key, all.map(read)]));
}

function readStep(row: Row): TimelineRow["steps"][number] {
  return { name: textOf(row, "name"), bytes: numberOf(row, "bytes") };
}

function readRequest(row: Row): StoredRequest {
  const answer = parseJson(maybeText(row, "answer") ?? "null");
  const [endedAt, outcome, status, note] = Array.isArray(answer) ? answer : [];
  return defined({
    at: numberOf(row, "at"),
    endedAt: typeof endedAt === "number" ? endedAt : undefined,
    outcome: typeof outcome === "string" ? (outcome as OutcomeClass) : undefined,
    status: typeof status === "number" ? status : undefined,
    note: typeof note === "string" ? note : undefined,
  });
}
