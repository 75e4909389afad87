/** History queries in SQLite, apart from events: intents and kept deliveries. */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { asHandle, type Handle } from "../../core/ids.ts";
import { MAX_SEARCHED, type KeptDelivery } from "../history.ts";
import type { ReadTable } from "../people-reads.ts";
import { allOccurIn, inJson, patternsOf } from "./word-search.ts";
import { INTENT_ROW, readIntent } from "./intent-rows.ts";
import { bytesOf, maybeText, numberOf, textOf, type Row } from "./columns.ts";

type IntentHistory = Pick<ReadTable, "intents" | "logTotal" | "searchEnd">;
type KeptHistory = Pick<ReadTable, "handles" | "keptDeliveries" | "keptDelivery">;

export function createHistory(db: DatabaseSync): IntentHistory & KeptHistory {
  return { ...createIntentHistory(db), ...createKept(db) };
}

/** Two statements, since a condition that may be open uses no index. */
function forOneOrAll(db: DatabaseSync, one: string, all: string): (specialist: Handle | undefined) => StatementSync {
  const [ofOne, ofAll] = [db.prepare(one), db.prepare(all)];
  return (specialist) => (specialist === undefined ? ofAll : ofOne);
}

const OF_ONE = "specialist = ?1";
const OF_ALL = "?1 IS NULL";

/** Orders of intents, each with the condition that ends a search. */
interface Order {
  readonly from: string;
  readonly newestFirst: string;
  readonly ending: string;
}

/** Numbers are in the order of time where one process gave them, and for each specialist everywhere. */
const BY_NUMBER: Order = { from: "main.intent", newestFirst: "seq DESC", ending: "seq > ?9" };
/** In a store that several processes wrote, a higher number may be older. The search ends by its time, and ?9 is bound all the same. */
const BY_TIME: Order = { from: "main.intent INDEXED BY intent_at", newestFirst: "created_at DESC, seq DESC", ending: "?9 IS NOT NULL" };

/** Makes a store list its intents by time: for one that several processes write. */
export function indexByTime(db: DatabaseSync): void {
  db.exec("CREATE INDEX IF NOT EXISTS main.intent_at ON intent (created_at)");
}

function orderOfAll(db: DatabaseSync): Order {
  return db.prepare("SELECT 1 FROM main.sqlite_schema WHERE name = 'intent_at'").get() === undefined ? BY_NUMBER : BY_TIME;
}

/** The condition that a name is the wanted one or begins with it and a separator; true for NULL. */
export const isOfKind = (name: string, value: string, separator = "."): string =>
  `(${value} IS NULL OR ${name} = ${value} OR substr(${name}, 1, length(${value}) + 1) = ${value} || '${separator}')`;

function createIntentHistory(db: DatabaseSync): IntentHistory {
  const ofAll = orderOfAll(db);
  const searched = allOccurIn("concat_ws(' ', id, specialist, operation, target, input, code, message)", "?8");
  const list = ({ from, newestFirst, ending }: Order, whose: string): string => `
    SELECT ${INTENT_ROW} FROM ${from}
    WHERE ${whose} AND created_at >= ?2 AND created_at <= ?3 AND (?4 IS NULL OR state IN (SELECT value FROM json_each(?4)))
      AND ${isOfKind("operation", "?6")} AND (?7 IS NULL OR target = ?7 OR created_ref = ?7 OR thread = ?7 OR thread = 'job:' || ?7)
      AND ${searched} AND ${ending}
    ORDER BY ${newestFirst} LIMIT 0 + ?5`;
  const end = ({ from, newestFirst }: Order, whose: string): string => `
    SELECT seq, created_at FROM ${from} WHERE ${whose} AND created_at <= ?2 ORDER BY ${newestFirst} LIMIT 1 OFFSET ${MAX_SEARCHED}`;
  const lists = forOneOrAll(db, list(BY_NUMBER, OF_ONE), list(ofAll, OF_ALL));
  const ends = forOneOrAll(db, end(BY_NUMBER, OF_ONE), end(ofAll, OF_ALL));
  const sum = db.prepare(
    `SELECT coalesce(sum(n), 0) AS n FROM intent_count WHERE (?1 IS NULL OR specialist = ?1) AND ${isOfKind("operation", "?2")}`,
  );
  const count = (whose: string): string => `
    SELECT count(*) AS n FROM main.intent WHERE ${whose} AND created_at >= ?2 AND ${isOfKind("operation", "?3")} AND ${searched.replaceAll("?8", "?4")}`;
  const counts = forOneOrAll(db, count(OF_ONE), count(OF_ALL));
  const failed = db.prepare(`
    SELECT count(*) AS n FROM (
      SELECT subject, max(failed_at) AS at FROM main.change INDEXED BY change_failed WHERE failed_at IS NOT NULL GROUP BY subject
    ) AS failure JOIN main.event ON event.seq = failure.subject
    WHERE (?1 IS NULL OR specialist = ?1) AND at >= ?2 AND ${isOfKind("kind", "?3")} AND ${allOccurIn(FAILURE_TEXT, "?4")}`);
  const read = (statement: StatementSync, ...values: readonly (string | number | null)[]): number =>
    numberOf(statement.get(...values) ?? {}, "n");
  return {
    intents({ specialist, operation, since, until, object, states, search, after, limit }) {
      const [from, to] = [since ?? 0, until ?? Number.MAX_SAFE_INTEGER];
      const among = states === undefined ? null : JSON.stringify(states);
      const words = patternsOf(search, inJson);
      return lists(specialist)
        .all(specialist ?? null, from, to, among, limit, operation ?? null, object ?? null, words, after ?? 0)
        .map(readIntent);
    },
    logTotal({ specialist, kind, since, search }) {
      const [who, what] = [specialist ?? null, kind ?? null];
      const failures = read(failed, who, since ?? 0, what, patternsOf(search));
      if (since === undefined && search === undefined) return failures + read(sum, who, what);
      if (read(sum, who, null) > MAX_SEARCHED) return undefined;
      return failures + read(counts(specialist), who, since ?? 0, what, patternsOf(search, inJson));
    },
    searchEnd({ specialist, until }) {
      const row = ends(specialist).get(specialist ?? null, until ?? Number.MAX_SAFE_INTEGER);
      return row === undefined ? undefined : { seq: numberOf(row, "seq"), at: numberOf(row, "created_at") };
    },
  };
}

/** The text by which the log finds an event with a failed handling: its names, and the message of the last one. */
export const FAILURE_TEXT = `concat_ws(' ', event.id, event.specialist, event.kind, (
  SELECT json_extract(json_extract(change, '$.note'), '$.message') || ' ' || json_extract(json_extract(change, '$.note'), '$.code')
  FROM main.change INDEXED BY change_failed WHERE subject = event.seq AND failed_at IS NOT NULL ORDER BY failed_at DESC, seq DESC LIMIT 1))`;

function createKept(db: DatabaseSync): KeptHistory {
  const handles = db.prepare("SELECT handle FROM specialist ORDER BY handle");
  const keptColumns = "seq, specialist, id, kind, state, scheme, note, received_at, length(body) AS bytes";
  const isKept = "done_at IS NOT NULL AND body IS NOT NULL";
  const kept = db.prepare(`
    SELECT ${keptColumns} FROM delivery INDEXED BY delivery_leftover
    WHERE ${isKept} AND (?1 IS NULL OR specialist = ?1) AND (?2 IS NULL OR kind = ?2) AND received_at <= ?3
    ORDER BY received_at DESC, seq DESC LIMIT 0 + ?4`);
  const oneKept = db.prepare(`SELECT ${keptColumns}, body FROM delivery WHERE seq = ? AND ${isKept}`);
  return {
    handles: () => handles.all().map((row) => asHandle(textOf(row, "handle"))),
    keptDeliveries: ({ specialist, kind, until, limit }) =>
      kept.all(specialist ?? null, kind ?? null, until ?? Number.MAX_SAFE_INTEGER, limit).map(readKept),
    keptDelivery(seq) {
      const row = oneKept.get(seq);
      return row === undefined ? undefined : { ...readKept(row), body: bytesOf(row, "body") };
    },
  };
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
