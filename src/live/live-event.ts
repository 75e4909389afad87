/** Events in memory: those that are not done, and the rule by which they are claimed. */
import type { EventId, Handle } from "../core/ids.ts";
import { SECOND } from "../core/units.ts";
import type { EventFact, EventFields } from "./facts.ts";

/** Handlings without an end after which an event is parked: it may be the cause of the crashes. */
export const MAX_CRASHES = 3;

/**
 * The last try waits until its store has been open for this long: a process that lived so long without the event, and ends with it, ends
 * because of it. Processes that are killed from outside, one soon after the other, park nothing.
 */
export const LAST_TRY_AFTER_MS = 30 * SECOND;

type Mutable<T> = { -readonly [name in keyof T]: T[name] };

export interface LiveEvent extends Mutable<EventFields> {
  readonly seq: number;
  readonly specialist: Handle;
  readonly id: EventId;
  readonly kind: string;
  readonly thread: string | undefined;
  readonly hops: number;
  readonly createdAt: number;
  /** JSON; undefined if it is read from its row for the handler. */
  payload: string | undefined;
  /** The number of the last fact about it. */
  last: number;
  /** It has a row in `open`. */
  isStored: boolean;
  /** A handler has it. Lost with the process, like everything below. */
  isClaimed: boolean;
  /** Steps of an earlier handling may be stored. */
  hasSteps: boolean;
}

export function liveEvent(fact: EventFact): LiveEvent {
  const { seq, specialist, id, kind, thread, hops, at, payload, begun } = fact;
  return {
    seq,
    specialist,
    id,
    kind,
    thread,
    hops,
    createdAt: at,
    payload,
    last: seq,
    isStored: false,
    isClaimed: false,
    hasSteps: false,
    state: "ready",
    attempts: 0,
    crashes: 0,
    begun,
    beganAt: begun ? at : undefined,
    notBefore: 0,
    note: undefined,
    parkedAt: undefined,
  };
}

/** True if no fact has changed it since it came: its row needs no state. */
export function isUnchanged(event: LiveEvent): boolean {
  return event.last === event.seq && !event.begun;
}

/** True if the event is parked should a process end once more while it is handled. */
export function isLastTry({ crashes }: Pick<LiveEvent, "crashes">): boolean {
  return crashes >= MAX_CRASHES - 1;
}

export interface Claim {
  readonly taken: readonly LiveEvent[];
  /** Events that crashed too often. */
  readonly poisoned: readonly LiveEvent[];
}

/**
 * The events that may be handled now, oldest first and one at a time per thread. What was at work when a process ended may be
 * what ended it: it is taken alone, so that what waits behind it is not counted with it, and the last time while no other such
 * event runs, so that nothing is parked for another's doing. A kind without room is passed over.
 */
export function claimable(
  events: Iterable<LiveEvent>,
  now: number,
  limit: number,
  mustWait: () => boolean,
  hasRoom?: (kind: string) => boolean,
): Claim {
  const taken: LiveEvent[] = [];
  const poisoned: LiveEvent[] = [];
  for (const event of dueEvents(events, now, limit, hasRoom)) {
    if (event.crashes >= MAX_CRASHES) {
      poisoned.push(event);
      continue;
    }
    if (event.crashes > 0 && taken.length > 0) break;
    if (isLastTry(event) && mustWait()) continue;
    taken.push(event);
    if (event.crashes > 0) break;
  }
  return { taken, poisoned };
}

/**
 * The time by which events are sorted. One that may have ended the process comes by its age, also after a wait: it is taken alone, and newer
 * events before it would each be taken in its place.
 */
function turnOf({ crashes, notBefore }: LiveEvent): number {
  return crashes > 0 ? 0 : notBefore;
}

function dueEvents(events: Iterable<LiveEvent>, now: number, limit: number, hasRoom?: (kind: string) => boolean): readonly LiveEvent[] {
  const due: LiveEvent[] = [];
  /** The first thread is no set: nearly always it is the only one. */
  let thread: string | undefined;
  let threads: Set<string> | undefined;
  let isPutOff = false;
  for (const event of events) {
    if (event.state !== "ready") continue;
    if (event.thread !== undefined) {
      if (event.thread === thread || threads?.has(event.thread) === true) continue;
      if (thread === undefined) thread = event.thread;
      else (threads ??= new Set()).add(event.thread);
    }
    if (event.isClaimed || event.notBefore > now || hasRoom?.(event.kind) === false) continue;
    isPutOff ||= event.notBefore > 0;
    due.push(event);
    if (due.length === limit && !isPutOff) return due; // none before it waits for a time: they come in their order
  }
  if (isPutOff) due.sort((a, b) => turnOf(a) - turnOf(b) || a.seq - b.seq);
  return due.length <= limit ? due : due.slice(0, limit);
}
