/** Intents in memory: those that are not settled, and the rules by which they may be sent or read back. */
import type { Lane } from "../contract/operations.ts";
import {
  DROPPED,
  DRY_RUN,
  GOES_FIRST,
  INTENT_STATES,
  SETTLED,
  UNDER_WAY,
  UNSENT,
  type Intent,
  type IntentChange,
  type IntentState as State,
} from "../outbox/intent.ts";
import { INTENTS_OF_RUN, type IntentSeed, type IntentFields, type RunFact } from "./facts.ts";

type Mutable<T> = { -readonly [name in keyof T]: T[name] };

export interface LiveIntent extends Mutable<Intent> {
  readonly ordinal: number;
  readonly textHash: string | undefined;
  /** Requests that may have taken effect, by their answers. */
  unanswered: number;
  firstRequest: number | undefined;
  lastRequest: number | undefined;
  /** The number of the last fact about it. */
  last: number;
  /** It has a row, possibly of an earlier state. */
  isStored: boolean;
}

/** Intents in these states stay in memory; all others are read from their rows. */
export const LIVE: readonly State[] = INTENT_STATES.filter((state) => UNSENT.includes(state) || UNDER_WAY.includes(state));

export function isLive({ state }: { readonly state: State }): boolean {
  return LIVE.includes(state);
}

/**
 * True if it waits for its turn and for nothing else, as its run left it, alone: then its number is enough, and the rest is in its row. One
 * that expires stays in memory.
 */
export function isPlain(intent: LiveIntent, intents: ReadonlyMap<number, LiveIntent>): boolean {
  const { seq, ordinal, state, attempt, nextAt, everUnknown, code, targetIntent, expiresAt } = intent;
  const isFresh = state === "ready" && attempt === 0 && nextAt === 0 && !everUnknown && code === undefined;
  return isFresh && targetIntent === undefined && expiresAt === undefined && ordinal === 0 && !intents.has(seq + 1);
}

/** True if its text was or may still be sent, or if only a dry run withheld it. */
export function isSaid({ textHash, state, code }: Pick<LiveIntent, "textHash" | "state" | "code">): boolean {
  return textHash !== undefined && (!DROPPED.includes(state) || code === DRY_RUN);
}

/** True if another intent on the same object has to wait for it. */
export function holdsConflict({ state }: { readonly state: State }): boolean {
  return UNDER_WAY.includes(state);
}

export function liveIntent(run: RunFact, seed: IntentSeed): LiveIntent {
  return {
    seq: run.seq * INTENTS_OF_RUN + seed.ordinal,
    id: seed.id,
    specialist: run.specialist,
    eventSeq: run.event,
    ordinal: seed.ordinal,
    operation: seed.operation,
    target: seed.target,
    targetIntent: seed.targetIntent,
    input: seed.input,
    effect: seed.effect,
    lane: seed.lane,
    thread: seed.thread,
    author: seed.author,
    textHash: seed.textHash,
    conflictKey: seed.conflictKey,
    hops: seed.hops,
    label: seed.label,
    data: seed.data,
    state: seed.state,
    attempt: 0,
    everUnknown: seed.everUnknown === true,
    nextAt: 0,
    checks: 0,
    sentAt: seed.sentAt,
    expiresAt: seed.expiresAt,
    createdRef: undefined,
    code: seed.code,
    message: seed.message,
    createdAt: run.at,
    settledAt: seed.state === "refused" ? run.at : undefined,
    unanswered: 0,
    firstRequest: undefined,
    lastRequest: undefined,
    reason: undefined,
    last: run.seq,
    isStored: false,
  };
}

/** The fields that a change sets. An approved intent with `restoredCode` becomes in doubt: the restored store may have sent it already. */
export function setOf(intent: LiveIntent, change: IntentChange, now: number, restoredCode: string): Partial<IntentFields> {
  const wasRestored = change.state === "ready" && intent.state === "proposed" && intent.code === restoredCode;
  const state = wasRestored ? "in_doubt" : change.state;
  return {
    state,
    code: change.code,
    message: change.message,
    settledAt: SETTLED.includes(change.state) ? now : undefined,
    ...(change.nextAt === undefined ? {} : { nextAt: change.nextAt }),
    ...(change.createdRef === undefined ? {} : { createdRef: change.createdRef }),
    ...(change.checked === true ? { checks: intent.checks + 1 } : {}),
    ...(change.everUnknown === undefined ? {} : { everUnknown: change.everUnknown }),
    ...(change.reason === undefined ? {} : { reason: change.reason }),
  };
}

/** A copy for callers, whose values must not change under them. */
export function asIntent(live: LiveIntent): Intent {
  return {
    seq: live.seq,
    id: live.id,
    specialist: live.specialist,
    eventSeq: live.eventSeq,
    operation: live.operation,
    target: live.target,
    targetIntent: live.targetIntent,
    input: live.input,
    effect: live.effect,
    lane: live.lane,
    thread: live.thread,
    author: live.author,
    conflictKey: live.conflictKey,
    hops: live.hops,
    label: live.label,
    data: live.data,
    state: live.state,
    attempt: live.attempt,
    everUnknown: live.everUnknown,
    nextAt: live.nextAt,
    checks: live.checks,
    sentAt: live.sentAt,
    expiresAt: live.expiresAt,
    createdRef: live.createdRef,
    code: live.code,
    message: live.message,
    createdAt: live.createdAt,
    settledAt: live.settledAt,
    reason: live.reason,
  };
}

/** The intent of the same run that has to go first. */
export function headOf(intent: LiveIntent, intents: ReadonlyMap<number, LiveIntent>): LiveIntent | undefined {
  for (let seq = intent.seq - intent.ordinal; seq < intent.seq; seq++) {
    const before = intents.get(seq);
    if (before !== undefined && GOES_FIRST.includes(before.state)) return before;
  }
  return undefined;
}

/** An intent waits for the earlier ones of its run, and for the one that creates its object. */
export function isFree(intent: LiveIntent, intents: ReadonlyMap<number, LiveIntent>): boolean {
  return (intent.targetIntent === undefined || intent.target !== undefined) && headOf(intent, intents) === undefined;
}

/**
 * True if it expires at its time. An intent that may have been sent does not; one that waits for the Guardian expires in any case, because
 * nobody can answer it afterwards.
 */
export function expires({ state, everUnknown, expiresAt }: LiveIntent): boolean {
  return expiresAt !== undefined && (state === "proposed" || (state === "ready" && !everUnknown));
}

export function isReadyIn(intent: LiveIntent, lanes: readonly Lane[]): boolean {
  return intent.state === "ready" && lanes.includes(intent.lane);
}
