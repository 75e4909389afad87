/**
 * The present state: events to handle, intents to send or read back, requests under way. One function makes it from facts, at the start
 * and while the process runs, so memory and rows differ only if a fact is missing. Every decision reads it, and nothing else.
 */
import type { Handle, KeyId } from "../core/ids.ts";
import type { Lane } from "../contract/operations.ts";
import { NumberQueue } from "./number-queue.ts";
import { LastTries } from "./last-tries.ts";
import { liveEvent, type LiveEvent } from "./live-event.ts";
import type { AnswerFact, AttemptFact, ChangeFact, EventFact, Fact, RunFact, IntentFields } from "./facts.ts";
import { holdsConflict, isLive, isPlain, isSaid, liveIntent, type LiveIntent } from "./live-intent.ts";

/** A request without an answer. */
export interface LiveAttempt extends AttemptFact {
  /** It has a row in `open`. */
  isStored: boolean;
}

/** The open work of one specialist, in the order of numbers. */
export interface Mine {
  readonly events: Map<number, LiveEvent>;
  /** Intents that may still be sent, or whose outcome is awaited. */
  readonly intents: Map<number, LiveIntent>;
  /** Numbers of further events, all newer and unchanged: read from their rows when there is room. Undefined for nearly all specialists. */
  queue: NumberQueue | undefined;
  /** Numbers of further plain intents by lane, all newer: read from their rows when their turn comes. Undefined for nearly all. */
  waiting: Map<Lane, NumberQueue> | undefined;
  /** Highest number of an intent so far: a lower one that comes to memory after it is out of order. */
  newest: number;
  /** True if intents are out of order. */
  isMixed: boolean;
}

/** Changes since the last fold. */
export interface Touched {
  readonly events: Set<LiveEvent>;
  /** Numbers of events that were queued. */
  readonly queued: Set<number>;
  readonly intents: Set<LiveIntent>;
  /** The settled ones among them. */
  readonly settled: Set<LiveIntent>;
  readonly attempts: Set<LiveAttempt>;
}

/** Bounds of one payload and of all payloads in memory: beyond them a payload is read from its row for the handler. */
const LONGEST_PAYLOAD = 16 * 1_024;
const PAYLOADS_LENGTH = 32 * 1_024 * 1_024;

/**
 * Bounds of events in memory: of one specialist, of one while all together have reached theirs, and of one if its events wait for a time.
 */
const MOST_EVENTS = 1_000;
const FEWEST_EVENTS = 32;
const MOST_DELAYED = 10_000;
const ALL_EVENTS = 100_000;

/** Bound of plain intents of one specialist and lane in memory, and the rest at which the next come. */
export const MOST_INTENTS = 512;
const FEWEST_INTENTS = 64;

/** Outcomes of requests that certainly had no effect. */
const WITHOUT_EFFECT: readonly string[] = ["never-left", "limited", "unauthorized"];
const NO_NUMBERS: readonly number[] = [];
const NOTHING = newMine();
const MOST_SPARE = 64;

function newMine(): Mine {
  return { events: new Map(), intents: new Map(), queue: undefined, waiting: undefined, newest: 0, isMixed: false };
}

export class Present {
  readonly events = new Map<number, LiveEvent>();
  /** Intents that are not settled, or were settled since the last fold. */
  readonly intents = new Map<number, LiveIntent>();
  readonly attempts = new Map<number, LiveAttempt>();
  readonly lastTries = new LastTries((event) => event.isClaimed && this.events.get(event.seq) === event);
  readonly touched: Touched = { events: new Set(), queued: new Set(), intents: new Set(), settled: new Set(), attempts: new Set() };
  readonly #mine = new Map<Handle, Mine>();
  /** Empty ones for the next specialist with work: two maps for each event were a hundredth of what it allocates. */
  readonly #spare: Mine[] = [];
  readonly #byId = new Map<string, LiveIntent>();
  readonly #conflicts = new Map<string, LiveIntent[]>();
  /** The number of the last fact. */
  last = 0;
  /** Called when a text counts as said or no longer does, and when an object was created. */
  onSpoken: ((intent: LiveIntent, change: "said" | "unsaid" | "made") => void) | undefined;
  #payloadsLength = 0;

  /** Applies a fact. A start may apply one again whose subject already contains it, or is over: then nothing changes. */
  apply(fact: Fact): void {
    this.last = Math.max(this.last, fact.seq);
    switch (fact.fact) {
      case "event":
        return this.#happened(fact);
      case "run":
        return this.#ended(fact);
      case "attempt":
        return this.#left(fact);
      case "answer":
        return this.#answered(fact);
      case "change":
        return this.#changed(fact);
    }
  }

  /** The open work of a specialist, for reading. */
  of(specialist: Handle): Mine {
    return this.#mine.get(specialist) ?? NOTHING;
  }

  specialists(): Iterable<Handle> {
    return this.#mine.keys();
  }

  byId(id: string): LiveIntent | undefined {
    return this.#byId.get(id);
  }

  /** Another intent on the same object that was sent or is in doubt. */
  conflict(key: string, except: number): LiveIntent | undefined {
    return this.#conflicts.get(key)?.find(({ seq }) => seq !== except);
  }

  /** Open requests of a key, except one. */
  *attemptsOf(key: KeyId, except = -1): Generator<{ readonly lane: Lane; readonly cost: number; readonly operation: string }> {
    for (const attempt of this.attempts.values()) if (attempt.key === key && attempt.seq !== except) yield attempt;
  }

  /** Adds an event that was read from its row. */
  putEvent(event: LiveEvent): void {
    const { length } = event.payload ?? "";
    if (length > LONGEST_PAYLOAD || this.#payloadsLength + length > PAYLOADS_LENGTH) event.payload = undefined;
    else this.#payloadsLength += length;
    this.events.set(event.seq, event);
    this.#of(event.specialist).events.set(event.seq, event);
  }

  putIntent(intent: LiveIntent): void {
    this.intents.set(intent.seq, intent);
    this.#byId.set(intent.id, intent);
    this.of(intent.specialist).waiting?.get(intent.lane)?.remove(intent.seq);
    if (isLive(intent)) {
      const mine = this.#of(intent.specialist);
      if (intent.seq > mine.newest) mine.newest = intent.seq;
      else if (!mine.intents.has(intent.seq)) mine.isMixed = true;
      mine.intents.set(intent.seq, intent);
    }
    this.#enter(intent);
  }

  putAttempt(attempt: LiveAttempt): void {
    this.attempts.set(attempt.seq, attempt);
  }

  /** Forgets an event that is done or parked: its row says the rest. */
  dropEvent(event: LiveEvent): void {
    this.#payloadsLength -= event.payload?.length ?? 0;
    this.events.delete(event.seq);
    const mine = this.#mine.get(event.specialist);
    mine?.events.delete(event.seq);
    this.#tidy(event.specialist, mine);
  }

  dropIntent(intent: LiveIntent): void {
    this.intents.delete(intent.seq);
    this.#byId.delete(intent.id);
    this.#close(intent);
  }

  /** Intents of a specialist that were settled since the last fold. */
  *settledOf(specialist: Handle): Generator<LiveIntent> {
    for (const intent of this.touched.intents) if (intent.specialist === specialist && !isLive(intent)) yield intent;
  }

  #close(intent: LiveIntent): void {
    const mine = this.#mine.get(intent.specialist);
    if (mine?.intents.delete(intent.seq) === true) this.#tidy(intent.specialist, mine);
  }

  /** A specialist's intents, the oldest first. */
  intentsOf(specialist: Handle): Iterable<LiveIntent> {
    const mine = this.of(specialist);
    if (mine.isMixed) {
      const sorted = [...mine.intents.values()].sort((a, b) => a.seq - b.seq);
      mine.intents.clear();
      for (const intent of sorted) mine.intents.set(intent.seq, intent);
      mine.isMixed = false;
    }
    return mine.intents.values();
  }

  /** Number of events of a specialist that wait or run. */
  eventCount(specialist: Handle): number {
    const { events, queue } = this.of(specialist);
    return events.size + (queue?.length ?? 0);
  }

  /** Queues an unchanged event if it may not be in memory: there is no room, or an older one is queued. */
  queued(seq: number, specialist: Handle): boolean {
    const { events, queue } = this.of(specialist);
    if (queue === undefined && events.size < (this.events.size < ALL_EVENTS ? MOST_EVENTS : FEWEST_EVENTS)) return false;
    const mine = this.#of(specialist);
    mine.queue = queue ?? new NumberQueue();
    mine.queue.push(seq);
    return true;
  }

  /** True if queued events may come to memory once few of the others are due. */
  hasNext(specialist: Handle): boolean {
    const { events, queue } = this.of(specialist);
    return queue !== undefined && events.size < MOST_DELAYED;
  }

  /** Removes the oldest events from the queue, for the caller to put, if fewer of those in memory are `due` than one claim needs. */
  unqueue(specialist: Handle, due: number): readonly number[] {
    if (due >= FEWEST_EVENTS || !this.hasNext(specialist)) return NO_NUMBERS;
    return this.#take(specialist, this.events.size < ALL_EVENTS ? MOST_EVENTS / 2 : FEWEST_EVENTS);
  }

  /** Removes an event from the queue, with all older ones. Facts that are read again take events in the order of the queue. */
  unqueueUpTo(specialist: Handle, seq: number): readonly number[] {
    const { queue } = this.of(specialist);
    return queue === undefined ? NO_NUMBERS : this.#take(specialist, queue.placeOf(seq) + 1);
  }

  /** Queues the newest plain intents of a specialist that has too many: all of them have rows. */
  queueIntents(specialist: Handle): void {
    const { intents, waiting } = this.of(specialist);
    if (waiting === undefined && intents.size <= MOST_INTENTS) return;
    const counts = new Map<Lane, number>();
    for (const intent of [...intents.values()].sort((a, b) => a.seq - b.seq)) {
      if (!intent.isStored || !isPlain(intent, this.intents)) continue;
      const { seq, lane } = intent;
      const count = (counts.get(lane) ?? 0) + 1;
      counts.set(lane, count);
      if (count <= MOST_INTENTS && !this.isBehind(intent)) continue;
      const mine = this.#of(specialist);
      mine.waiting ??= new Map();
      const queue = mine.waiting.get(lane) ?? new NumberQueue();
      if (seq < (queue.last ?? 0)) continue;
      mine.waiting.set(lane, queue);
      this.dropIntent(intent);
      queue.push(seq);
    }
  }

  /** True if older intents of its lane are queued: their turn comes first. */
  isBehind(intent: LiveIntent): boolean {
    const first = this.of(intent.specialist).waiting?.get(intent.lane)?.first;
    return first !== undefined && intent.seq > first && isPlain(intent, this.intents);
  }

  /** Removes the oldest intents of these lanes from the queue, for the caller to put, if few are left in memory. */
  unqueueIntents(specialist: Handle, lanes: readonly Lane[], count = MOST_INTENTS / 2): readonly number[] {
    const { waiting, intents } = this.of(specialist);
    if (waiting === undefined) return NO_NUMBERS;
    const taken: number[] = [];
    for (const lane of lanes) {
      const queue = waiting.get(lane);
      if (queue === undefined) continue;
      let left = 0;
      for (const intent of intents.values()) if (intent.lane === lane && isPlain(intent, this.intents) && !this.isBehind(intent)) left++;
      if (left < FEWEST_INTENTS || count === Infinity) for (const seq of queue.take(count)) taken.push(seq);
      if (queue.length === 0) waiting.delete(lane);
    }
    if (waiting.size === 0) this.#of(specialist).waiting = undefined;
    return taken;
  }

  #take(specialist: Handle, count: number): readonly number[] {
    const mine = this.#of(specialist);
    const taken = mine.queue?.take(count) ?? NO_NUMBERS;
    if (mine.queue?.length === 0) mine.queue = undefined;
    return taken;
  }

  #happened(fact: EventFact): void {
    if (this.events.has(fact.seq)) return;
    if (this.queued(fact.seq, fact.specialist)) return void this.touched.queued.add(fact.seq);
    const event = liveEvent(fact);
    this.putEvent(event);
    this.touched.events.add(event);
  }

  #ended(fact: RunFact): void {
    const event = this.events.get(fact.event);
    if (event !== undefined) {
      this.dropEvent(event);
      if (event.isStored) this.touched.events.add(event);
      else this.touched.events.delete(event);
    }
    for (const seed of fact.intents) {
      const intent = liveIntent(fact, seed);
      if (this.intents.has(intent.seq)) continue;
      this.putIntent(intent);
      this.touched.intents.add(intent);
      if (isSaid(intent)) this.onSpoken?.(intent, "said");
    }
  }

  #left(fact: AttemptFact): void {
    if (this.attempts.has(fact.seq)) return;
    const attempt: LiveAttempt = { ...fact, isStored: false };
    this.putAttempt(attempt);
    this.touched.attempts.add(attempt);
    const intent = fact.intent === undefined ? undefined : this.intents.get(fact.intent);
    if (intent === undefined || intent.last >= fact.seq) return;
    intent.attempt++;
    intent.unanswered++;
    intent.firstRequest ??= fact.seq;
    intent.lastRequest = fact.seq;
    this.#set(intent, { state: "sending", sentAt: fact.at, checks: 0, code: undefined, message: undefined }, fact.seq);
  }

  #answered(fact: AnswerFact): void {
    const attempt = this.attempts.get(fact.attempt);
    if (attempt === undefined) return;
    this.attempts.delete(attempt.seq);
    if (attempt.isStored) this.touched.attempts.add(attempt);
    else this.touched.attempts.delete(attempt);
    const intent = attempt.intent === undefined ? undefined : this.intents.get(attempt.intent);
    if (intent === undefined || intent.last >= fact.seq) return;
    if (WITHOUT_EFFECT.includes(fact.outcome)) intent.unanswered--;
    this.#set(intent, fact.set ?? {}, fact.seq);
  }

  #changed(fact: ChangeFact): void {
    if (fact.of === "intent") {
      const intent = this.intents.get(fact.subject);
      if (intent !== undefined && intent.last < fact.seq) this.#set(intent, fact.set, fact.seq);
      return;
    }
    const event = this.events.get(fact.subject);
    if (event === undefined || event.last >= fact.seq) return;
    Object.assign(event, fact.set);
    event.last = fact.seq;
    this.touched.events.add(event);
  }

  #set(intent: LiveIntent, set: Partial<IntentFields>, seq: number): void {
    this.#leave(intent);
    const wasSaid = isSaid(intent);
    Object.assign(intent, set);
    intent.last = seq;
    if (isSaid(intent) !== wasSaid) this.onSpoken?.(intent, wasSaid ? "unsaid" : "said");
    if (set.createdRef !== undefined) this.onSpoken?.(intent, "made");
    this.#enter(intent);
    this.touched.intents.add(intent);
    if (isLive(intent)) {
      this.touched.settled.delete(intent);
      this.#of(intent.specialist).intents.set(intent.seq, intent);
    } else {
      this.touched.settled.add(intent);
      this.#close(intent);
    }
  }

  #enter(intent: LiveIntent): void {
    if (!holdsConflict(intent)) return;
    const held = this.#conflicts.get(intent.conflictKey);
    if (held === undefined) this.#conflicts.set(intent.conflictKey, [intent]);
    else held.push(intent);
  }

  #leave(intent: LiveIntent): void {
    if (!holdsConflict(intent)) return;
    const held = this.#conflicts.get(intent.conflictKey);
    if (held === undefined || held.length === 1) this.#conflicts.delete(intent.conflictKey);
    else held.splice(held.indexOf(intent), 1);
  }

  #of(specialist: Handle): Mine {
    const known = this.#mine.get(specialist);
    if (known !== undefined) return known;
    const made = this.#spare.pop() ?? newMine();
    this.#mine.set(specialist, made);
    return made;
  }

  /** A specialist without open work takes no memory, like most. */
  #tidy(specialist: Handle, mine: Mine | undefined): void {
    if (mine === undefined || mine.events.size > 0 || mine.intents.size > 0 || (mine.queue ?? mine.waiting) !== undefined) return;
    this.#mine.delete(specialist);
    if (this.#spare.length >= MOST_SPARE) return;
    mine.newest = 0;
    mine.isMixed = false;
    this.#spare.push(mine);
  }
}
