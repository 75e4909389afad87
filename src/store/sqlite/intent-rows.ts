/** Rows of intents in SQLite, as their last fact left them: written at folds, read at the start and for people. */
import type { DatabaseSync } from "node:sqlite";
import type { Effect, Lane } from "../../contract/operations.ts";
import { Fatal } from "../../core/errors.ts";
import { asHandle, asIntentId } from "../../core/ids.ts";
import { LIVE, type LiveIntent } from "../../live/live-intent.ts";
import type { Intent } from "../../outbox/intent.ts";
import { rowInserter, type Value } from "./insert-rows.ts";
import { sqlStates, stateOf } from "./intent-states.ts";
import { jsonOf, maybeNumber, maybeText, numberOf, objectOf, textOf, type Row } from "./columns.ts";

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
  "reason",
] as const;

/** One JSON text instead of 35 columns: node:sqlite builds every column name for every row, which took 28 µs against 9 µs. */
export const INTENT_ROW = intentRow();

/** The same, of which another expression may be the input. */
export function intentRow(input = "input"): string {
  return `json_array(${COLUMNS.map((name) => (name === "input" ? input : name)).join(", ")}) AS intent`;
}

/** Index condition of live intents: a partial index is only used if its condition is in the statement letter by letter. */
export const IS_LIVE = `state IN ${sqlStates(LIVE)}`;

export function createIntentRows(db: DatabaseSync): IntentRows {
  const head = `INSERT OR REPLACE INTO main.intent (${COLUMNS.join(", ")})`;
  const select = (where: string) => db.prepare(`SELECT ${INTENT_ROW} FROM main.intent ${where}`);
  const live = select(`INDEXED BY intent_live WHERE ${IS_LIVE} ORDER BY seq`);
  const has = db.prepare("SELECT 1 FROM main.intent WHERE seq = ?");
  const one = select("WHERE seq = ?");
  const byId = select("WHERE id = ?");
  return {
    write: rowInserter(db, { head, columns: COLUMNS.length }, setValues),
    *live() {
      for (const row of live.iterate()) yield liveRow(row);
    },
    has: (seq) => has.get(seq) !== undefined,
    one: (seq) => maybe(one.get(seq)),
    byId: (id) => maybe(byId.get(id)),
  };
}

/** In the order of the columns. */
function setValues(values: Value[], from: number, i: LiveIntent): void {
  let at = from;
  values[at++] = i.seq;
  values[at++] = i.id;
  values[at++] = i.specialist;
  values[at++] = i.eventSeq;
  values[at++] = i.ordinal;
  values[at++] = i.operation;
  values[at++] = i.target ?? null;
  values[at++] = i.targetIntent ?? null;
  values[at++] = JSON.stringify(i.input);
  values[at++] = i.effect;
  values[at++] = i.lane;
  values[at++] = i.thread ?? null;
  values[at++] = i.author ?? null;
  values[at++] = i.textHash ?? null;
  values[at++] = i.conflictKey;
  values[at++] = i.hops;
  values[at++] = i.label ?? null;
  values[at++] = i.data === undefined ? null : JSON.stringify(i.data);
  values[at++] = i.state;
  values[at++] = i.attempt;
  values[at++] = i.everUnknown ? 1 : 0;
  values[at++] = i.nextAt;
  values[at++] = i.checks;
  values[at++] = i.sentAt ?? null;
  values[at++] = i.expiresAt ?? null;
  values[at++] = i.createdRef ?? null;
  values[at++] = i.code ?? null;
  values[at++] = i.message ?? null;
  values[at++] = i.createdAt;
  values[at++] = i.settledAt ?? null;
  values[at++] = i.unanswered;
  values[at++] = i.firstRequest ?? null;
  values[at++] = i.lastRequest ?? null;
  values[at++] = i.last;
  values[at++] = i.reason ?? null;
}

function maybe(row: Row | undefined): LiveIntent | undefined {
  return row === undefined ? undefined : liveRow(row);
}

export function readIntent(row: Row): Intent {
  return intentOf(columnsOf(row));
}

function liveRow(row: Row): LiveIntent {
  const columns = columnsOf(row);
  return {
    ...intentOf(columns),
    ordinal: numberOf(columns, "ordinal"),
    textHash: maybeText(columns, "text_hash"),
    unanswered: numberOf(columns, "unanswered"),
    firstRequest: maybeNumber(columns, "first_request"),
    lastRequest: maybeNumber(columns, "last_request"),
    last: numberOf(columns, "last"),
    isStored: true,
  };
}

function columnsOf(row: Row): Row {
  const values = jsonOf(row, "intent");
  if (!Array.isArray(values)) throw new Fatal("store_damaged", "expected an intent's row");
  return Object.fromEntries(COLUMNS.map((name, i) => [name, values[i] ?? null])) as Row;
}

function intentOf(row: Row): Intent {
  const target = maybeText(row, "target_intent");
  return {
    seq: numberOf(row, "seq"),
    id: asIntentId(textOf(row, "id")),
    specialist: asHandle(textOf(row, "specialist")),
    eventSeq: numberOf(row, "event_seq"),
    operation: textOf(row, "operation"),
    target: maybeText(row, "target"),
    targetIntent: target === undefined ? undefined : asIntentId(target),
    input: objectOf(row, "input"),
    effect: textOf(row, "effect") as Effect,
    lane: textOf(row, "lane") as Lane,
    thread: maybeText(row, "thread"),
    author: maybeText(row, "author"),
    conflictKey: textOf(row, "conflict_key"),
    hops: numberOf(row, "hops"),
    label: maybeText(row, "label"),
    data: row["data"] === null ? undefined : jsonOf(row, "data"),
    state: stateOf(row),
    attempt: numberOf(row, "attempt"),
    everUnknown: numberOf(row, "ever_unknown") === 1,
    nextAt: numberOf(row, "next_at"),
    checks: numberOf(row, "checks"),
    sentAt: maybeNumber(row, "sent_at"),
    expiresAt: maybeNumber(row, "expires_at"),
    createdRef: maybeText(row, "created_ref"),
    code: maybeText(row, "code"),
    message: maybeText(row, "message"),
    createdAt: numberOf(row, "created_at"),
    settledAt: maybeNumber(row, "settled_at"),
    reason: maybeText(row, "reason"),
  };
}
