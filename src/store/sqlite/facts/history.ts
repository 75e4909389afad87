/** What people ask for, over facts: rows are written first, then read. And the pruning of facts and rows that are long over. */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { asHandle } from "../../../core/ids.ts";
import type { LiveEvent } from "../../../live/events.ts";
import type { Present } from "../../../live/present.ts";
import type { EventRow, HistoryStore, Retention } from "../../history.ts";
import { createIntentHistory } from "../history.ts";
import { jsonOf, maybeNumber, numberOf, textOf, type Row } from "../rows.ts";
import type { OpenRows } from "./load.ts";

/** Rows looked at of each table in one go, so that no commit is long. */
const PRUNE_BATCH = 1_000;

export interface HistoryParts {
  readonly present: Present;
  readonly rows: OpenRows;
  /** Brings the rows up to what is in memory. */
  readonly settle: () => void;
}

export function createHistory(db: DatabaseSync, { present, rows, settle }: HistoryParts): HistoryStore {
  const events = db.prepare(`
    SELECT seq, specialist, id, kind, payload, created_at FROM main.event
    WHERE specialist IN (SELECT handle FROM specialist UNION SELECT DISTINCT value FROM json_each(?3)) AND id = ?1 ORDER BY seq DESC LIMIT 0 + ?2`);
  const oneEvent = db.prepare("SELECT seq, specialist, id, kind, payload, created_at FROM main.event WHERE seq = ?");
  // Nearly always among the next few rows: a run follows its event.
  const doneAt = db.prepare("SELECT at FROM main.run WHERE seq > ?1 AND event = ?1 LIMIT 1");
  const { intents, counts, ...rest } = createIntentHistory(db);
  const eventRow = (row: Row): EventRow => {
    const seq = numberOf(row, "seq");
    const done = doneAt.get(seq);
    const live = present.events.get(seq) ?? (done === undefined ? rows.openEvent(seq) : undefined);
    const base = {
      specialist: asHandle(textOf(row, "specialist")),
      id: textOf(row, "id"),
      kind: textOf(row, "kind"),
      createdAt: numberOf(row, "created_at"),
      payload: jsonOf(row, "payload"),
    };
    if (live !== undefined) return { ...base, ...stateOf(live) };
    return {
      ...base,
      state: "done",
      note: undefined,
      attempts: 0,
      notBefore: 0,
      doneAt: done === undefined ? undefined : maybeNumber(done, "at"),
    };
  };
  return {
    ...rest,
    intents(filter) {
      settle();
      return intents(filter);
    },
    counts(specialist) {
      settle();
      return counts(specialist);
    },
    async eventOf({ eventSeq }) {
      const row = oneEvent.get(eventSeq);
      return row === undefined ? undefined : eventRow(row);
    },
    async findEvents(id, limit) {
      settle();
      const parked = [...rows.openEvents()].filter(({ state }) => state === "parked").map(({ specialist }) => specialist);
      return events.all(id, limit, JSON.stringify(parked)).map(eventRow);
    },
  };
}

function stateOf({
  state,
  isClaimed,
  note,
  attempts,
  notBefore,
  parkedAt,
}: LiveEvent): Omit<EventRow, "specialist" | "id" | "kind" | "createdAt" | "payload"> {
  return { state: isClaimed ? "running" : state, note, attempts, notBefore, doneAt: parkedAt };
}

/** Deletes what is past its retention, a bounded number of rows. Inside a transaction the caller owns, after a fold. */
export function createPrune(db: DatabaseSync): (now: number, retention: Retention) => number {
  const facts = (table: string, kept: string, at = "at") =>
    sweep(
      db.prepare(
        `SELECT max(seq) AS last, min(at) AS oldest FROM (SELECT seq, ${at} AS at FROM main.${table} WHERE seq > ? ORDER BY seq LIMIT ${PRUNE_BATCH})`,
      ),
      db.prepare(`DELETE FROM main.${table} AS old WHERE seq > ? AND seq <= ? AND ${at} < ? AND ${kept}`),
    );
  const mark = "seq <= (SELECT seq FROM main.mark)";
  const isOpen = (kind: number): string => `NOT EXISTS (SELECT 1 FROM main.open WHERE kind = ${kind} AND open.seq = old.seq)`;
  const events = facts("event", `${mark} AND ${isOpen(0)}`, "created_at");
  const attempts = facts("attempt", `${mark} AND ${isOpen(1)}`);
  const rest = ["answer", "run", "change"].map((table) => facts(table, mark));
  const intents = facts("intent", "settled_at IS NOT NULL AND state IN ('confirmed', 'refused', 'cancelled')", "settled_at");
  const uses = db.prepare("DELETE FROM limited_use WHERE ended_at < ?");
  return (now, { eventsMs, intentsMs, requestsMs }) => {
    uses.run(now - requestsMs);
    return (
      events(now - eventsMs) +
      attempts(now - requestsMs) +
      rest.reduce((sum, one) => sum + one(now - Math.max(requestsMs, eventsMs)), 0) +
      intents(now - intentsMs)
    );
  };
}

/** Goes through a table from its left edge, a batch at a time, until what it finds is too young: what has to stay is passed over. */
function sweep(batch: StatementSync, remove: StatementSync): (before: number) => number {
  let from = 0;
  return (before) => {
    for (;;) {
      const { last, oldest } = batch.get(from) ?? {};
      if (typeof last === "number" && (oldest === null || Number(oldest) < before)) {
        const { changes } = remove.run(from, last, before);
        from = last;
        return Number(changes);
      }
      if (from === 0) return 0;
      from = 0; // once round
    }
  };
}
