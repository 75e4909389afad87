/**
 * Recovers after a crash: events are handled again, the answers of open requests are lost. In a restored store, everything not sent when
 * the copy was made is in doubt too: it may have been sent since.
 */
import type { DatabaseSync } from "node:sqlite";
import { JUMP_MS } from "../../limits/ledger-clock.ts";
import type { EventFields, IntentFields } from "../../live/facts.ts";
import { isLastTry, LAST_TRY_AFTER_MS, MAX_CRASHES, type LiveEvent } from "../../live/live-event.ts";
import { crashNote } from "../failure.ts";
import { TRANSITIONS, TIMED, UNDATED, UNDER_WAY, type IntentState } from "../../outbox/intent.ts";
import type { Present } from "../../live/present.ts";
import type { Recovered } from "../store.ts";
import { createPullIn } from "./due-dates.ts";
import type { QuotaTable } from "./quota.ts";
import { RESTORED_CODE, RESTORED_MESSAGE, type RestoredTable } from "./restore-detection.ts";
import type { SpendingTable } from "./spending.ts";
import { LANES } from "../../contract/operations.ts";
import type { Handle } from "../../core/ids.ts";
import { copyTime } from "../copy-time.ts";
import { createIntentRows, type IntentRows } from "./intent-rows.ts";
import type { FactLog } from "./fact-log.ts";

export interface RecoveryParts {
  readonly present: Present;
  readonly log: FactLog;
  readonly quota: QuotaTable;
  readonly spending: SpendingTable;
  readonly restored: RestoredTable;
}

const LOST = "the process ended before the answer came";

const unknownSince = (from: number): string =>
  `the store was restored from a copy of ${copyTime(from)}, and what was spent since is unknown`;

const isIn = (states: readonly IntentState[], state: IntentState): boolean => states.includes(state);

/** Inside a transaction the caller owns. */
export function createRecovery(db: DatabaseSync, { present, log, quota, spending, restored: copies }: RecoveryParts) {
  const rows = createIntentRows(db);
  const pullIn = createPullInAll(db, present, log);
  const endUse = db.prepare("UPDATE limited_use SET ended_at = ? WHERE key_id = ? AND attempt = ?");
  const move = (seq: number, at: number, set: Partial<IntentFields>): void =>
    log.add({ seq: log.next, fact: "change", of: "intent", subject: seq, at, set });

  const doubts = (now: number, firstCheck: number): number => {
    let found = 0;
    for (const { seq, state, effect } of present.intents.values()) {
      if (!isIn(TRANSITIONS.recovery.from, state)) continue;
      const next = effect === "idempotent" ? "ready" : "in_doubt";
      move(seq, now, { state: next, everUnknown: true, nextAt: firstCheck, code: "outcome_unknown", message: LOST });
      found++;
    }
    return found;
  };
  /** An intent that waits for another's object, or for the Guardian, becomes in doubt when that arrives. */
  const copied = (from: number, now: number, firstCheck: number): number => {
    let found = 0;
    for (const specialist of present.specialists()) unqueue(present, rows, specialist);
    for (const { seq, state, effect, targetIntent, target, sentAt } of present.intents.values()) {
      if (!isIn(TRANSITIONS.restoration.from, state) || effect === "idempotent") continue;
      const waits = state === "proposed" || (targetIntent !== undefined && target === undefined);
      const why = { everUnknown: true, sentAt: sentAt ?? from, nextAt: firstCheck, code: RESTORED_CODE, message: RESTORED_MESSAGE };
      move(seq, now, { ...why, ...(waits ? {} : { state: "in_doubt" }) });
      found++;
    }
    return found;
  };

  return (now: number, firstCheckMs: number, capped: readonly string[]): Recovered => {
    const backMs = quota.seenAt() - now;
    if (backMs > JUMP_MS) pullIn(backMs, now);
    quota.begin(now);
    const open = [...present.attempts.values()];
    const counted = new Map<number, number>();
    quota.recoverOpen(now, ({ seq, key }, at) => {
      counted.set(seq, at);
      endUse.run(at, key, seq);
    });
    const restored = copies.begin(now);
    if (restored !== undefined) for (const currency of capped) spending.freezeShared(currency, unknownSince(restored.from), now);
    copies.beat(now);
    const firstCheck = now + firstCheckMs;
    const unsent = restored === undefined ? 0 : copied(restored.from, now, firstCheck);
    const recovered = { events: recoverEvents({ present, log }, now), doubts: doubts(now, firstCheck) + unsent, attempts: open.length };
    for (const { seq } of open)
      log.add({
        seq: log.next,
        fact: "answer",
        at: now,
        attempt: seq,
        outcome: "unknown",
        status: undefined,
        note: LOST,
        countedAt: counted.get(seq),
        set: undefined,
      });
    return { ...recovered, ...(restored === undefined ? {} : { restoredFrom: restored.from }) };
  };
}

/** Events that were at work when the process ended are handled again. */
function recoverEvents({ present, log }: Pick<RecoveryParts, "present" | "log">, now: number): number {
  let found = 0;
  for (const event of present.events.values()) {
    const wasBegun = event.begun;
    const crashes = event.crashes + (wasBegun ? 1 : 0);
    const waits = event.state === "ready" && isLastTry({ crashes }) && crashes < MAX_CRASHES;
    if (!wasBegun && !waits) continue;
    const set = { begun: false, crashes, ...(waits ? awaitingLastTry(event, crashes, now) : {}) };
    log.add({ seq: log.next, fact: "change", of: "event", subject: event.seq, at: now, set });
    event.isClaimed = false;
    if (wasBegun) found++;
  }
  return found;
}

/** Changes of an event that may have ended the process: its last try waits, over each restart, and people see the reason. */
function awaitingLastTry({ begun, notBefore }: LiveEvent, crashes: number, now: number): Partial<EventFields> {
  const later = { notBefore: Math.max(notBefore, now + LAST_TRY_AFTER_MS) };
  return begun ? { ...later, note: crashNote(crashes, now, { timed: true }) } : later;
}

/** Reads all queued intents of a specialist. */
function unqueue(present: Present, rows: IntentRows, specialist: Handle): void {
  for (const seq of present.unqueueIntents(specialist, LANES, Infinity)) {
    const intent = rows.one(seq);
    if (intent !== undefined) present.putIntent(intent);
  }
}

/** Corrects all due times after the clock went back while nothing ran, see `due-dates.ts`. */
function createPullInAll(db: DatabaseSync, present: Present, log: FactLog): (backMs: number, now: number) => void {
  const pullInRows = createPullIn(db);
  const move = (seq: number, at: number, set: Partial<IntentFields>): void =>
    log.add({ seq: log.next, fact: "change", of: "intent", subject: seq, at, set });
  return (backMs, now) => {
    pullInRows(backMs, now);
    const earlier = (at: number): number => Math.max(now, at - backMs);
    for (const { seq, notBefore, state } of present.events.values())
      if (state === "ready" && notBefore > now)
        log.add({ seq: log.next, fact: "change", of: "event", subject: seq, at: now, set: { notBefore: earlier(notBefore) } });
    for (const { seq, state, sentAt, nextAt } of present.intents.values()) {
      if (isIn(UNDER_WAY, state) && sentAt !== undefined && sentAt > now) move(seq, now, { sentAt: UNDATED }); // sent at an unknown time
      if (isIn(TIMED, state) && nextAt > now) move(seq, now, { nextAt: earlier(nextAt) });
    }
  };
}
