/** The inbox over facts: one unique index keeps each event once, everything else is in memory. */
import type { DatabaseSync } from "node:sqlite";
import type { NewEvent } from "../../contract/event.ts";
import { Fatal } from "../../core/errors.ts";
import type { Handle } from "../../core/ids.ts";
import type { Json } from "../../core/json.ts";
import { crashNote, readNote } from "../failure.ts";
import { MAX_EVENTS_WAITING, MAX_RETRIED, type Arrival, type ClaimedEvent, type InboxStore } from "../inbox.ts";
import { claimable, isLastTry, type LiveEvent } from "../../live/live-event.ts";
import type { EventFields } from "../../live/facts.ts";
import type { Present } from "../../live/present.ts";
import type { Commits } from "./commits.ts";
import { jsonOf, numberOf, textOf } from "./columns.ts";
import type { WatchWriter } from "./sources.ts";
import type { FactLog } from "./fact-log.ts";
import type { OpenRows } from "./load.ts";

export interface InboxParts {
  readonly present: Present;
  readonly commits: Commits;
  readonly log: FactLog;
  readonly writer: WatchWriter;
  readonly rows: OpenRows;
  /** Writes the rows of everything that changed. */
  readonly foldNow: () => void;
}

/** Inserts an event if it is new, inside a transaction the caller owns. The outbox uses it too, for receipts of intents. */
export type InsertEvent = (event: NewEvent, now: number, delivery?: string) => boolean;

export interface Inbox extends Omit<InboxStore, "parkedEvents" | "parkedEventCount"> {
  readonly hasRoomForEvents: (specialist: Handle) => boolean;
  readonly insertEvent: InsertEvent;
  /** Called before an orderly end: events after `since` that no handler has begun do not count as crashed. */
  readonly endUnbegun: (since: number, now: number) => void;
}

const NO_EVENTS: readonly ClaimedEvent[] = [];
const NO_STEPS: ReadonlyMap<string, Json> = new Map();

export function createInbox(db: DatabaseSync, { present, commits, log, writer, rows, foldNow }: InboxParts): Inbox {
  const change = createChange(log);
  const { claim, claimed } = createClaims(db, { present, rows }, change);
  /** An event without others before it is claimed next: its fact counts it as begun at once. */
  const insertEvent: InsertEvent = (event, now, delivery) =>
    log.addEvent(event, now, present.eventCount(event.specialist) === 0, delivery) !== undefined;

  const put = (arrival: Arrival, now: number) => {
    const fresh = arrival.events.filter((event) => insertEvent(event, now));
    if (arrival.cursors !== undefined || arrival.watches !== undefined)
      commits.add(() => {
        for (const cursor of arrival.cursors ?? []) writer.cursor(cursor, now);
        for (const watch of arrival.watches ?? []) writer.watch(watch, now);
      });
    return { fresh, known: arrival.events.length - fresh.length };
  };
  return {
    insertEvent,
    hasRoomForEvents(specialist) {
      let waiting = present.eventCount(specialist);
      if (waiting < MAX_EVENTS_WAITING) return true;
      const { events } = present.of(specialist);
      for (const { isClaimed } of events.values()) if (isClaimed) waiting--;
      return waiting < MAX_EVENTS_WAITING;
    },
    async putEvents(arrival, now) {
      const result = put(arrival, now);
      // A sender forgets acknowledged deliveries; a list can be read again.
      if (arrival.events.some(({ via }) => via === "webhook")) await commits.synced();
      return result;
    },
    claimEvents: (specialist, now, limit, hasRoom) =>
      present.eventCount(specialist) === 0 ? NO_EVENTS : claim(specialist, now, limit, hasRoom).map((event) => claimed(event, now)),
    nextLastTry: () => present.lastTries.next((specialist) => present.of(specialist).events.values()),
    committed: () => commits.committed(),
    retryEvent(seq, { notBefore, failed, note }) {
      const event = present.events.get(seq);
      if (event?.isClaimed !== true) return;
      const attempts = event.attempts + (failed ? 1 : 0);
      change(event, notBefore, { begun: false, crashes: 0, attempts, notBefore, ...(note === undefined ? {} : { note }) });
      event.isClaimed = false;
    },
    parkEvent(seq, now, note) {
      const event = present.events.get(seq);
      if (event === undefined || event.state !== "ready") return;
      change(event, now, { state: "parked", begun: false, parkedAt: now, note });
      event.isClaimed = false;
    },
    ...createUnpark(db, { present, commits, rows }, change),
    ...createRetryFailed({ present, commits, rows, foldNow }, change),
    endUnbegun(since, now) {
      for (const event of present.events.values())
        if (event.seq > since && event.begun && !event.isClaimed) change(event, now, { begun: false });
    },
  };
}

type Change = (event: LiveEvent, at: number, set: Partial<EventFields>) => void;

function createChange(log: FactLog): Change {
  return (event, at, set) => log.add({ seq: log.next, fact: "change", of: "event", subject: event.seq, at, set });
}

/** Takes events for a handler, inside a transaction the caller owns. */
function createClaims(db: DatabaseSync, { present, rows }: Pick<InboxParts, "present" | "rows">, change: Change) {
  const steps = db.prepare("SELECT name, value FROM step WHERE event_seq = ?");
  const payload = db.prepare("SELECT payload FROM main.event WHERE seq = ?");
  /** Reads queued events if few others are due. */
  const fill = (specialist: Handle, now: number): void => {
    if (!present.hasNext(specialist)) return;
    let due = 0;
    for (const { state, isClaimed, notBefore } of present.of(specialist).events.values())
      if (state === "ready" && !isClaimed && notBefore <= now) due++;
    for (const seq of present.unqueue(specialist, due)) {
      const event = rows.newEvent(seq);
      if (event === undefined) throw new Fatal("store_damaged", `expected the event ${seq}, which waits to be handled`);
      present.putEvent(event);
    }
  };
  const claim = (specialist: Handle, now: number, limit: number, hasRoom?: (kind: string) => boolean): readonly LiveEvent[] => {
    fill(specialist, now);
    const { taken, poisoned } = claimable(
      present.of(specialist).events.values(),
      now,
      limit,
      () => present.lastTries.isTaken(specialist),
      hasRoom,
    );
    for (const event of poisoned)
      change(event, now, {
        state: "parked",
        parkedAt: now,
        note: crashNote(event.crashes, now),
      });
    for (const event of taken) {
      if (!event.begun) change(event, now, { begun: true, beganAt: event.beganAt ?? now });
      event.isClaimed = true;
      if (isLastTry(event)) present.lastTries.begin(event);
    }
    return taken;
  };
  const claimed = (event: LiveEvent, now: number): ClaimedEvent => ({
    seq: event.seq,
    specialist: event.specialist,
    id: event.id,
    kind: event.kind,
    thread: event.thread,
    payload: event.payload === undefined ? jsonOf(payload.get(event.seq) ?? {}, "payload") : (JSON.parse(event.payload) as Json),
    hops: event.hops,
    attempts: event.attempts,
    isLastTry: isLastTry(event),
    beganAt: event.beganAt ?? now,
    steps: event.hasSteps ? new Map(steps.all(event.seq).map((row) => [textOf(row, "name"), jsonOf(row, "value")])) : NO_STEPS,
  });

  return { claim, claimed };
}

type ParkedParts = Pick<InboxParts, "present" | "commits" | "rows" | "foldNow">;

const UNPARKED = { state: "ready", begun: false, attempts: 0, crashes: 0, parkedAt: undefined } as const;

/** Events that wait for a person are in rows only. */
function createUnpark(
  db: DatabaseSync,
  { present, commits, rows }: Omit<ParkedParts, "foldNow">,
  change: Change,
): Pick<InboxStore, "unparkEvent"> {
  const identity = db.prepare("SELECT seq FROM main.event WHERE specialist = ? AND id = ?");
  return {
    async unparkEvent(specialist, id, now) {
      const row = identity.get(specialist, id);
      const seq = row === undefined ? undefined : numberOf(row, "seq");
      const known = seq === undefined ? undefined : present.events.get(seq);
      const event = known ?? (seq === undefined ? undefined : rows.openEvent(seq));
      if (event === undefined || event.isClaimed || (event.state !== "parked" && !hasFailed(event))) return false;
      if (known === undefined) present.putEvent(event);
      change(event, now, { ...UNPARKED, notBefore: now });
      await commits.synced();
      return true;
    },
  };
}

function hasFailed({ note }: LiveEvent): boolean {
  return readNote(note).failure !== undefined;
}

function createRetryFailed({ present, commits, rows, foldNow }: ParkedParts, change: Change): Pick<InboxStore, "retryFailed"> {
  const isOf = (specialist: Handle | undefined, event: LiveEvent): boolean => specialist === undefined || event.specialist === specialist;
  const waiting = (specialist: Handle | undefined, now: number, withTimed: boolean): readonly LiveEvent[] =>
    [...(specialist === undefined ? present.events : present.of(specialist).events).values()]
      .filter(({ state, isClaimed, notBefore }) => state === "ready" && !isClaimed && notBefore > now)
      .filter(({ note }) => {
        const { failure } = readNote(note);
        return failure !== undefined && (withTimed || failure.timed !== true);
      })
      .toSorted((a, b) => a.notBefore - b.notBefore)
      .slice(0, MAX_RETRIED);
  const parked = (specialist: Handle | undefined): readonly LiveEvent[] => {
    foldNow();
    const found: LiveEvent[] = [];
    for (const event of rows.parkedEvents()) {
      if (isOf(specialist, event)) found.push(event);
      if (found.length === MAX_RETRIED) break;
    }
    return found;
  };
  return {
    async retryFailed(specialist, which, now) {
      const hastened = waiting(specialist, now, which !== "untimed");
      const unparked = which === "parked" ? parked(specialist) : [];
      for (const event of hastened) {
        const spared = event.crashes > 0 ? { crashes: 0 } : { attempts: Math.max(0, event.attempts - 1) };
        change(event, now, { ...spared, notBefore: now });
      }
      for (const event of unparked) {
        present.putEvent(event);
        change(event, now, { ...UNPARKED, notBefore: now });
      }
      if (hastened.length + unparked.length > 0) await commits.synced();
      return hastened.length + unparked.length;
    },
  };
}
