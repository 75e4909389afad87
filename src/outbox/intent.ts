/** An action from decision to end: its states, the moves between them, and who makes which. */
import type { AnyCode } from "../core/error-codes.ts";
import type { EventKind } from "../contract/event-kinds.ts";
import type { Effect, Lane } from "../contract/operations.ts";
import type { NewEvent, WatchWrite } from "../contract/event.ts";
import type { Handle, IntentId, KeyId } from "../core/ids.ts";
import type { Json, JsonObject } from "../core/json.ts";

interface StateFacts {
  /**
   * `unsent`: no request of it may take effect any more or yet. `under-way`: one may. `undecided`: a person has to say.
   * `done` and `dropped`: it is over, and never moves again.
   */
  readonly phase: "unsent" | "under-way" | "undecided" | "done" | "dropped";
  /** Its `nextAt` says when the runtime goes on with it. */
  readonly timed: boolean;
  /** Later actions of the same handling wait for it. */
  readonly goesFirst: boolean;
  /** Its `settledAt` says since when. */
  readonly settled: boolean;
  /** Whether its effect can be seen on the network: `maybe` where an earlier request may have taken effect. */
  readonly visible: "yes" | "maybe" | "no";
  /** The event by which its author hears of it. */
  readonly receipt: Extract<EventKind, `intent.${string}`> | undefined;
}

const NOTHING_YET = { timed: false, goesFirst: false, settled: false, visible: "no", receipt: undefined } as const;

export const STATES = {
  /** Waits for the Guardian's approval. */
  proposed: { ...NOTHING_YET, phase: "unsent" },
  /** Goes out as soon as the limits let it. */
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
  /** Nothing shows what became of it: a person has to say. */
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
/** Nothing came of it: its money is free again, and what depends on it is cancelled. */
export const DROPPED = statesWhere(({ phase }) => phase === "dropped");
/** Only a person can go on with these. */
export const FOR_A_PERSON = INTENT_STATES.filter((state) => state === "proposed" || STATES[state].phase === "undecided");
/** Not over yet. */
export const OPEN = INTENT_STATES.filter((state) => !FINAL.includes(state));
/** The runtime goes on with these by itself, where their specialist runs. */
export const TIMED = statesWhere(({ timed }) => timed);
export const GOES_FIRST = statesWhere(({ goesFirst }) => goesFirst);
export const SETTLED = statesWhere(({ settled }) => settled);
export const VISIBLE = statesWhere(({ visible }) => visible === "yes");
export const MAYBE_VISIBLE = statesWhere(({ visible }) => visible === "maybe");

/** Each state and those it may become. Staying what it is, at another time or with another reason, is a move too. */
export const TRANSITIONS = {
  proposed: ["ready", "in_doubt", "cancelled"],
  ready: ["ready", "sending", "in_doubt", "refused", "parked", "cancelled"],
  sending: ["ready", "in_doubt", "confirmed", "refused", "pending", "parked"],
  in_doubt: ["in_doubt", "ready", "confirmed", "refused", "parked", "cancelled"],
  pending: ["ready", "confirmed", "refused", "cancelled"],
  parked: ["ready", "confirmed", "cancelled"],
  confirmed: [],
  refused: [],
  cancelled: [],
} as const satisfies { readonly [From in IntentState]: readonly IntentState[] };

interface Moves {
  /** In any other state the move does not happen. */
  readonly from: readonly IntentState[];
  readonly to: readonly IntentState[];
}

/** Who moves intents: the states in which each finds them, and those in which it leaves them. */
export const MOVERS = {
  /** The limits let a request leave. */
  admission: { from: ["ready"], to: ["sending"] },
  /** The outbox puts off, brings forward or refuses what has not left. */
  outbox: { from: ["ready"], to: ["ready", "refused", "parked"] },
  /** The answer to a request, or none. */
  answer: { from: ["sending"], to: ["ready", "in_doubt", "confirmed", "refused", "pending", "parked"] },
  /** What reading the network back shows. */
  "read-back": { from: ["in_doubt"], to: ["in_doubt", "ready", "confirmed", "refused", "parked"] },
  /** The network's own Guardian has decided. */
  "remote-approval": { from: ["pending"], to: ["confirmed", "refused"] },
  /** The Guardian's answer to what it was asked. */
  approval: { from: ["proposed"], to: ["ready", "cancelled"] },
  /** A person tries again what has not happened. */
  retry: { from: ["parked"], to: ["ready"] },
  /** A person says what became of it. */
  settle: { from: ["in_doubt", "pending", "parked"], to: ["ready", "confirmed", "cancelled"] },
  expiry: { from: ["proposed", "ready"], to: ["cancelled"] },
  /** The action that it is about was dropped. */
  dependency: { from: ["proposed", "ready"], to: ["cancelled"] },
  /** The process ended before the answer came. */
  recovery: { from: ["sending"], to: ["ready", "in_doubt"] },
  /** The store was put back from a copy: it may have been sent since. */
  restoration: { from: ["proposed", "ready"], to: ["in_doubt"] },
} as const satisfies { readonly [mover: string]: Moves };

export type Mover = keyof typeof MOVERS;

/** The states into which a mover moves an intent. */
export type TargetOf<By extends Mover> = (typeof MOVERS)[By]["to"][number];

/** The states from which a move is made: those of the mover that may become `to`. */
export function originsOf<By extends Mover>(by: By, to: TargetOf<By>): readonly IntentState[] {
  const { from }: Moves = MOVERS[by];
  return from.filter((state) => canBecome(state, to));
}

export function canBecome(from: IntentState, to: IntentState): boolean {
  const targets: readonly IntentState[] = TRANSITIONS[from];
  return targets.includes(to);
}

/** Whether a person may say what became of it. */
export function isDecidable(state: IntentState): boolean {
  return originsOf("settle", "confirmed").includes(state);
}

/** Stands for when it was sent where a clock that was ahead dated it: it may have been at any time, so before everything. */
export const UNDATED = 0;

/** The code of a refused action that only the dry run kept from leaving, and what it says. */
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
  /** An earlier attempt may have happened: a later refusal does not settle it. */
  readonly everUnknown: boolean;
  readonly nextAt: number;
  readonly checks: number;
  /** In ms since the epoch, by the machine's clock; {@link UNDATED} where that is known to have been wrong. */
  readonly sentAt: number | undefined;
  readonly expiresAt: number | undefined;
  readonly createdRef: string | undefined;
  readonly code: string | undefined;
  readonly message: string | undefined;
  readonly createdAt: number;
  readonly settledAt: number | undefined;
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

/** Where an intent goes next. */
export interface IntentChange<State extends IntentState = IntentState> {
  readonly state: State;
  readonly nextAt?: number;
  readonly code?: AnyCode;
  readonly message?: string;
  /** The network's id of what came to be. */
  readonly createdRef?: string;
  /** A complete read-back found nothing. */
  readonly checked?: boolean;
  readonly everUnknown?: boolean;
}

/** How an intent ends whose time is over. */
export function expiry({ state }: Pick<Intent, "state">): IntentChange<"cancelled"> & Required<Pick<IntentChange, "code" | "message">> {
  return state === "proposed"
    ? { state: "cancelled", code: "approval_expired", message: "nobody answered in time" }
    : { state: "cancelled", code: "expired", message: "it no longer made sense" };
}

/** An intent as it stands by now: its time may be over while nothing runs to say so. */
export function asOf(intent: Intent, now: number): Intent {
  const { state, everUnknown, expiresAt = Infinity } = intent;
  const ends = state === "proposed" || (state === "ready" && !everUnknown);
  if (!ends || expiresAt > now) return intent;
  return { ...intent, ...expiry(intent), settledAt: expiresAt };
}

/** What follows from what became of an intent. */
export interface Conclusion<State extends IntentState = IntentState> {
  readonly change: IntentChange<State>;
  readonly events: readonly NewEvent[];
  readonly watches: readonly WatchWrite[];
}
