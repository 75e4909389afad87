/** Intents that are not settled yet, and which of them may be sent or looked for now. */
import type { Lane } from "../contract/operations.ts";
import { DRY_RUN, type Intent, type IntentChange, type IntentState as State } from "../outbox/intent.ts";
import { INTENTS_OF_RUN, type IntentSeed, type IntentFields, type RunFact } from "./facts.ts";

type Mutable<T> = { -readonly [name in keyof T]: T[name] };

export interface LiveIntent extends Mutable<Intent> {
  readonly ordinal: number;
  readonly textHash: string | undefined;
  /** Requests that may have taken effect, as far as their answers say. */
  unanswered: number;
  firstRequest: number | undefined;
  lastRequest: number | undefined;
  /** The number of the last fact about it. */
  last: number;
  /** A row is there for it, perhaps of how it was before. */
  isStored: boolean;
}

const SETTLED: readonly State[] = ["confirmed", "refused", "cancelled", "parked"];
/** What stays in memory: everything else is read again when somebody asks for it. */
const LIVE: readonly State[] = ["proposed", "ready", "sending", "in_doubt"];

export function isLive({ state }: { readonly state: State }): boolean {
  return LIVE.includes(state);
}

/** Words that were or may still be said, or that only a dry run withheld. */
export function isSaid({ textHash, state, code }: Pick<LiveIntent, "textHash" | "state" | "code">): boolean {
  return textHash !== undefined && ((state !== "refused" && state !== "cancelled") || code === DRY_RUN);
}

/** Whether another one on the same object has to wait for it. */
export function holdsConflict({ state }: { readonly state: State }): boolean {
  return state === "sending" || state === "in_doubt";
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
    last: run.seq,
    isStored: false,
  };
}

/** A change as the fact that makes it. `waited` is the code of those that a copy put back may have sent already. */
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
  };
}

/** As the ports speak of it: a copy, since whoever has it goes on with what was so when it asked. */
export function asIntent(live: LiveIntent): Intent {
  const { ordinal: _o, textHash: _t, unanswered: _u, firstRequest: _f, lastRequest: _r, last: _l, isStored: _s, ...intent } = live;
  return intent;
}

/** It waits for the earlier ones of its run, and for the one whose object it is about. */
export function isFree(intent: LiveIntent, intents: ReadonlyMap<number, LiveIntent>): boolean {
  if (intent.targetIntent !== undefined && intent.target === undefined) return false;
  for (let before = intent.seq - intent.ordinal; before < intent.seq; before++) {
    const state = intents.get(before)?.state;
    if (state === "ready" || state === "sending") return false;
  }
  return true;
}

/** Whether it is withdrawn at its time: what may have happened already is not, but for what nobody can answer any longer. */
export function runsOut({ state, everUnknown, expiresAt }: LiveIntent): boolean {
  return expiresAt !== undefined && (state === "proposed" || (state === "ready" && !everUnknown));
}

export function isReadyIn(intent: LiveIntent, lanes: readonly Lane[]): boolean {
  return intent.state === "ready" && lanes.includes(intent.lane);
}
