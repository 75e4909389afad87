/** The inbox in SQLite: one row per identity and specialist. */
import type { NewEvent } from "../../contract/event.ts";
import type { DatabaseSync } from "node:sqlite";
import { asEventId, asHandle, type Handle } from "../../core/ids.ts";
import type { Json } from "../../core/json.ts";
import { MAX_CRASHES, MAX_RETRIED, type Arrival, type ClaimedEvent, type InboxStore, type ParkedEvent } from "../inbox.ts";
import type { Commits } from "./commits.ts";
import { FAILED_NOTE, failureNote, readNote } from "../failure.ts";
import { jsonOf, maybeText, numberOf, textOf, type Row } from "./rows.ts";
import type { WatchWriter } from "./sources.ts";

/** Inserts an event. The outbox uses it too, for receipts of intents. */
export type InsertEvent = (event: NewEvent, now: number) => boolean;

export function createInsertEvent(db: DatabaseSync): InsertEvent {
  const insert = db.prepare(`
    INSERT INTO event (specialist, id, kind, thread, payload, via, hops, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (specialist, id) DO NOTHING`);
  return (event, now) =>
    insert.run(event.specialist, event.id, event.kind, event.thread ?? null, JSON.stringify(event.payload), event.via, event.hops, now)
      .changes === 1;
}

export function createInbox(db: DatabaseSync, commits: Commits, insertEvent: InsertEvent, writes: WatchWriter): InboxStore {
  const claim = createClaim(db);
  // A query without columns is fifty times cheaper than an empty list of rows, and most polls find nothing.
  const anyDue = db.prepare(
    "SELECT 1 FROM event INDEXED BY event_due WHERE specialist = ? AND state = 'ready' AND not_before <= ? LIMIT 1",
  );
  const giveBack = db.prepare(`
    UPDATE event SET state = 'ready', crashes = 0, attempts = attempts + ?, not_before = ?, note = coalesce(?, note) WHERE seq = ? AND state = 'running'`);
  const park = db.prepare("UPDATE event SET state = 'parked', done_at = ?, note = ? WHERE seq = ? AND state IN ('ready', 'running')");
  const unpark = db.prepare(`
    UPDATE event SET state = 'ready', attempts = 0, crashes = 0, not_before = ?, done_at = NULL
    WHERE specialist = ? AND id = ? AND (state = 'parked' OR (state = 'ready' AND ${HAS_FAILED}))`);
  const hasten = (whose: string) =>
    db.prepare(`
      UPDATE event SET attempts = max(0, attempts - 1), not_before = ?2 WHERE seq IN (
        SELECT seq FROM event INDEXED BY event_due
        WHERE ${whose} AND state = 'ready' AND not_before > ?2 AND ${HAS_FAILED} AND (?3 OR json_extract(note, '$.timed') IS NULL)
        ORDER BY not_before LIMIT ${MAX_RETRIED})`);
  const hastenOne = hasten("specialist = ?1");
  const hastenAll = hasten("?1 IS NULL");
  const unparkMany = db.prepare(`
    UPDATE event SET state = 'ready', attempts = 0, crashes = 0, not_before = ?2, done_at = NULL WHERE seq IN (
      SELECT seq FROM event INDEXED BY event_parked WHERE specialist = ?1 AND state = 'parked' ORDER BY seq LIMIT ${MAX_RETRIED})`);
  const parked = db.prepare(`
    SELECT seq, specialist, id, kind, attempts, note, done_at FROM event
    WHERE state = 'parked' AND (?1 IS NULL OR specialist = ?1) ORDER BY seq DESC LIMIT 0 + ?2`);

  const put = (arrival: Arrival, now: number) => {
    const fresh = arrival.events.filter((event) => insertEvent(event, now));
    for (const cursor of arrival.cursors ?? []) writes.cursor(cursor, now);
    for (const watch of arrival.watches ?? []) writes.watch(watch, now);
    return { fresh, known: arrival.events.length - fresh.length };
  };

  return {
    putEvents(arrival, now) {
      // A sender forgets acknowledged deliveries; a list can be read again.
      const answered = arrival.events.some(({ via }) => via === "webhook");
      return answered ? commits.hard(() => put(arrival, now)) : commits.soft(() => put(arrival, now));
    },
    // Committed before a handler runs: an event that ends the process must have been counted.
    claimEvents: async (specialist, now, limit) =>
      anyDue.get(specialist, now) === undefined ? [] : commits.counted(() => claim(specialist, now, limit)),
    retryEvent: (seq, { notBefore, failed, note }) => commits.soft(() => void giveBack.run(failed ? 1 : 0, notBefore, note ?? null, seq)),
    parkEvent: (seq, now, note) => commits.soft(() => void park.run(now, note, seq)),
    unparkEvent: (specialist, id, now) => commits.hard(() => unpark.run(now, specialist, id).changes === 1),
    retryFailed: (specialist, which, now) =>
      commits.hard(() => {
        const waiting = specialist === undefined ? hastenAll : hastenOne;
        const hastened = Number(waiting.run(specialist ?? null, now, which === "untimed" ? 0 : 1).changes);
        return which === "parked" ? hastened + Number(unparkMany.run(specialist ?? null, now).changes) : hastened;
      }),
    parkedEvents: async (specialist, limit) => parked.all(specialist ?? null, limit).map(readParked),
  };
}

/** The last handling of the event failed. Word for word as in the index of failures. */
export const HAS_FAILED = `substr(note, 1, ${FAILED_NOTE.length}) = '${FAILED_NOTE}'`;

/** Claims due events inside a transaction the caller owns. */
function createClaim(db: DatabaseSync) {
  const due = db.prepare(`
    SELECT seq, id, kind, thread, payload, hops, attempts, began_at, crashes FROM event AS e
    WHERE specialist = ? AND state = 'ready' AND not_before <= ?
      AND (thread IS NULL OR NOT EXISTS (
        SELECT 1 FROM event AS before INDEXED BY event_thread
        WHERE before.specialist = e.specialist AND before.thread = e.thread AND before.seq < e.seq AND before.state IN ('ready', 'running')))
    ORDER BY not_before, seq LIMIT 0 + ?`);
  const take = db.prepare("UPDATE event SET state = 'running', crashes = crashes + 1, began_at = coalesce(began_at, ?) WHERE seq = ?");
  const park = db.prepare("UPDATE event SET state = 'parked', done_at = ?, note = ? WHERE seq = ?");
  const lastChance = db.prepare("SELECT 1 FROM event INDEXED BY event_running WHERE state = 'running' AND crashes >= ? LIMIT 1");
  const steps = db.prepare("SELECT name, value FROM step WHERE event_seq = ?");
  /**
   * An event that ran when the process ended may be the cause: it is claimed alone, so that events behind it are not counted with it, and
   * its last try runs while no other such event does, so that nothing is parked for another's fault.
   */
  const claim = (specialist: Handle, now: number, limit: number): readonly ClaimedEvent[] => {
    const claimed: ClaimedEvent[] = [];
    for (const row of due.all(specialist, now, limit)) {
      const seq = numberOf(row, "seq");
      const crashes = numberOf(row, "crashes");
      if (crashes >= MAX_CRASHES) {
        const message = `the process ended ${crashes} times while this was handled`;
        park.run(now, failureNote({ at: now, code: "handler_failed", message, pattern: message, tries: crashes }), seq);
        continue;
      }
      if (crashes > 0 && claimed.length > 0) break;
      if (crashes === MAX_CRASHES - 1 && lastChance.get(MAX_CRASHES) !== undefined) continue;
      take.run(now, seq);
      claimed.push(claimedEvent(specialist, row, now));
      if (crashes > 0) break;
    }
    return claimed;
  };
  const claimedEvent = (specialist: Handle, row: Row, now: number): ClaimedEvent => {
    const seq = numberOf(row, "seq");
    const began = row["began_at"];
    return {
      seq,
      specialist,
      id: asEventId(textOf(row, "id")),
      kind: textOf(row, "kind"),
      thread: maybeText(row, "thread"),
      payload: jsonOf(row, "payload"),
      hops: numberOf(row, "hops"),
      attempts: numberOf(row, "attempts"),
      beganAt: typeof began === "number" ? began : now,
      // Steps exist only if a handling has begun before.
      steps: typeof began === "number" ? readSteps(steps.all(seq)) : NO_STEPS,
    };
  };
  return claim;
}

const NO_STEPS: ReadonlyMap<string, Json> = new Map();

function readSteps(rows: readonly Row[]): ReadonlyMap<string, Json> {
  return new Map(rows.map((row) => [textOf(row, "name"), jsonOf(row, "value")]));
}

function readParked(row: Row): ParkedEvent {
  return {
    seq: numberOf(row, "seq"),
    specialist: asHandle(textOf(row, "specialist")),
    id: asEventId(textOf(row, "id")),
    kind: textOf(row, "kind"),
    attempts: numberOf(row, "attempts"),
    ...parkedNote(maybeText(row, "note")),
    parkedAt: numberOf(row, "done_at"),
  };
}

function parkedNote(text: string | undefined): Pick<ParkedEvent, "note" | "failure"> {
  const { note = "", ...failure } = readNote(text);
  return { note, ...failure };
}
