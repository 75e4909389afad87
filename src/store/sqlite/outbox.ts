/** The outbox in SQLite: reading intents, and the moves that no attempt is behind. */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { LANES, type Effect, type Lane } from "../../contract/operations.ts";
import { Fatal } from "../../core/errors.ts";
import { asHandle, asIntentId } from "../../core/ids.ts";
import { expiry, UNDATED, type Intent, type IntentState } from "../../outbox/intent.ts";
import type { Capture } from "../../limits/spending.ts";
import type { Commits } from "./commits.ts";
import type { InsertEvent } from "./inbox.ts";
import type { SpendingTable } from "./spending.ts";
import { RESTORED_CODE } from "./restore-detection.ts";
import { jsonOf, maybeNumber, maybeText, numberOf, objectOf, textOf, type Row } from "./rows.ts";
import { INTENT_EXPIRES, INTENT_FREE, type WatchWriter } from "./sources.ts";
import type { Paid } from "../admission.ts";
import type { IntentMove, OutboxStore, Requests } from "../outbox.ts";

const COLUMNS = [
  "seq",
  "id",
  "specialist",
  "event_seq",
  "operation",
  "target",
  "target_intent",
  "input",
  "effect",
  "lane",
  "thread",
  "author",
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
] as const;

/** One text instead of 28 columns: node:sqlite names every column of every row anew, which took 28 µs against 9 µs. */
export const INTENT_ROW = `json_array(${COLUMNS.join(", ")}) AS intent`;

const SETTLED: readonly IntentState[] = ["confirmed", "refused", "cancelled", "parked"];

/** Changes an intent's row and what hangs on it, inside a transaction the caller owns. Answers whether it was in one of `from`. */
export type ApplyChange = (move: IntentMove & { readonly paid?: Paid }) => boolean;

/** Has what waits for money under `code` look again, inside a transaction the caller owns. */
export type Payable = (code: "spend_cap" | "spend_frozen", now: number) => void;

export function createPayable(db: DatabaseSync): Payable {
  const look = db.prepare("UPDATE intent SET next_at = min(next_at, ?) WHERE state = 'ready' AND code = ?");
  return (code, now) => void look.run(now, code);
}

export interface ChangeTables {
  readonly spending: SpendingTable;
  readonly insertEvent: InsertEvent;
  readonly writer: WatchWriter;
}

export function createApplyChange(db: DatabaseSync, { spending, insertEvent, writer }: ChangeTables): ApplyChange {
  // After a copy was put back, what waited for a person's word or another's object may have been sent when that comes.
  const updateFrom = (states: number): StatementSync =>
    db.prepare(`
    UPDATE intent SET state = CASE WHEN ?1 = 'ready' AND state = 'proposed' AND code = '${RESTORED_CODE}' THEN 'in_doubt' ELSE ?1 END,
      next_at = coalesce(?, next_at), code = ?, message = ?, created_ref = coalesce(?, created_ref),
      checks = checks + ?, ever_unknown = coalesce(?, ever_unknown), settled_at = ?
    WHERE seq = ? AND state IN (${Array.from({ length: states }, () => "?").join(", ")})`);
  const updates = new Map<number, StatementSync>();
  const update = (states: number): StatementSync => {
    const made = updates.get(states) ?? updateFrom(states);
    updates.set(states, made);
    return made;
  };
  // Asked for apart: RETURNING takes longer than both statements.
  const moved = db.prepare("SELECT id, specialist, ever_unknown FROM intent WHERE seq = ?");
  const fill = db.prepare(`
    UPDATE intent SET target = ?, state = CASE WHEN state = 'ready' AND code = '${RESTORED_CODE}' THEN 'in_doubt' ELSE state END
    WHERE target_intent = ? AND state IN ('proposed', 'ready')`);
  const payable = createPayable(db);
  const dependants = db.prepare("SELECT seq FROM intent WHERE target_intent = ? AND target IS NULL AND state IN ('proposed', 'ready')");
  /** What waits for room under a cap looks again. */
  const freed = (settled: Capture | undefined, now: number): void => {
    if (settled !== undefined && settled.posted < settled.released) payable("spend_cap", now);
  };

  const apply: ApplyChange = ({ seq, from, change, now, standIn, events = [], watches = [], paid }) => {
    const { changes } = update(from.length).run(
      change.state,
      change.nextAt ?? null,
      change.code ?? null,
      change.message ?? null,
      change.createdRef ?? null,
      change.checked === true ? 1 : 0,
      change.everUnknown === undefined ? null : Number(change.everUnknown),
      SETTLED.includes(change.state) ? now : null,
      seq,
      ...from,
    );
    const row = changes === 1 ? moved.get(seq) : undefined;
    if (row === undefined) return false;
    const id = textOf(row, "id");
    if (change.state === "confirmed") freed(spending.pay(id, asHandle(textOf(row, "specialist")), paid, now), now);
    const created = change.createdRef ?? standIn;
    if (created !== undefined) fill.run(created, id);
    if (change.state === "refused" || change.state === "cancelled") {
      // What may have happened counts as spent: giving up looking for it is no proof that it did not.
      freed(spending.settle(id, row["ever_unknown"] === 1 ? undefined : 0, now), now);
      const hanging = { state: "cancelled", code: "depends_on_refused", message: "what it was about did not come to be" } as const;
      for (const dependant of dependants.all(id))
        apply({ seq: numberOf(dependant, "seq"), from: ["proposed", "ready"], change: hanging, now });
    }
    for (const event of events) insertEvent(event, now);
    for (const watch of watches) writer.watch(watch, now);
    return true;
  };
  return apply;
}

export function createOutbox(db: DatabaseSync, commits: Commits, applyChange: ApplyChange): OutboxStore {
  const ready = (lanes: string): StatementSync =>
    db.prepare(`
    SELECT ${INTENT_ROW} FROM intent AS i INDEXED BY intent_ready
    WHERE specialist = ?1 AND state = 'ready' AND next_at <= ?2 ${lanes} AND ${INTENT_FREE}
    ORDER BY seq LIMIT 0 + ?3`);
  const anyReady = db.prepare(
    "SELECT 1 FROM intent INDEXED BY intent_ready WHERE specialist = ? AND state = 'ready' AND next_at <= ? LIMIT 1",
  );
  const due = ready("");
  const dueIn = ready("AND lane IN (SELECT value FROM json_each(?4))");
  const doubtful = db.prepare(
    `SELECT ${INTENT_ROW} FROM intent WHERE specialist = ? AND state = 'in_doubt' AND next_at <= ? ORDER BY next_at LIMIT 0 + ?`,
  );
  const one = db.prepare(`SELECT ${INTENT_ROW} FROM intent WHERE id = ?`);
  const over = `specialist = ? AND expires_at <= ? AND ${INTENT_EXPIRES}`;
  const anyExpired = db.prepare(`SELECT 1 FROM intent WHERE ${over} LIMIT 1`);
  const expired = db.prepare(`SELECT ${INTENT_ROW} FROM intent WHERE ${over} LIMIT 0 + ?`);
  const unanswered = db.prepare(
    "SELECT count(*) AS n FROM attempt WHERE intent_seq = ? AND coalesce(outcome, '') NOT IN ('never-left', 'limited', 'unauthorized')",
  );
  const undate = db.prepare(`UPDATE intent SET sent_at = ${UNDATED} WHERE seq = ? AND state = 'in_doubt'`);
  const claimed = db.prepare(`
    SELECT created_ref FROM intent WHERE specialist = ? AND operation = ? AND created_ref IN (SELECT value FROM json_each(?))`);

  return {
    async dueIntents(specialist, lanes, now, limit) {
      if (anyReady.get(specialist, now) === undefined) return [];
      const all = lanes.length === LANES.length;
      return (all ? due.all(specialist, now, limit) : dueIn.all(specialist, now, limit, JSON.stringify(lanes))).map(readIntent);
    },
    doubtfulIntents: async (specialist, now, limit) => doubtful.all(specialist, now, limit).map(readIntent),
    async findIntent(id) {
      const row = one.get(id);
      return row === undefined ? undefined : readIntent(row);
    },
    moveIntent: (move) => commits.soft(() => applyChange(move)),
    async expireIntents(specialist, now, limit) {
      if (anyExpired.get(specialist, now) === undefined) return [];
      const due = expired.all(specialist, now, limit).map(readIntent);
      const cancel = (intent: Intent): boolean =>
        applyChange({ seq: intent.seq, from: ["proposed", "ready"], change: expiry(intent), now });
      return commits.soft(() => due.filter(cancel));
    },
    async claimedRefs({ specialist, operation }, refs) {
      return new Set(claimed.all(specialist, operation, JSON.stringify(refs)).map((row) => textOf(row, "created_ref")));
    },
    similarIntents: createIntentsAlike(db),
    unansweredAttempts: async (seq) => numberOf(unanswered.get(seq) ?? {}, "n"),
    forgetSentAt: (seq) => commits.soft(() => void undate.run(seq)),
    ...createProofs(db, commits),
  };
}

/** How an operation's read-back has done, by key. */
export function createProofs(db: DatabaseSync, commits: Commits): Pick<OutboxStore, "loadProof" | "saveProof"> {
  const proof = db.prepare("SELECT found, missed, proven, lateness_ms FROM proof WHERE key_id = ? AND operation = ?");
  const saveProof = db.prepare(`
    INSERT INTO proof (key_id, operation, found, missed, proven, lateness_ms, updated_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
    ON CONFLICT (key_id, operation) DO UPDATE SET found = ?3, missed = ?4, proven = ?5, lateness_ms = ?6, updated_at = ?7`);
  return {
    async loadProof(keyId, operation) {
      const row = proof.get(keyId, operation);
      if (row === undefined) return { proven: false, found: 0, missed: 0, latenessMs: 0 };
      return {
        proven: row["proven"] === 1,
        found: numberOf(row, "found"),
        missed: numberOf(row, "missed"),
        latenessMs: numberOf(row, "lateness_ms"),
      };
    },
    saveProof: (keyId, operation, value, now) =>
      commits.hard(() => void saveProof.run(keyId, operation, value.found, value.missed, Number(value.proven), value.latenessMs, now)),
  };
}

function createIntentsAlike(db: DatabaseSync): OutboxStore["similarIntents"] {
  const textHash = db.prepare("SELECT text_hash FROM intent WHERE seq = ?");
  const requests = db.prepare("SELECT min(seq) AS first, max(seq) AS last FROM attempt WHERE intent_seq = ?");
  const alike = (where: string): StatementSync =>
    db.prepare(`
    SELECT seq, ${INTENT_ROW} FROM intent ${where} specialist = ?1 AND conflict_key = ?2 AND seq <> ?3
      AND (state IN ('confirmed', 'pending') OR (state IN ('parked', 'cancelled') AND ever_unknown = 1))
    ORDER BY seq DESC LIMIT 0 + ?4`);
  const sameWords = alike("INDEXED BY intent_text WHERE text_hash = ?5 AND");
  const sameAct = alike("INDEXED BY intent_wordless WHERE text_hash IS NULL AND");
  const requestsOf = (seq: number): Requests | undefined => {
    const row = requests.get(seq);
    return row === undefined || row["first"] === null ? undefined : { first: numberOf(row, "first"), last: numberOf(row, "last") };
  };
  return async ({ seq, specialist, conflictKey }, limit) => {
    const hash = textHash.get(seq)?.["text_hash"];
    const rows =
      typeof hash === "string"
        ? sameWords.all(specialist, conflictKey, seq, limit, hash)
        : sameAct.all(specialist, conflictKey, seq, limit);
    const others = rows.map((row) => ({ intent: readIntent(row), requests: requestsOf(numberOf(row, "seq")) }));
    return { own: requestsOf(seq), others };
  };
}

export function readIntent(row: Row): Intent {
  const values = jsonOf(row, "intent");
  if (!Array.isArray(values)) throw new Fatal("store_damaged", "expected an intent's row");
  const column = Object.fromEntries(COLUMNS.map((name, i) => [name, values[i] ?? null])) as Row;
  return intentOf(column);
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
    state: textOf(row, "state") as IntentState,
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
  };
}
