/** The Guardian's hand in SQLite: keys and their limits, money, halts and pauses, approvals, what is in flight. */
import type { DatabaseSync } from "node:sqlite";
import type { Lane } from "../../contract/operations.ts";
import { asHandle, asIntentId, asKeyId, type Handle, type IntentId, type KeyId } from "../../core/ids.ts";
import { liveBudget } from "../../limits/poll-budget.ts";
import { quotaUse } from "../../limits/quota.ts";
import { scopeOf } from "../../limits/spending.ts";
import type { Commits } from "./commits.ts";
import type { ControlTable } from "./controls.ts";
import type { Obligations } from "./obligations.ts";
import type { QuotaTable } from "./quota.ts";
import type { SpendingTable } from "./spending.ts";
import type { ApplyChange, Payable } from "./outbox.ts";
import { maybeNumber, maybeText, numberOf, textOf, type Row } from "./rows.ts";
import type { ControlStore, OpenAttempt } from "../controls.ts";

export interface KeyTables {
  readonly quota: QuotaTable;
  readonly spending: SpendingTable;
  readonly guardian: ControlTable;
  readonly applyChange: ApplyChange;
  readonly owed: Obligations;
  readonly payable: Payable;
  /** The number of a proposed intent. */
  readonly proposed: (intent: IntentId) => number | undefined;
  readonly openAttempts: () => readonly OpenAttempt[];
}

export function createKeyTables(
  db: DatabaseSync,
  commits: Commits,
  { quota, spending, guardian, applyChange, owed, payable, proposed, openAttempts }: KeyTables,
): ControlStore {
  const key = db.prepare("SELECT key_id FROM specialist WHERE handle = ?");
  const saveKey = db.prepare(`
    INSERT INTO specialist (handle, key_id, updated_at) VALUES (?1, ?2, ?3)
    ON CONFLICT (handle) DO UPDATE SET key_id = ?2, updated_at = ?3`);
  const registered = db.prepare("SELECT 1 FROM quota_key WHERE key_id = ?");

  const register = (
    handle: Handle,
    id: KeyId,
    limits: Parameters<QuotaTable["register"]>[1],
    floors: Parameters<QuotaTable["register"]>[2],
    now: number,
  ): void => {
    const row = key.get(handle);
    const before = row === undefined ? undefined : maybeText(row, "key_id");
    quota.register(id, limits, floors);
    if (before === id) return;
    if (before !== undefined) quota.inherit(asKeyId(before), id, now);
    saveKey.run(handle, id, now);
  };

  return {
    registerKey: (handle, id, { limits, floors }, now) => commits.hard(() => register(handle, id, limits, floors, now)),
    quotaUse: (id, now) =>
      commits.soft(() => {
        if (registered.get(id) === undefined) return undefined;
        const state = quota.load(id);
        return { ...quotaUse(state, now), parkedUntil: state.parkedUntil, parkReason: state.parkReason };
      }),
    async laneBudget(id, lane, now) {
      if (registered.get(id) === undefined) return 1;
      return liveBudget(quota.load(id), lane, now, owed(id, now));
    },
    async spent(handle, now) {
      return spending
        .balances()
        .filter(({ scope }) => scope === scopeOf(handle))
        .map(({ scope, currency, held, posted }) => {
          const today = spending.account(scope, currency, now).rows.day.filter(({ start, ends }) => start <= now && now < ends);
          const dayMicros = today.reduce((sum, row) => sum + row.held + row.posted, 0);
          return { currency, heldMicros: held, postedMicros: posted, dayMicros };
        });
    },
    stop: (kind, scope, reason, now) => commits.hard(() => guardian.stop(kind, scope, reason, now)),
    lift: (kind, scope) => commits.hard(() => guardian.lift(kind, scope)),
    stops: async () => ({ halts: guardian.stops("halt"), pauses: guardian.stops("pause") }),
    frozen: async () => spending.frozen(),
    unfreeze: (scope, word, now) =>
      commits.hard(() => {
        const currencies = spending.thaw(scope, word, now);
        if (currencies.length > 0) payable("spend_frozen", now);
        return currencies;
      }),
    ...createApprovals(db, commits, { guardian, applyChange, proposed }),
    openAttempts: async () => openAttempts(),
  };
}

function createApprovals(
  db: DatabaseSync,
  commits: Commits,
  { guardian, applyChange, proposed }: Pick<KeyTables, "guardian" | "applyChange" | "proposed">,
): Pick<ControlStore, "openApprovals" | "decideApproval"> {
  const handles = db.prepare("SELECT DISTINCT specialist FROM approval WHERE state = 'asked'");
  const decide = (intent: IntentId, approve: boolean, reason: string | undefined, now: number): boolean => {
    if (!guardian.answer(intent, { approve, ...(reason === undefined ? {} : { reason }) }, now)) return false;
    const seq = proposed(intent);
    if (seq === undefined) return false;
    const change = approve
      ? ({ state: "ready", nextAt: now } as const)
      : ({ state: "cancelled", code: "approval_rejected", message: reason ?? "the Guardian said no" } as const);
    return applyChange({ seq, from: ["proposed"], change, now });
  };

  return {
    async openApprovals(limit) {
      return handles
        .all()
        .map((row) => asHandle(textOf(row, "specialist")))
        .flatMap((specialist) => guardian.asked(specialist, limit).map((approval) => ({ approval, specialist })))
        .slice(0, limit);
    },
    decideApproval: (intent, verdict, reason, now) => commits.hard(() => decide(intent, verdict === "approved", reason, now)),
  };
}

/** The number of a proposed intent, and the requests under way, as their rows say. */
export function createOpenRows(db: DatabaseSync): Pick<KeyTables, "proposed" | "openAttempts"> {
  const proposed = db.prepare("SELECT seq FROM intent WHERE id = ? AND state = 'proposed'");
  const open = db.prepare(`
    SELECT a.seq, a.specialist, key_id, intent_seq, a.operation, a.target, a.lane, weight, started_at, deadline_at, i.id AS intent
    FROM attempt AS a LEFT JOIN intent AS i ON i.seq = a.intent_seq WHERE a.ended_at IS NULL ORDER BY a.seq`);
  return {
    proposed(intent) {
      const row = proposed.get(intent);
      return row === undefined ? undefined : numberOf(row, "seq");
    },
    openAttempts: () => open.all().map(readAttempt),
  };
}

function readAttempt(row: Row): OpenAttempt {
  const intent = maybeText(row, "intent");
  return {
    intent: intent === undefined ? undefined : asIntentId(intent),
    target: maybeText(row, "target"),
    seq: numberOf(row, "seq"),
    specialist: asHandle(textOf(row, "specialist")),
    keyId: asKeyId(textOf(row, "key_id")),
    intentSeq: maybeNumber(row, "intent_seq"),
    operation: textOf(row, "operation"),
    lane: textOf(row, "lane") as Lane,
    cost: numberOf(row, "weight"),
    startedAt: numberOf(row, "started_at"),
    deadlineAt: numberOf(row, "deadline_at"),
  };
}
