/** History queries in SQLite, apart from events: intents, counts and kept deliveries. */
import type { DatabaseSync } from "node:sqlite";
import { asHandle, type Handle } from "../../core/ids.ts";
import { headOf, type LiveIntent } from "../../live/live-intent.ts";
import type { Present } from "../../live/present.ts";
import type { HeldIntents, HistoryStore, KeptDelivery } from "../history.ts";
import { stateOf } from "./intent-states.ts";
import { INTENT_ROW, readIntent } from "./intent-rows.ts";
import { bytesOf, maybeText, numberOf, textOf, type Row } from "./columns.ts";
import type { OpenRows } from "./load.ts";

export interface HistoryParts {
  readonly present: Present;
  readonly rows: OpenRows;
  /** Writes the rows of everything that changed. */
  readonly settle: () => void;
}

type IntentHistory = Pick<HistoryStore, "intents" | "counts" | "held">;
type KeptHistory = Pick<HistoryStore, "handles" | "keptDeliveries" | "keptDelivery" | "jobCounts">;

export function createHistory(db: DatabaseSync, parts: HistoryParts): IntentHistory & KeptHistory {
  return { ...createIntentHistory(db, parts), ...createKept(db) };
}

function createIntentHistory(db: DatabaseSync, { present, settle }: HistoryParts): IntentHistory {
  const list = db.prepare(`
    SELECT ${INTENT_ROW} FROM main.intent
    WHERE (?1 IS NULL OR specialist = ?1) AND created_at >= ?2 AND created_at <= ?3 AND (?4 IS NULL OR state IN (SELECT value FROM json_each(?4)))
      AND (?6 IS NULL OR operation = ?6 OR substr(operation, 1, length(?6) + 1) = ?6 || '.')
      AND (?7 IS NULL OR target = ?7 OR created_ref = ?7 OR thread = ?7 OR thread = 'job:' || ?7)
    ORDER BY seq DESC LIMIT 0 + ?5`);
  const counts = db.prepare("SELECT operation, state, count(*) AS n FROM main.intent WHERE specialist = ? GROUP BY operation, state");
  const byOperation = db.prepare("SELECT operation, count(*) AS n FROM json_each(?) JOIN main.intent ON seq = value GROUP BY operation");
  /** Intents of which only the numbers are in memory. */
  const queued = (specialist: Handle): readonly HeldIntents[] =>
    [...(present.of(specialist).waiting ?? [])].flatMap(([lane, numbers]) =>
      byOperation.all(JSON.stringify([...numbers])).map((row) => {
        const about = { operation: textOf(row, "operation"), count: numberOf(row, "n"), lane, nextAt: 0 };
        return { ...about, state: "ready", code: undefined, message: undefined };
      }),
    );
  return {
    async intents({ specialist, operation, since, until, object, states, limit }) {
      settle();
      const [from, to] = [since ?? 0, until ?? Number.MAX_SAFE_INTEGER];
      const among = states === undefined ? null : JSON.stringify(states);
      return list.all(specialist ?? null, from, to, among, limit, operation ?? null, object ?? null).map(readIntent);
    },
    async counts(specialist) {
      settle();
      return counts.all(specialist).map((row) => ({ operation: textOf(row, "operation"), state: stateOf(row), count: numberOf(row, "n") }));
    },
    held: async (specialist, limit) =>
      heldIn(present, specialist, queued(specialist))
        .toSorted((a, b) => b.count - a.count)
        .slice(0, limit),
  };
}

/** Ready and proposed intents by operation, lane and delaying rule. One that follows another of its run waits for the same. */
function heldIn(present: Present, specialist: Handle, queued: readonly HeldIntents[]): readonly HeldIntents[] {
  const groups = new Map(queued.map((group) => [JSON.stringify([group.state, group.operation, group.lane, group.code]), group]));
  for (const intent of present.of(specialist).intents.values()) {
    const { state, operation, lane } = intent;
    if (state !== "ready" && state !== "proposed") continue;
    const head: LiveIntent | undefined = headOf(intent, present.intents);
    const code = intent.code ?? head?.code;
    const name = JSON.stringify([state, operation, lane, code]);
    const nextAt = Math.max(intent.nextAt, head?.nextAt ?? 0);
    const known = groups.get(name);
    groups.set(name, {
      operation,
      lane,
      state,
      code,
      message: intent.message ?? head?.message ?? known?.message,
      count: (known?.count ?? 0) + 1,
      nextAt: Math.min(nextAt, known?.nextAt ?? Infinity),
    });
  }
  return [...groups.values()];
}

function createKept(db: DatabaseSync): KeptHistory {
  const handles = db.prepare("SELECT handle FROM specialist ORDER BY handle");
  const jobs = db.prepare("SELECT state, count(*) AS n FROM watch WHERE specialist = ? AND kind = 'job' GROUP BY state");
  const keptColumns = "seq, specialist, id, kind, state, scheme, note, received_at, length(body) AS bytes";
  const isKept = "done_at IS NOT NULL AND body IS NOT NULL";
  const kept = db.prepare(`
    SELECT ${keptColumns} FROM delivery INDEXED BY delivery_leftover
    WHERE ${isKept} AND (?1 IS NULL OR specialist = ?1) AND (?2 IS NULL OR kind = ?2) AND seq < ?3 ORDER BY seq DESC LIMIT 0 + ?4`);
  const oneKept = db.prepare(`SELECT ${keptColumns}, body FROM delivery WHERE seq = ? AND ${isKept}`);
  return {
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
