/** The inbox over facts: identity is asked of the index of events, everything else of memory. */
import type { DatabaseSync } from "node:sqlite";
import type { NewEvent } from "../../../contract/event.ts";
import type { Handle } from "../../../core/ids.ts";
import type { Json } from "../../../core/json.ts";
import type { Arrival, ClaimedEvent, InboxStore, ParkedEvent } from "../../inbox.ts";
import { claimable, type LiveEvent } from "../../../live/events.ts";
import type { EventFields } from "../../../live/facts.ts";
import type { Present } from "../../../live/present.ts";
import type { Commits } from "../commits.ts";
import { MAX_EVENTS_WAITING } from "../deliveries.ts";
import { jsonOf, numberOf, textOf } from "../rows.ts";
import type { WatchWriter } from "../sources.ts";
import type { FactLog } from "./log.ts";
import type { OpenRows } from "./load.ts";

export interface InboxParts {
  readonly present: Present;
  readonly commits: Commits;
  readonly log: FactLog;
  readonly writer: WatchWriter;
  readonly rows: OpenRows;
  /** Brings the rows up to what is in memory. */
  readonly settle: () => void;
}

/** Inserts what happened, where it is new, inside a transaction the caller owns. */
export type InsertEvent = (
  event: NewEvent,
  now: number,
  told?: { readonly delivery: string; readonly word: string | undefined },
) => boolean;

export interface Inbox extends InboxStore {
  readonly hasRoomForEvents: (specialist: Handle) => boolean;
  readonly insertEvent: InsertEvent;
  /** Before an orderly end: what no handler has begun with does not count as what ended the process. */
  readonly endUnbegun: (now: number) => void;
}

const NO_STEPS: ReadonlyMap<string, Json> = new Map();

export function createInbox(db: DatabaseSync, { present, commits, log, writer, rows, settle }: InboxParts): Inbox {
  const change = createChange(log);
  const { claim, claimed } = createClaims(db, present, change);
  /** With nothing before it, it is claimed next: its row says so at once. */
  const insertEvent: InsertEvent = (event, now, told) =>
    log.addEvent(event, now, { begun: present.of(event.specialist).events.size === 0, ...told }) !== undefined;

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
      const { events } = present.of(specialist);
      if (events.size < MAX_EVENTS_WAITING) return true;
      let waiting = 0;
      for (const { isClaimed } of events.values()) if (!isClaimed) waiting++;
      return waiting < MAX_EVENTS_WAITING;
    },
    async putEvents(arrival, now) {
      const result = put(arrival, now);
      // A sender forgets what we answered for; a list can be read again.
      if (arrival.events.some(({ via }) => via === "webhook")) await commits.synced();
      return result;
    },
    async claimEvents(specialist, now, limit) {
      const taken = claim(specialist, now, limit);
      // Committed before a handler runs: an event that ends the process must have been counted.
      if (taken.length > 0) await commits.committed();
      return taken.map((event) => claimed(event, now));
    },
    async retryEvent(seq, { notBefore, failed, note }) {
      const event = present.events.get(seq);
      if (event?.isClaimed !== true) return;
      change(event, notBefore, { begun: false, crashes: 0, attempts: event.attempts + (failed ? 1 : 0), notBefore, note });
      event.isClaimed = false;
    },
    async parkEvent(seq, now, note) {
      const event = present.events.get(seq);
      if (event === undefined || event.state !== "ready") return;
      change(event, now, { state: "parked", begun: false, parkedAt: now, note });
      event.isClaimed = false;
    },
    ...createParked(db, { present, commits, rows, settle }, change),
    endUnbegun(now) {
      for (const event of present.events.values()) if (event.begun && !event.isClaimed) change(event, now, { begun: false });
    },
  };
}

type Change = (event: LiveEvent, at: number, set: Partial<EventFields>) => void;

function createChange(log: FactLog): Change {
  return (event, at, set) => void log.add({ fact: "change", of: "event", subject: event.seq, at, set });
}

/** Takes events for a handler, inside a transaction the caller owns. */
function createClaims(db: DatabaseSync, present: Present, change: Change) {
  const steps = db.prepare("SELECT name, value FROM step WHERE event_seq = ?");
  const payload = db.prepare("SELECT payload FROM main.event WHERE seq = ?");
  const claim = (specialist: Handle, now: number, limit: number): readonly LiveEvent[] => {
    const { taken, poisoned } = claimable(present.of(specialist).events.values(), now, limit, () => present.hasLastChance());
    for (const event of poisoned)
      change(event, now, {
        state: "parked",
        parkedAt: now,
        note: `the process ended ${event.crashes} times while this was handled`,
      });
    for (const event of taken) {
      if (!event.begun) change(event, now, { begun: true, beganAt: event.beganAt ?? now });
      event.isClaimed = true;
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
    beganAt: event.beganAt ?? now,
    steps: event.hasSteps ? new Map(steps.all(event.seq).map((row) => [textOf(row, "name"), jsonOf(row, "value")])) : NO_STEPS,
  });

  return { claim, claimed };
}

/** Events that wait for a person: they are in rows alone. */
function createParked(
  db: DatabaseSync,
  { present, commits, rows, settle }: Pick<InboxParts, "present" | "commits" | "rows" | "settle">,
  change: Change,
): Pick<InboxStore, "unparkEvent" | "parkedEvents"> {
  const identity = db.prepare("SELECT seq FROM main.event WHERE specialist = ? AND id = ?");
  return {
    async unparkEvent(specialist, id, now) {
      const row = identity.get(specialist, id);
      const seq = row === undefined ? undefined : numberOf(row, "seq");
      const known = seq === undefined ? undefined : present.events.get(seq);
      const event = known ?? (seq === undefined ? undefined : rows.openEvent(seq));
      if (event?.state !== "parked") return false;
      if (known === undefined) present.putEvent(event);
      change(event, now, { state: "ready", begun: false, attempts: 0, crashes: 0, notBefore: now, parkedAt: undefined, note: undefined });
      await commits.synced();
      return true;
    },
    async parkedEvents(specialist, limit) {
      settle();
      const parked: ParkedEvent[] = [];
      for (const event of rows.openEvents())
        if (event.state === "parked" && (specialist === undefined || event.specialist === specialist)) parked.push(parkedEvent(event));
      return parked.reverse().slice(0, limit);
    },
  };
}

function parkedEvent({ seq, specialist, id, kind, attempts, note, parkedAt }: LiveEvent): ParkedEvent {
  return { seq, specialist, id, kind, attempts, note: note ?? "", parkedAt: parkedAt ?? 0 };
}
