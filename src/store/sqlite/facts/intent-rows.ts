/** The rows of intents as their last fact left them: written at folds, read at a start and by people. */
import type { DatabaseSync } from "node:sqlite";
import type { LiveIntent } from "../../../live/intents.ts";
import { INTENT_ROW, readIntent } from "../outbox.ts";
import { maybeNumber, maybeText, numberOf, type Row } from "../rows.ts";

export interface IntentRows {
  write(intents: readonly LiveIntent[]): void;
  live(): Iterable<LiveIntent>;
  has(seq: number): boolean;
  one(seq: number): LiveIntent | undefined;
  byId(id: string): LiveIntent | undefined;
}

const COLUMNS = [
  "seq",
  "id",
  "specialist",
  "event_seq",
  "ordinal",
  "operation",
  "target",
  "target_intent",
  "input",
  "effect",
  "lane",
  "thread",
  "author",
  "text_hash",
  "conflict_key",
  "hops",
  "label",
  "data",
  "state",
  "attempt",
  "ever_unknown",
  "next_at",
  "checks",
  "sent_at",
  "expires_at",
  "created_ref",
  "code",
  "message",
  "created_at",
  "settled_at",
  "unanswered",
  "first_request",
  "last_request",
  "last",
] as const;

const PLACES = `(${COLUMNS.map(() => "?").join(", ")})`;
/** Rows of one statement. As JSON, of any number, they take twice the processor. */
const AT_ONCE = 8;

const LIVE_ROW = `${INTENT_ROW}, ordinal, text_hash, unanswered, first_request, last_request, last`;

export function createIntentRows(db: DatabaseSync): IntentRows {
  const insert = (rows: number) =>
    db.prepare(
      `INSERT OR REPLACE INTO main.intent (${COLUMNS.join(", ")}) VALUES ${Array.from({ length: rows }, () => PLACES).join(", ")}`,
    );
  const [single, several] = [insert(1), insert(AT_ONCE)];
  const select = (where: string) => db.prepare(`SELECT ${LIVE_ROW} FROM main.intent ${where}`);
  const live = select("INDEXED BY intent_live WHERE state IN ('proposed', 'ready', 'sending', 'in_doubt') ORDER BY seq");
  const has = db.prepare("SELECT 1 FROM main.intent WHERE seq = ?");
  const one = select("WHERE seq = ?");
  const byId = select("WHERE id = ?");
  return {
    write(all) {
      const whole = all.length - (all.length % AT_ONCE);
      for (let from = 0; from < whole; from += AT_ONCE) several.run(...all.slice(from, from + AT_ONCE).flatMap(valuesOf));
      for (const intent of all.slice(whole)) single.run(...valuesOf(intent));
    },
    *live() {
      for (const row of live.iterate()) yield liveRow(row);
    },
    has: (seq) => has.get(seq) !== undefined,
    one: (seq) => maybe(one.get(seq)),
    byId: (id) => maybe(byId.get(id)),
  };
}

/** In the order of the columns. */
function valuesOf(i: LiveIntent): readonly (string | number | null)[] {
  return [
    i.seq,
    i.id,
    i.specialist,
    i.eventSeq,
    i.ordinal,
    i.operation,
    i.target ?? null,
    i.targetIntent ?? null,
    JSON.stringify(i.input),
    i.effect,
    i.lane,
    i.thread ?? null,
    i.author ?? null,
    i.textHash ?? null,
    i.conflictKey,
    i.hops,
    i.label ?? null,
    i.data === undefined ? null : JSON.stringify(i.data),
    i.state,
    i.attempt,
    i.everUnknown ? 1 : 0,
    i.nextAt,
    i.checks,
    i.sentAt ?? null,
    i.expiresAt ?? null,
    i.createdRef ?? null,
    i.code ?? null,
    i.message ?? null,
    i.createdAt,
    i.settledAt ?? null,
    i.unanswered,
    i.firstRequest ?? null,
    i.lastRequest ?? null,
    i.last,
  ];
}

function maybe(row: Row | undefined): LiveIntent | undefined {
  return row === undefined ? undefined : liveRow(row);
}

function liveRow(row: Row): LiveIntent {
  return {
    ...readIntent(row),
    ordinal: numberOf(row, "ordinal"),
    textHash: maybeText(row, "text_hash"),
    unanswered: numberOf(row, "unanswered"),
    firstRequest: maybeNumber(row, "first_request"),
    lastRequest: maybeNumber(row, "last_request"),
    last: numberOf(row, "last"),
    isStored: true,
  };
}
