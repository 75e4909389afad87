/** An action from decision to end: its states, the transitions between them, and the mover of each. */
import type { AnyCode } from "../core/error-codes.ts";
import type { EventKind } from "../contract/event-kinds.ts";
import type { Effect, Lane } from "../contract/operations.ts";
import type { NewEvent, WatchWrite } from "../contract/event.ts";
import type { Handle, IntentId, KeyId } from "../core/ids.ts";
import type { Json, JsonObject } from "../core/json.ts";

interface StateFacts {
  /** `unsent`: no request of it can take effect. `under-way`: one may. `undecided`: a person has to decide. `done` and `dropped`: final. */
  readonly phase: "unsent" | "under-way" | "undecided" | "done" | "dropped";
  /** Its `nextAt` is the time at which the runtime continues with it. */
  readonly timed: boolean;
  /** Later actions of the same handling wait for it. */
  readonly goesFirst: boolean;
  /** Its `settledAt` is the time of the change. */
  readonly settled: boolean;
  /** Visibility of its effect on the network: `maybe` if an earlier request may have taken effect. */
  readonly visible: "yes" | "maybe" | "no";
  /** The event that reports it to its author. */
  readonly receipt: Extract<EventKind, `intent.${string}`> | undefined;
}

const NOTHING_YET = { timed: false, goesFirst: false, settled: false, visible: "no", receipt: undefined } as const;

export const STATES = {
  /** Waits for the Guardian's approval. */
  proposed: { ...NOTHING_YET, phase: "unsent" },
  /** Sent as soon as the limits permit. */
  ready: { ...NOTHING_YET, phase: "unsent", timed: true, goesFirst: true },
  /** A request was admitted, and its answer is awaited. */
  sending: { ...NOTHING_YET, phase: "under-way", goesFirst: true },
  /** A request may have taken effect: the network is read back. */
  in_doubt: { ...NOTHING_YET, phase: "under-way", timed: true },
  confirmed: { ...NOTHING_YET, phase: "done", settled: true, visible: "yes", receipt: "intent.confirmed" },
  refused: { ...NOTHING_YET, phase: "dropped", settled: true, receipt: "intent.refused" },
  /** The network waits for its own Guardian. */
  pending: { ...NOTHING_YET, phase: "undecided", visible: "yes", receipt: "intent.pending" },
  cancelled: { ...NOTHING_YET, phase: "dropped", settled: true, visible: "maybe", receipt: "intent.refused" },
  /** Nothing shows the outcome: a person has to decide. */
  parked: { ...NOTHING_YET, phase: "undecided", settled: true, visible: "maybe", receipt: "intent.parked" },
} as const satisfies { readonly [state: string]: StateFacts };

export type IntentState = keyof typeof STATES;

export const INTENT_STATES: readonly IntentState[] = Object.keys(STATES).filter(isIntentState);

export function isIntentState(text: string): text is IntentState {
  return Object.hasOwn(STATES, text);
}

const statesWhere = (holds: (facts: StateFacts) => boolean): readonly IntentState[] =>
  INTENT_STATES.filter((state) => holds(STATES[state]));

export const UNSENT = statesWhere(({ phase }) => phase === "unsent");
/** Another action on the same target must not be sent meanwhile. */
export const UNDER_WAY = statesWhere(({ phase }) => phase === "under-way");
export const FINAL = statesWhere(({ phase }) => phase === "done" || phase === "dropped");
/** It had no effect: its money is released, and dependent actions are cancelled. */
export const DROPPED = statesWhere(({ phase }) => phase === "dropped");
/** Only a person can continue with these. */
export const FOR_A_PERSON = INTENT_STATES.filter((state) => state === "proposed" || STATES[state].phase === "undecided");
/** Not over yet. */
export const OPEN = INTENT_STATES.filter((state) => !FINAL.includes(state));
/** The runtime continues with these while their specialist runs. */
export const TIMED = statesWhere(({ timed }) => timed);
export const GOES_FIRST = statesWhere(({ goesFirst }) => goesFirst);
export const SETTLED = statesWhere(({ settled }) => settled);
export const VISIBLE = statesWhere(({ visible }) => visible === "yes");
export const MAYBE_VISIBLE = statesWhere(({ visible }) => visible === "maybe");

interface Moves {
  /** In any other state the transition does not happen. */
  readonly from: readonly IntentState[];
  readonly to: readonly IntentState[];
}

/** Each mover of intents, with the states from which and to which it moves them. A new time or reason in the same state is a move too. */
export const TRANSITIONS = {
  /** The limits let a request leave. */
  admission: { from: ["ready"], to: ["sending"] },
  /** The outbox delays, brings forward or refuses an action that has not left, or has it read back first. */
  outbox: { from: ["ready"], to: ["ready", "in_doubt", "refused", "parked"] },
  /** The answer to a request, or none. */
  answer: { from: ["sending"], to: ["ready", "in_doubt", "confirmed", "refused", "pending", "parked"] },
  /** The result of reading the network back. */
  "read-back": { from: ["in_doubt"], to: ["in_doubt", "ready", "confirmed", "refused", "parked"] },
  /** The decision of the network's own Guardian. */
  "remote-approval": { from: ["pending"], to: ["confirmed", "refused"] },
  /** The Guardian's answer to an approval. */
  approval: { from: ["proposed"], to: ["ready", "cancelled"] },
  /** Another action of its kind was confirmed, which can prove that reading back works. */
  reopening: { from: ["parked"], to: ["in_doubt"] },
  /** A person retries an action that has not happened. */
  retry: { from: ["parked"], to: ["ready"] },
  /** A person's verdict. */
  settle: { from: ["in_doubt", "pending", "parked"], to: ["ready", "confirmed", "cancelled"] },
  expiry: { from: ["proposed", "ready"], to: ["cancelled"] },
  /** The action that it depends on was dropped. */
  dependency: { from: ["proposed", "ready"], to: ["cancelled"] },
  /** The process ended before the answer came. */
  recovery: { from: ["sending"], to: ["ready", "in_doubt"] },
  /** The store was restored from a copy: it may have been sent since. */
  restoration: { from: ["proposed", "ready"], to: ["in_doubt"] },
} as const satisfies { readonly [mover: string]: Moves };

export type Mover = keyof typeof TRANSITIONS;

/** The states into which a mover moves an intent. */
export type TargetOf<By extends Mover> = (typeof TRANSITIONS)[By]["to"][number];

/** The states from which a mover makes the transition to `to`. */
export function originsOf<By extends Mover>(by: By, to: TargetOf<By>): readonly IntentState[] {
  const { from, to: targets }: Moves = TRANSITIONS[by];
  return targets.includes(to) ? from : [];
}

export function canBecome(from: IntentState, to: IntentState): boolean {
  return Object.values<Moves>(TRANSITIONS).some((moves) => moves.from.includes(from) && moves.to.includes(to));
}

/** True if a person may decide the outcome. */
export function isDecidable(state: IntentState): boolean {
  return originsOf("settle", "confirmed").includes(state);
}

/** The end of an action that the Guardian rejected; its author is told the reason. */
export function rejection(reason = "the Guardian rejected it") {
  return { state: "cancelled", code: "approval_rejected", message: reason } as const;
}

/** Sending time of an intent dated by a clock that was ahead: unknown, so before everything. */
export const UNDATED = 0;

/** Code and message of an action that only the dry run withheld. */
export const DRY_RUN = "dry_run";
export const DRY_RUN_MESSAGE = "not sent: this is a dry run";

export interface Intent {
  readonly seq: number;
  readonly id: IntentId;
  readonly specialist: Handle;
  readonly eventSeq: number;
  readonly operation: string;
  readonly target: string | undefined;
  readonly targetIntent: IntentId | undefined;
  readonly input: JsonObject;
  readonly effect: Effect;
  readonly lane: Lane;
  readonly thread: string | undefined;
  readonly author: string | undefined;
  readonly conflictKey: string;
  readonly hops: number;
  readonly label: string | undefined;
  readonly data: Json | undefined;
  readonly state: IntentState;
  /** Requests admitted for it so far. */
  readonly attempt: number;
  /** An earlier attempt may have taken effect: a later refusal does not resolve the intent. */
  readonly everUnknown: boolean;
  readonly nextAt: number;
  readonly checks: number;
  /** In ms since the epoch, by the machine's clock; {@link UNDATED} if that clock was wrong. */
  readonly sentAt: number | undefined;
  readonly expiresAt: number | undefined;
  readonly createdRef: string | undefined;
  readonly code: string | undefined;
  readonly message: string | undefined;
  readonly createdAt: number;
  readonly settledAt: number | undefined;
  /** The Guardian's, given with an approval. */
  readonly reason?: string | undefined;
}

/** An admitted request: its row is on disk. */
export interface Attempt {
  readonly seq: number;
  readonly specialist: Handle;
  readonly keyId: KeyId;
  readonly operation: string;
  readonly lane: Lane;
  /** Requests of quota. */
  readonly cost: number;
  readonly startedAt: number;
  readonly deadlineAt: number;
}

/** The next state of an intent. */
export interface IntentChange<State extends IntentState = IntentState> {
  readonly state: State;
  readonly nextAt?: number;
  readonly code?: AnyCode;
  readonly message?: string;
  /** The network's id of the created object. */
  readonly createdRef?: string;
  /** The Guardian's, given with an approval. */
  readonly reason?: string;
  /** A complete read-back found nothing. */
  readonly checked?: boolean;
  readonly everUnknown?: boolean;
}

/** No intersection: that of all codes with themselves is too much for the compiler. */
interface Expired extends IntentChange<"cancelled"> {
  readonly code: AnyCode;
  readonly message: string;
}

/** The end of an expired intent. */
export function expiry({ state }: Pick<Intent, "state">): Expired {
  return state === "proposed"
    ? { state: "cancelled", code: "approval_expired", message: "it expired without an answer" }
    : { state: "cancelled", code: "expired", message: "it expired before it could be sent" };
}

/** The end of an intent in whose place a newer one waits. */
export const SUPERSEDED = { state: "cancelled", code: "superseded", message: "a newer one of its kind waits in its place" } as const;

/** An intent as of now: it may have expired while nothing ran. */
export function asOf(intent: Intent, now: number): Intent {
  const { state, everUnknown, expiresAt = Infinity } = intent;
  const ends = state === "proposed" || (state === "ready" && !everUnknown);
  if (!ends || expiresAt > now) return intent;
  return { ...intent, ...expiry(intent), settledAt: expiresAt };
}

/** Consequences of an intent's new state. */
export interface Conclusion<State extends IntentState = IntentState> {
  readonly change: IntentChange<State>;
  readonly events: readonly NewEvent[];
  readonly watches: readonly WatchWrite[];
}
