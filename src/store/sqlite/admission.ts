/** Admission and settlement in SQLite: the transaction that lets a request leave, and the one that says how it ended. */
import type { DatabaseSync } from "node:sqlite";
import { asIntentId, type IntentId } from "../../core/ids.ts";
import { HOUR } from "../../core/units.ts";
import type { AdmissionRequest, AdmissionView, OwnLimitUse } from "../../limits/admission.ts";
import { GUARDIAN, scopeOf } from "../../limits/spending.ts";
import { JUMP_MS } from "../../limits/ledger-clock.ts";
import type { Recovered } from "../store.ts";
import type { Commits } from "./commits.ts";
import { createPullIn } from "./due-dates.ts";
import type { ControlTable } from "./controls.ts";
import { createObligations } from "./obligations.ts";
import type { QuotaTable } from "./quota.ts";
import type { Redating } from "./clock-redating.ts";
import type { SpendingTable } from "./spending.ts";
import type { ApplyChange } from "./outbox.ts";
import { RESTORED_CODE, RESTORED_MESSAGE, type RestoredTable } from "./restore-detection.ts";
import { maybeNumber, numberOf, textOf } from "./rows.ts";
import type { Admission, AdmissionStore, Admit, Decide, Completion } from "../admission.ts";

/** No request is under way longer than this. */
const LONGEST_REQUEST_MS = HOUR;

export interface AdmissionTables {
  readonly quota: QuotaTable;
  readonly redating: Redating;
  readonly spending: SpendingTable;
  readonly guardian: ControlTable;
  readonly applyChange: ApplyChange;
}

export function createAdmission(db: DatabaseSync, commits: Commits, tables: AdmissionTables): AdmissionStore {
  const { quota, spending, redating, applyChange } = tables;
  const ready = db.prepare("SELECT 1 FROM intent WHERE seq = ? AND state = 'ready'");
  const send = db.prepare(
    "UPDATE intent SET state = 'sending', attempt = attempt + 1, sent_at = ?, checks = 0, code = NULL, message = NULL WHERE seq = ? AND state = 'ready'",
  );
  const insert = db.prepare(`
    INSERT INTO attempt (specialist, key_id, intent_seq, operation, target, lane, weight, started_at, deadline_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const close = db.prepare("UPDATE attempt SET ended_at = ?, outcome = ?, status = ?, note = ? WHERE seq = ? AND ended_at IS NULL");
  const viewOf = createView(db, tables);

  const admit = (wanted: Admit, decide: Decide): Admission => {
    const { request, intent } = wanted;
    if (intent !== undefined && ready.get(intent.seq) === undefined) return { kind: "gone" };
    const view = viewOf(wanted);
    const verdict = decide(view);
    if (verdict.kind !== "admit") return verdict;
    const { lane, cost } = verdict.charge;
    quota.charge(request.key, lane, cost, view.now);
    const { lastInsertRowid } = insert.run(
      request.specialist,
      request.key,
      intent?.seq ?? null,
      request.operation,
      wanted.target ?? null,
      lane,
      cost,
      view.now,
      wanted.deadlineAt,
    );
    if (verdict.hold !== undefined && intent !== undefined)
      spending.hold({ id: intent.id, specialist: request.specialist, ...verdict.hold, expiresAt: wanted.holdExpiresAt }, view.now);
    if (intent !== undefined) send.run(view.now, intent.seq);
    return {
      kind: "admitted",
      attempt: {
        seq: Number(lastInsertRowid),
        specialist: request.specialist,
        keyId: request.key,
        operation: request.operation,
        lane,
        cost,
        startedAt: view.now,
        deadlineAt: wanted.deadlineAt,
      },
    };
  };

  const settle = (settlement: Completion): void => {
    const { attempt, outcome, status, note, now, intent, heard } = settlement;
    if (heard !== undefined) redating.heed(heard, now);
    else if (settlement.end.ending === "answered") redating.believe(now);
    if (close.run(now, outcome, status ?? null, note?.slice(0, 500) ?? null, attempt.seq).changes !== 1) return; // counted at recovery already
    quota.end(settlement.end, now);
    if (intent !== undefined) applyChange({ ...settlement, seq: intent.seq, from: ["sending"], change: intent.change });
  };

  return {
    admit: (wanted, decide) => commits.hard(() => admit(wanted, decide)),
    explain: (wanted, decide) => commits.soft(() => decide(viewOf(wanted))),
    // A settlement that a power cut takes leaves its attempt open: counted, and in doubt.
    complete: (settlement) => commits.soft(() => settle(settlement)),
  };
}

/** Loads what an admission depends on, and nothing that does not apply to it. */
function createView(db: DatabaseSync, { quota, spending, guardian }: AdmissionTables): (wanted: Admit) => AdmissionView {
  const conflict = db.prepare(
    "SELECT id, coalesce(sent_at, created_at) AS since FROM intent WHERE conflict_key = ? AND state IN ('sending', 'in_doubt') AND seq <> ? LIMIT 1",
  );
  const owed = createObligations(db);
  const uses = createOwnUses(db);
  return ({ request, intent, now: asked, known }) => {
    const now = quota.passTime(asked);
    const { specialist, price } = request;
    const clash = intent === undefined ? undefined : conflict.get(intent.conflictKey, intent.seq);
    const priced = price.kind === "priced" ? price.worst.currency : undefined;
    return {
      now,
      request,
      halt: guardian.stopped("halt", specialist),
      pause: guardian.stopped("pause", specialist),
      conflict: clash === undefined ? undefined : { intent: asIntentId(textOf(clash, "id")), since: numberOf(clash, "since") },
      ...known,
      review: known.review && intent !== undefined,
      approval: known.review && intent !== undefined ? guardian.approval(intent.id) : undefined,
      quota: quota.load(request.key),
      ...(request.ownLimits === undefined || request.ownLimits.length === 0 ? {} : { ownUses: uses(request, now, quota.earliest(now)) }),
      obligations: owed(request.key, now),
      ...(priced === undefined
        ? {}
        : {
            accounts: [spending.account(scopeOf(specialist), priced, now), spending.account(GUARDIAN, priced, now)],
            held: heldFor(spending, intent?.id),
          }),
    };
  };
}

/** A request counts from its admission until the limit's length after its answer, since the network counts it somewhere in between. */
function createOwnUses(db: DatabaseSync): (request: AdmissionRequest, now: number, earliest: number) => readonly OwnLimitUse[] {
  const count = db.prepare(`
    SELECT count(*) AS used, min(coalesce(ended_at, deadline_at)) AS oldest FROM attempt INDEXED BY attempt_operation
    WHERE key_id = ?1 AND operation IN (SELECT value FROM json_each(?2)) AND started_at > ?3
      AND coalesce(ended_at, ?4) > ?5 AND coalesce(outcome, '') <> 'never-left'`);
  return ({ key, ownLimits = [] }, now, earliest) =>
    ownLimits.map((limit) => {
      const row = count.get(
        key,
        JSON.stringify(limit.operations),
        earliest - limit.perMs - LONGEST_REQUEST_MS,
        now,
        earliest - limit.perMs,
      );
      const used = row === undefined ? 0 : numberOf(row, "used");
      const oldest = row === undefined ? undefined : maybeNumber(row, "oldest");
      return { limit, used, freesAt: (oldest ?? now) + limit.perMs + now - earliest };
    });
}

function heldFor(spending: SpendingTable, intent: IntentId | undefined) {
  const hold = intent === undefined ? undefined : spending.find(intent);
  return hold?.state === "open" ? hold.money : undefined;
}

/**
 * A key's attempts that are open after a crash: their answers are lost, and their intents in doubt. In a store that was put
 * back from a copy so is all that had not been sent when the copy was made: it may have been sent since.
 */
export function createRecovery(db: DatabaseSync, quota: QuotaTable, redating: Redating, restoredTable: RestoredTable) {
  const events = db.prepare("UPDATE event SET state = 'ready' WHERE state = 'running'");
  const doubts = db.prepare(`
    UPDATE intent SET state = CASE WHEN effect = 'idempotent' THEN 'ready' ELSE 'in_doubt' END, ever_unknown = 1, next_at = ?,
      code = 'outcome_unknown', message = 'the process ended before the answer came'
    WHERE state = 'sending'`);
  const attempts = db.prepare(
    "UPDATE attempt SET ended_at = ?, outcome = 'unknown', note = 'the process ended before the answer came' WHERE ended_at IS NULL",
  );
  const pullIn = createPullIn(db);
  // What waits for another one's object, or for the Guardian, comes to be in doubt when that has come.
  const unsent = db.prepare(`
    UPDATE intent SET state = CASE WHEN state = 'ready' AND (target_intent IS NULL OR target IS NOT NULL) THEN 'in_doubt' ELSE state END,
      ever_unknown = 1, sent_at = coalesce(sent_at, ?), next_at = ?, code = '${RESTORED_CODE}', message = '${RESTORED_MESSAGE}'
    WHERE state IN ('ready', 'proposed') AND effect <> 'idempotent'`);
  return (now: number, firstCheckMs: number): Recovered => {
    const backMs = quota.seenAt() - now;
    if (backMs > JUMP_MS) pullIn(backMs, now);
    redating.begin(now);
    quota.recoverOpen(now);
    const restored = restoredTable.begin(now);
    restoredTable.beat(now);
    const firstCheck = now + firstCheckMs;
    const copied = restored === undefined ? 0 : Number(unsent.run(restored.from, firstCheck).changes);
    return {
      events: Number(events.run().changes),
      doubts: Number(doubts.run(firstCheck).changes) + copied,
      attempts: Number(attempts.run(now).changes),
      ...(restored === undefined ? {} : { restoredFrom: restored.from }),
    };
  };
}
