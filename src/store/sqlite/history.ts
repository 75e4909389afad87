/** History queries in SQLite, apart from events: intents and kept deliveries. */
import type { DatabaseSync } from "node:sqlite";
import { asHandle } from "../../core/ids.ts";
import type { Present } from "../../live/present.ts";
import type { HistoryStore, KeptDelivery } from "../history.ts";
import { INTENT_ROW, readIntent } from "./intent-rows.ts";
import { bytesOf, maybeText, numberOf, textOf, type Row } from "./columns.ts";
import type { OpenRows } from "./load.ts";

export interface HistoryParts {
  readonly present: Present;
  readonly rows: OpenRows;
  /** Writes the rows of everything that changed. */
  readonly foldNow: () => void;
}

type IntentHistory = Pick<HistoryStore, "intents">;
type KeptHistory = Pick<HistoryStore, "handles" | "keptDeliveries" | "keptDelivery">;

export function createHistory(db: DatabaseSync, parts: HistoryParts): IntentHistory & KeptHistory {
  return { ...createIntentHistory(db, parts), ...createKept(db) };
}

function createIntentHistory(db: DatabaseSync, { foldNow }: HistoryParts): IntentHistory {
  const list = db.prepare(`
    SELECT ${INTENT_ROW} FROM main.intent
    WHERE (?1 IS NULL OR specialist = ?1) AND created_at >= ?2 AND created_at <= ?3 AND (?4 IS NULL OR state IN (SELECT value FROM json_each(?4)))
      AND (?6 IS NULL OR operation = ?6 OR substr(operation, 1, length(?6) + 1) = ?6 || '.')
      AND (?7 IS NULL OR target = ?7 OR created_ref = ?7 OR thread = ?7 OR thread = 'job:' || ?7)
    ORDER BY seq DESC LIMIT 0 + ?5`);
  return {
    async intents({ specialist, operation, since, until, object, states, limit }) {
      foldNow();
      const [from, to] = [since ?? 0, until ?? Number.MAX_SAFE_INTEGER];
      const among = states === undefined ? null : JSON.stringify(states);
      return list.all(specialist ?? null, from, to, among, limit, operation ?? null, object ?? null).map(readIntent);
    },
  };
}

function createKept(db: DatabaseSync): KeptHistory {
  const handles = db.prepare("SELECT handle FROM specialist ORDER BY handle");
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
