/** The Guardian's controls in SQLite: keys and their limits, money, stops, approvals. */
import type { DatabaseSync } from "node:sqlite";
import { asHandle, asKeyId, type Handle, type IntentId, type KeyId } from "../../core/ids.ts";
import { defined } from "../../core/defined.ts";
import { answerBy, payloadHash, type Approval, type Shown } from "../../limits/approvals.ts";
import { liveBudget } from "../../limits/poll-budget.ts";
import { quotaUse } from "../../limits/quota.ts";
import { rejection, type Intent } from "../../outbox/intent.ts";
import type { Commits } from "./commits.ts";
import { approvalOf, type ControlTable } from "./control-table.ts";
import type { Obligations } from "./obligations.ts";
import type { QuotaTable } from "./quota.ts";
import type { SpendingTable } from "./spending.ts";
import { INTENT_ROW, IS_LIVE, readIntent } from "./intent-rows.ts";
import { sqlState } from "./intent-states.ts";
import type { Changes, Payable } from "./outbox.ts";
import { maybeText, textOf } from "./columns.ts";
import type { ApprovalStore, ControlStore, KeyUse, Word } from "../controls.ts";
import type { PeopleReads, ReadTable } from "../people-reads.ts";

export interface KeyTables {
  readonly quota: QuotaTable;
  readonly spending: SpendingTable;
  readonly guardian: ControlTable;
  readonly owed: Obligations;
  readonly payable: Payable;
  readonly inFlight: Pick<ControlStore, "openAttempts" | "writesInDoubt">;
  readonly money: PeopleReads["money"];
}

/** A query must not advance the ledger's time: a wall clock set forward would free what still counts. */
const AS_LAST_SEEN = 0;

export function createKeyTables(
  db: DatabaseSync,
  commits: Commits,
  { quota, spending, guardian, owed, payable, inFlight, money: moneyOf }: KeyTables,
): ControlStore {
  const key = db.prepare("SELECT key_id FROM specialist WHERE handle = ?");
  const saveKey = db.prepare(`
    INSERT INTO specialist (handle, key_id, updated_at) VALUES (?1, ?2, ?3)
    ON CONFLICT (handle) DO UPDATE SET key_id = ?2, updated_at = ?3`);
  const keys = db.prepare(`
    SELECT handle, quota_key.key_id FROM specialist LEFT JOIN quota_key ON quota_key.key_id = specialist.key_id WHERE ?1 IS NULL OR handle = ?1`);
  const useOf = (id: KeyId, now: number): KeyUse => {
    const state = quota.load(id);
    return { ...quotaUse(state, now), parkedUntil: state.parkedUntil, parkReason: state.parkReason };
  };
  const registered = db.prepare("SELECT 1 FROM quota_key WHERE key_id = ?");

  const keyOf = (handle: Handle): KeyId | undefined => {
    const row = key.get(handle);
    const id = row === undefined ? undefined : maybeText(row, "key_id");
    return id === undefined ? undefined : asKeyId(id);
  };
  const register = (
    handle: Handle,
    id: KeyId,
    limits: Parameters<QuotaTable["register"]>[1],
    floors: Parameters<QuotaTable["register"]>[2],
    now: number,
  ): void => {
    const before = keyOf(handle);
    quota.register(id, limits, floors);
    if (before === id) return;
    saveKey.run(handle, id, now);
    if (before !== undefined) quota.inherit(before, id, now);
  };

  return {
    registerKey: (handle, id, { limits, floors }, now) => commits.hard(() => register(handle, id, limits, floors, now)),
    keyOf: async (handle) => keyOf(handle),
    quotaUse: async (id, now) => (registered.get(id) === undefined ? undefined : useOf(id, now)),
    async laneBudget(id, lane, now) {
      if (registered.get(id) === undefined) return 1;
      return liveBudget(quota.load(id), lane, now, owed(id, now));
    },
    async usage(now, handle) {
      const one = handle ?? null;
      const money = await moneyOf(now, handle);
      const ids = new Map(keys.all(one).map((row) => [asHandle(textOf(row, "handle")), maybeText(row, "key_id")]));
      quota.loadAll([...ids.values()].flatMap((id) => (id === undefined ? [] : [asKeyId(id)])));
      // A model may be paid for a specialist that has no key yet.
      return new Map(
        [...new Set([...ids.keys(), ...money.keys()])].map((specialist) => {
          const id = ids.get(specialist);
          return [
            specialist,
            { money: money.get(specialist) ?? [], quota: id === undefined ? undefined : useOf(asKeyId(id), AS_LAST_SEEN) },
          ];
        }),
      );
    },
    stop: (kind, scope, reason, now) => commits.hard(() => guardian.stop(kind, scope, reason, now)),
    lift: (kind, scope) => commits.hard(() => guardian.lift(kind, scope)),
    stops: async () => ({ halts: guardian.stops("halt"), pauses: guardian.stops("pause") }),
    frozen: async () => spending.frozen(),
    unfreeze: (scope, word, now) =>
      commits.hard(() => {
        const currencies = spending.unfreeze(scope, word, now);
        if (currencies.length > 0) payable("spend_frozen", now);
        return currencies;
      }),
    ...inFlight,
  };
}

export interface ApprovalTables {
  readonly guardian: ControlTable;
  readonly changes: Pick<Changes, "applyChange" | "findById">;
}

/** The approvals that can still be answered at a time, by the index of live intents: unanswered ones stay for a year. */
export const WAITING_APPROVALS = (now: string): string => `
    FROM main.intent AS i INDEXED BY intent_live JOIN approval AS a ON a.intent = i.id
    WHERE i.${IS_LIVE} AND i.state = ${sqlState("proposed")} AND a.state = 'asked'
      AND min(a.expires_at, coalesce(i.expires_at, a.expires_at)) > ${now}`;

/** The approvals that can still be answered, for people. */
export function createApprovalList(db: DatabaseSync): Pick<ReadTable, "openApprovals"> {
  const open = db.prepare(`
    SELECT a.*, (SELECT ${INTENT_ROW} FROM main.intent WHERE seq = i.seq) AS intent_row ${WAITING_APPROVALS("?1")} ORDER BY a.asked_at, i.seq LIMIT 0 + ?2`);
  return {
    openApprovals: (limit, now) =>
      open.all(now, limit).map((row) => ({ approval: approvalOf(row), intent: readIntent({ intent: row["intent_row"] ?? null }) })),
  };
}

export function createApprovals(commits: Commits, { guardian, changes }: ApprovalTables): Omit<ApprovalStore, "openApprovals"> {
  /** An approval is valid for these rows as they are, or not at all. */
  const isAbout = (intent: Intent, approval: Approval, shown: Shown): boolean =>
    shown.intent === intent.id && shown.payloadHash === payloadHash(intent) && shown.answerBy === answerBy(approval, intent);

  const decide = (id: IntentId, word: Word, now: number): boolean => {
    const intent = changes.findById(id);
    const approval = guardian.approval(id);
    if (intent?.state !== "proposed" || approval === undefined) return false;
    if (now >= answerBy(approval, intent)) return false;
    if (word.verdict === "approved" && !isAbout(intent, approval, word.shown)) return false;
    if (!guardian.answer(id, word, now)) return false;
    const change =
      word.verdict === "approved"
        ? ({ state: "ready", nextAt: now, ...defined({ reason: word.reason }) } as const)
        : rejection(word.reason);
    const events = word.verdict === "rejected" ? word.events : undefined;
    return changes.applyChange({ seq: intent.seq, by: "approval", change, now, ...defined({ events }) });
  };

  return {
    approvalOf: async (intent) => guardian.approval(intent),
    decideApproval: (intent, word, now) => commits.hard(() => decide(intent, word, now)),
  };
}
