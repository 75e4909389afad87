/** The outbox over facts: intents that may be sent or read back are in memory; settled ones are read from their rows. */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { LANES } from "../../contract/operations.ts";
import { asIntent, isFree, isReadyIn, expires, setOf, type LiveIntent } from "../../live/live-intent.ts";
import type { IntentFields } from "../../live/facts.ts";
import { DROPPED, expiry, MAYBE_VISIBLE, originsOf, SUPERSEDED, UNDATED, UNSENT, VISIBLE, type Intent } from "../../outbox/intent.ts";
import type { Present } from "../../live/present.ts";
import type { Capture } from "../../limits/spending.ts";
import type { SpendRule, WaitRule } from "../../limits/wait-rules.ts";
import type { Paid } from "../admission.ts";
import type { IntentKind, IntentMove, OutboxStore, Requests } from "../outbox.ts";
import type { Commits } from "./commits.ts";
import type { SpendingTable } from "./spending.ts";
import { sqlState, sqlStates } from "./intent-states.ts";
import { RESTORED_CODE } from "./restore-detection.ts";
import { numberOf, textOf } from "./columns.ts";
import type { WatchWriter } from "./sources.ts";
import type { InsertEvent } from "./inbox.ts";
import type { IntentRows } from "./intent-rows.ts";
import type { FactLog } from "./fact-log.ts";

/** Changes an intent and its dependents, inside a transaction the caller owns. Returns true if the transition was made. */
export type ApplyChange = (move: IntentMove & { readonly paid?: Paid }) => boolean;

/** Lets intents that wait for money under `rule` try again, inside a transaction the caller owns. */
export type Payable = (rule: SpendRule, now: number) => void;

export interface ChangeParts {
  readonly present: Present;
  readonly commits: Commits;
  readonly log: FactLog;
  readonly intents: IntentRows;
  readonly spending: SpendingTable;
  readonly insertEvent: InsertEvent;
  readonly writer: WatchWriter;
}

export interface Changes {
  readonly applyChange: ApplyChange;
  readonly payable: Payable;
  /** Lets intents that wait under this rule try again. */
  readonly wake: (rule: WaitRule, now: number) => void;
  /** Lets intents that wait for money try again, where a hold ended below its amount. */
  readonly freed: (settled: Capture | undefined, now: number) => void;
  /** Applies the consequences of an intent's new state: money, and dependent intents. */
  readonly follow: (intent: LiveIntent, paid: Paid | undefined, now: number) => void;
  /** Ends a stake: it comes back, or counts as spent. */
  readonly endStake: (id: string, isReturned: boolean, now: number) => void;
  readonly find: (seq: number) => LiveIntent | undefined;
  readonly findById: (id: string) => LiveIntent | undefined;
}

const NONE: readonly LiveIntent[] = [];
const NO_INTENTS: readonly Intent[] = [];

type Parts = Omit<ChangeParts, "insertEvent" | "writer">;

/** Inside a transaction the caller owns. */
export function createChanges(
  { present, commits, log, intents, spending }: Parts,
  effects: () => Pick<ChangeParts, "insertEvent" | "writer">,
): Changes {
  const change = (intent: LiveIntent, at: number, set: Partial<IntentFields>): void =>
    log.add({ seq: log.next, fact: "change", of: "intent", subject: intent.seq, at, set });
  const find = (seq: number): LiveIntent | undefined => present.intents.get(seq) ?? intents.one(seq);
  const findById = (id: string): LiveIntent | undefined => present.byId(id) ?? intents.byId(id);
  const wake = (rule: WaitRule, now: number): void => {
    for (const intent of present.intents.values())
      if (intent.state === "ready" && intent.code === rule && intent.nextAt > now) change(intent, now, { nextAt: now });
  };
  const payable: Payable = wake;
  const freed = (settled: Capture | undefined, now: number): void => {
    if (settled !== undefined && settled.posted < settled.released) payable("spend_cap", now);
  };
  /** Intents of the same specialist that need the object it creates. */
  const dependants = ({ id, specialist }: LiveIntent): readonly LiveIntent[] => {
    let found: LiveIntent[] | undefined;
    for (const one of present.of(specialist).intents.values())
      if (one.targetIntent === id && UNSENT.includes(one.state)) (found ??= []).push(one);
    return found ?? NONE;
  };

  /** Gives dependent intents the created object, or its stand-in. */
  const fill = (intent: LiveIntent, object: string, now: number): void => {
    for (const one of dependants(intent)) {
      const wasRestored = one.state === "ready" && one.code === RESTORED_CODE;
      change(one, now, { target: object, ...(wasRestored ? { state: "in_doubt" } : {}) });
    }
  };

  const follow: Changes["follow"] = (intent, paid, now) => {
    const { id, state, createdRef, specialist, everUnknown } = intent;
    if (state === "confirmed") {
      if ((paid !== undefined || spending.hasOpenHolds) && !spending.isStake(id))
        freed(
          commits.undoable(() => spending.pay(id, specialist, paid, now)),
          now,
        );
      if (createdRef !== undefined) fill(intent, createdRef, now);
    }
    if (!DROPPED.includes(state)) return;
    // A possible effect counts as spent: giving up the search does not prove its absence.
    if (spending.hasOpenHolds)
      freed(
        commits.undoable(() => spending.settle(id, everUnknown ? undefined : 0, now)),
        now,
      );
    const hanging = { state: "cancelled", code: "depends_on_refused", message: "its target was never created" } as const;
    for (const one of dependants(intent))
      if (one.target === undefined) applyChange({ seq: one.seq, by: "dependency", change: hanging, now });
  };
  const endStake: Changes["endStake"] = (id, isReturned, now) => {
    if (!spending.isStake(id)) return;
    freed(
      commits.undoable(() => spending.settle(id, isReturned ? 0 : undefined, now)),
      now,
    );
  };
  const applyChange: ApplyChange = ({ seq, by, change: wanted, now, standIn, events = [], watches = [], paid }) => {
    const intent = find(seq);
    if (intent === undefined || !originsOf(by, wanted.state).includes(intent.state)) return false;
    if (!present.intents.has(seq)) present.putIntent(intent); // until the next fold
    change(intent, now, setOf(intent, wanted, now, RESTORED_CODE));
    if (standIn !== undefined) fill(intent, standIn, now);
    follow(intent, paid, now);
    const { insertEvent, writer } = effects();
    for (const event of events) insertEvent(event, now);
    if (watches.length > 0) commits.add(() => watches.forEach((watch) => writer.watch(watch, now)));
    return true;
  };
  return { applyChange, payable, wake, freed, follow, endStake, find, findById };
}

export interface OutboxParts {
  readonly present: Present;
  readonly commits: Commits;
  readonly log: FactLog;
  readonly intents: IntentRows;
  readonly changes: Changes;
  /** Writes the rows of everything that changed. */
  readonly foldNow: () => void;
}

export function createOutbox(db: DatabaseSync, { present, commits, log, intents, changes, foldNow }: OutboxParts): OutboxStore {
  const claimed = db.prepare(`
    SELECT created_ref FROM main.intent INDEXED BY intent_of WHERE specialist = ? AND operation = ? AND created_ref IN (SELECT value FROM json_each(?))`);
  const staked = db.prepare(`
    SELECT id FROM main.intent INDEXED BY intent_of WHERE specialist = ? AND operation = ? AND target = ? AND state = ${sqlState("confirmed")}`);
  const { applyChange } = changes;
  const mine = (specialist: Intent["specialist"]): Iterable<LiveIntent> => present.of(specialist).intents.values();
  const expired = (specialist: Intent["specialist"], now: number): readonly LiveIntent[] => {
    let found: LiveIntent[] | undefined;
    for (const intent of mine(specialist)) if (expires(intent) && (intent.expiresAt ?? Infinity) <= now) (found ??= []).push(intent);
    return found ?? NONE;
  };

  return {
    dueIntents(specialist, lanes, now, limit) {
      const due: Intent[] = [];
      for (const seq of present.unqueueIntents(specialist, lanes)) {
        const next = intents.one(seq);
        if (next !== undefined && !present.intents.has(seq)) present.putIntent(next);
      }
      for (const intent of present.intentsOf(specialist)) {
        if (intent.state !== "ready" || intent.nextAt > now || present.isBehind(intent)) continue;
        if (lanes.length < LANES.length && !isReadyIn(intent, lanes)) continue;
        if (isFree(intent, present.intents)) due.push(asIntent(intent));
        if (due.length === limit) break;
      }
      return due;
    },
    doubtfulIntents: async (specialist, now, limit) =>
      [...mine(specialist)]
        .filter(({ state, nextAt }) => state === "in_doubt" && nextAt <= now)
        .sort((a, b) => a.nextAt - b.nextAt)
        .slice(0, limit)
        .map(asIntent),
    async findIntent(id) {
      const intent = changes.findById(id);
      return intent === undefined ? undefined : asIntent(intent);
    },
    moveIntent: async (move) => applyChange(move),
    expireIntents(specialist, now, limit) {
      const found = expired(specialist, now);
      if (found.length === 0) return NO_INTENTS;
      const due = found.slice(0, limit).map(asIntent);
      return due.filter((intent) => applyChange({ seq: intent.seq, by: "expiry", change: expiry(intent), now }));
    },
    ...createPiles(present, changes),
    async claimedRefs({ specialist, operation }, refs) {
      foldNow();
      return new Set(claimed.all(specialist, operation, JSON.stringify(refs)).map((row) => textOf(row, "created_ref")));
    },
    async unansweredAttempts(seq) {
      return changes.find(seq)?.unanswered ?? 0;
    },
    async forgetSentAt(seq, now) {
      const intent = present.intents.get(seq);
      if (intent?.state !== "in_doubt") return;
      log.add({ seq: log.next, fact: "change", of: "intent", subject: seq, at: now, set: { sentAt: UNDATED } });
    },
    async endStakes({ specialist, operation, target }, isReturned, now) {
      foldNow();
      const ids = staked.all(specialist, operation, target).map((row) => textOf(row, "id"));
      await commits.hard(() => ids.forEach((id) => changes.endStake(id, isReturned, now)));
    },
    similarIntents: createIntentsAlike(db, { changes, intents, foldNow }),
    ...createProofs(db, commits),
  };
}

/** Intents of one kind that wait to be sent. */
function createPiles(present: Present, { applyChange }: Changes): Pick<OutboxStore, "hasWaiting" | "supersede"> {
  const waitingOf = ({ specialist, operation, target, label }: IntentKind): readonly LiveIntent[] =>
    [...present.of(specialist).intents.values()].filter(
      (one) => one.state === "ready" && !one.everUnknown && one.operation === operation && one.target === target && one.label === label,
    );

  return {
    hasWaiting: (kind) => waitingOf(kind).length > 0,
    supersede(kind, exceptOf, now) {
      const older = waitingOf(kind)
        .filter(({ eventSeq }) => eventSeq !== exceptOf)
        .map(asIntent);
      return older.filter(({ seq }) => applyChange({ seq, by: "expiry", change: SUPERSEDED, now }));
    },
  };
}

function createIntentsAlike(
  db: DatabaseSync,
  { changes, intents, foldNow }: Pick<OutboxParts, "changes" | "intents" | "foldNow">,
): OutboxStore["similarIntents"] {
  const alike = (where: string): StatementSync =>
    db.prepare(`
    SELECT seq FROM main.intent INDEXED BY intent_of WHERE ${where} AND specialist = ?1 AND conflict_key = ?2 AND seq <> ?3
      AND (state IN ${sqlStates(VISIBLE)} OR (state IN ${sqlStates(MAYBE_VISIBLE)} AND ever_unknown = 1))
    ORDER BY seq DESC LIMIT 0 + ?4`);
  const sameWords = alike("text_hash = ?5");
  const sameAct = alike("text_hash IS NULL");
  const requestsOf = ({ firstRequest: first, lastRequest: last }: LiveIntent): Requests | undefined =>
    first === undefined || last === undefined ? undefined : { first, last };
  return async ({ seq, specialist, conflictKey }, limit) => {
    foldNow();
    const own = changes.find(seq);
    const hash = own?.textHash;
    const rows =
      hash === undefined ? sameAct.all(specialist, conflictKey, seq, limit) : sameWords.all(specialist, conflictKey, seq, limit, hash);
    const others = rows.flatMap((row) => intents.one(numberOf(row, "seq")) ?? []);
    return {
      own: own === undefined ? undefined : requestsOf(own),
      others: others.map((one) => ({ intent: asIntent(one), requests: requestsOf(one) })),
    };
  };
}

/** Records of read-backs by operation and key. */
function createProofs(db: DatabaseSync, commits: Commits): Pick<OutboxStore, "loadProof" | "saveProof"> {
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
