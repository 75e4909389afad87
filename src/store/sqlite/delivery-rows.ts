/** Webhook deliveries with rows of their own in SQLite: durable before they are answered, known for as long as a sender may repeat them. */
import type { DatabaseSync } from "node:sqlite";
import { PRUNE_BATCH } from "../../limits/row-lifetimes.ts";
import type { NewEvent } from "../../contract/event.ts";
import { DAY } from "../../core/units.ts";
import { LOOKED_AT, newWatch } from "../sources.ts";
import { asHandle, type Handle } from "../../core/ids.ts";
import { parseJson } from "../../core/json.ts";
import type { Commits } from "./commits.ts";
import type { InsertEvent } from "./inbox.ts";
import { createUnhandledDeliveries, type UnhandledDeliveries } from "./unhandled-deliveries.ts";
import { bytesOf, maybeNumber, maybeText, numberOf, textOf, type Row } from "./columns.ts";
import type { DeliveryArrival, DeliveryEnd, DeliveryStore, StoredCoverage, Nudge, StoredDelivery } from "../deliveries.ts";
import type { Numbers } from "./numbers.ts";

/** Senders are known to repeat for up to four days; ten times that keeps identities well past it. */
export const DELIVERIES_KEPT_MS = 40 * DAY;
/** Most waiting deliveries, in number and bytes; beyond either the network is asked to retry. */
export const MAX_WAITING = 20_000;
export const MAX_WAITING_BYTES = 256 * 1_024 * 1_024;
const MAX_NOTE_LENGTH = 500;
/** Watched objects that are checked if a delivery does not name its object. */
const NEWEST = 5;

export interface Deliveries extends DeliveryStore {
  /** Deletes what is past its retention, inside a transaction the caller owns. */
  readonly pruneDeliveries: (now: number) => number;
  /** Cached counts may no longer be true. */
  readonly forgetDeliveries: () => void;
}

export interface DeliveryTables {
  readonly insertEvent: InsertEvent;
  /** False if too many events of the specialist wait. */
  readonly hasRoomForEvents: (specialist: Handle) => boolean;
  readonly numbers: Numbers;
}

export function createDeliveries(
  db: DatabaseSync,
  commits: Commits,
  { insertEvent, hasRoomForEvents, numbers }: DeliveryTables,
): Deliveries {
  const due = db.prepare(`
    SELECT seq, id, kind, body, received_at, attempts FROM delivery
    WHERE specialist = ? AND state = 'ready' AND due_at <= ? ORDER BY due_at, seq LIMIT 0 + ?`);
  const end = db.prepare(`
    UPDATE delivery SET state = ?1, kind = coalesce(?2, kind), note = ?3, done_at = ?4, body = iif(?6, body, NULL)
    WHERE seq = ?5 AND state = 'ready'`);
  const size = db.prepare("SELECT coalesce(length(body), 0) AS size FROM delivery WHERE seq = ? AND state = 'ready'");
  const delay = db.prepare("UPDATE delivery SET due_at = ?, attempts = attempts + ?, note = ? WHERE seq = ? AND state = 'ready'");
  const counts = db.prepare("SELECT kind, state, n FROM delivery_count WHERE specialist = ? AND state <> 'done'");
  const drop = db.prepare(
    `DELETE FROM delivery WHERE seq IN (SELECT seq FROM delivery WHERE done_at IS NOT NULL AND done_at < ? LIMIT ${PRUNE_BATCH})`,
  );
  const backlog = createBacklog(db);
  const leftovers = createUnhandledDeliveries(db);
  const nudge = createNudge(db);
  const workOn = createWorkOn(db, insertEvent, nudge);
  const put = createArrivals(db, { backlog, leftovers, workOn, hasRoomForEvents, numbers });

  const finish = (ended: DeliveryEnd, now: number) => {
    const { seq, specialist, state, kind, note } = ended;
    const row = size.get(seq);
    // It was ended before, and its events were stored then.
    if (row === undefined) return { fresh: [] };
    const bytes = numberOf(row, "size");
    backlog.remove(bytes);
    const isKept = state !== "done" && leftovers.hasRoom(specialist, kind, bytes);
    if (isKept) leftovers.add(specialist, kind, bytes);
    end.run(state, kind ?? null, note?.slice(0, MAX_NOTE_LENGTH) ?? null, now, seq, isKept ? 1 : 0);
    return { fresh: workOn(specialist, ended, now) };
  };

  return {
    async putDelivery(arrival, now) {
      const { kind } = await commits.hard(
        () => put(arrival, now),
        (done) => {
          if (done.kind === "stored") arrival.onStored(done.fresh, done.waits);
        },
      );
      return kind;
    },
    hasRoomForEvents: async (specialist) => hasRoomForEvents(specialist),
    dueDeliveries: async (specialist, now, limit) => due.all(specialist, now, limit).map(readDelivery),
    endDelivery: (ended, now) => commits.soft(() => finish(ended, now)),
    delayDelivery: (seq, { dueAt, failed, note }) =>
      commits.soft(() => void delay.run(dueAt, failed ? 1 : 0, note.slice(0, MAX_NOTE_LENGTH), seq)),
    nudge: (specialist, nudges, now) => commits.soft(() => nudges.forEach((one) => nudge(specialist, one, now))),
    deliveryCounts: async (specialist) =>
      counts.all(specialist).map((row) => ({
        kind: textOf(row, "kind"),
        state: row["state"] === "parked" ? "parked" : "unhandled",
        count: numberOf(row, "n"),
      })),
    ...createRegistrations(db, commits),
    ...createHealth(db, commits),
    pruneDeliveries(now) {
      const { changes } = drop.run(now - DELIVERIES_KEPT_MS);
      leftovers.prune();
      return Number(changes);
    },
    forgetDeliveries() {
      backlog.forget();
      leftovers.forget();
    },
  };
}

type Put = { readonly kind: "known" | "full" } | { readonly kind: "stored"; readonly fresh: readonly NewEvent[]; readonly waits: boolean };
type WorkOn = (specialist: Handle, end: Omit<DeliveryEnd, "seq" | "specialist">, now: number) => readonly NewEvent[];

interface ArrivalParts {
  readonly backlog: Backlog;
  readonly leftovers: UnhandledDeliveries;
  readonly workOn: WorkOn;
  readonly hasRoomForEvents: DeliveryTables["hasRoomForEvents"];
  readonly numbers: Numbers;
}

/** Stores a new delivery, inside a transaction the caller owns. */
function createArrivals(db: DatabaseSync, { backlog, leftovers, workOn, hasRoomForEvents, numbers }: ArrivalParts) {
  const insert = db.prepare(`
    INSERT INTO delivery (seq, specialist, id, kind, scheme, body, received_at, state, note, done_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (specialist, id) DO NOTHING`);
  const known = db.prepare("SELECT 1 FROM delivery WHERE specialist = ? AND id = ?");
  return ({ delivery, plain }: DeliveryArrival, now: number): Put => {
    const { specialist, id, scheme, body } = delivery;
    const worksNow = plain !== undefined && (plain.events.length === 0 || hasRoomForEvents(specialist));
    const end = worksNow ? plain : undefined;
    if (end === undefined && !backlog.hasRoom(body.byteLength)) return { kind: known.get(specialist, id) === undefined ? "full" : "known" };
    const kind = end?.kind ?? delivery.kind ?? null;
    const isKept = end === undefined || (end.state !== "done" && leftovers.hasRoom(specialist, kind, body.byteLength));
    const note = end?.note?.slice(0, MAX_NOTE_LENGTH) ?? null;
    const state = end?.state ?? "ready";
    const inserted =
      insert.run(numbers.row(), specialist, id, kind, scheme, isKept ? body : null, now, state, note, end === undefined ? null : now)
        .changes === 1;
    if (!inserted) return { kind: "known" };
    if (end !== undefined) {
      if (isKept) leftovers.add(specialist, kind, body.byteLength);
      return { kind: "stored", fresh: workOn(specialist, end, now), waits: false };
    }
    backlog.add(body.byteLength);
    return { kind: "stored", fresh: [], waits: true };
  };
}

/** Applies the result of a delivery, inside a transaction the caller owns. Returns the new events. */
function createWorkOn(db: DatabaseSync, insertEvent: InsertEvent, nudge: ReturnType<typeof createNudge>): WorkOn {
  const count = db.prepare(`
    INSERT INTO delivery_count (specialist, kind, state, n) VALUES (?, ?, ?, 1) ON CONFLICT (specialist, kind, state) DO UPDATE SET n = n + 1`);
  return (specialist, { state, kind, events, nudges }, now) => {
    if (state !== "done") count.run(specialist, kind ?? "", state);
    for (const one of nudges) nudge(specialist, one, now);
    return events.filter((event) => insertEvent(event, now));
  };
}

type Backlog = ReturnType<typeof createBacklog>;

/** Counts waiting deliveries, queried once and then cached: a query per delivery would cost more than storing it. */
function createBacklog(db: DatabaseSync) {
  const count = db.prepare("SELECT count(*) AS n, coalesce(sum(length(body)), 0) AS bytes FROM delivery WHERE state = 'ready'");
  let waiting: { n: number; bytes: number } | undefined;
  const now = (): { n: number; bytes: number } => {
    if (waiting !== undefined) return waiting;
    const row = count.get() ?? { n: 0, bytes: 0 };
    return (waiting = { n: numberOf(row, "n"), bytes: numberOf(row, "bytes") });
  };
  return {
    hasRoom: (bytes: number): boolean => now().n < MAX_WAITING && now().bytes + bytes <= MAX_WAITING_BYTES,
    /** Call it after `hasRoom`, and before the row exists. */
    add(bytes: number): void {
      now().n += 1;
      now().bytes += bytes;
    },
    /** Call it before the row changes. */
    remove(bytes: number): void {
      now().n -= 1;
      now().bytes -= bytes;
    },
    forget: (): void => void (waiting = undefined),
  };
}

function createNudge(db: DatabaseSync) {
  const source = db.prepare(`
    UPDATE source SET due_at = min(due_at, ?1) WHERE specialist = ?2 AND due_at IS NOT NULL AND (name = ?3 OR substr(name, 1, length(?3) + 1) = ?3 || ':')`);
  // A reported object is checked itself, whatever a list shows of it.
  const told = (at: string): string => `due_at = ${at}, data = json_remove(data, '$.${LOOKED_AT}')`;
  const watch = db.prepare(
    `UPDATE watch SET ${told("min(due_at, ?)")} WHERE specialist = ? AND kind = ? AND object = ? AND due_at IS NOT NULL`,
  );
  const newest = db.prepare(`
    UPDATE watch SET ${told("min(due_at, ?1)")} WHERE specialist = ?2 AND kind = ?3 AND due_at IS NOT NULL AND object IN (
      SELECT object FROM watch WHERE specialist = ?2 AND kind = ?3 AND due_at IS NOT NULL ORDER BY updated_at DESC LIMIT ${NEWEST})`);
  const follow = db.prepare(`
    INSERT INTO watch (specialist, kind, object, state, data, due_at, created_at, updated_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7)
    ON CONFLICT (specialist, kind, object) DO UPDATE SET ${told("min(coalesce(due_at, excluded.due_at), excluded.due_at)")}`);
  return (specialist: Handle, nudge: Nudge, now: number): void => {
    if (nudge.kind === "source") source.run(nudge.at, specialist, nudge.name);
    else if (nudge.kind === "newest") newest.run(nudge.at, specialist, nudge.of);
    else if (nudge.follow !== true) watch.run(nudge.at, specialist, nudge.kind, nudge.object);
    else {
      const { state, data } = newWatch(nudge.kind, now);
      follow.run(specialist, nudge.kind, nudge.object, state, JSON.stringify(data), nudge.at, now);
    }
  };
}

function createRegistrations(db: DatabaseSync, commits: Commits): Pick<DeliveryStore, "registrations" | "saveRegistrations"> {
  const list = db.prepare("SELECT webhook_id, url, foreign_secret, signed_with FROM registration WHERE specialist = ?");
  const clear = db.prepare("DELETE FROM registration WHERE specialist = ?");
  const insert = db.prepare(
    "INSERT INTO registration (specialist, webhook_id, url, foreign_secret, signed_with, updated_at) VALUES (?, ?, ?, ?, ?, ?)",
  );
  return {
    registrations: async (specialist) =>
      list.all(specialist).map((row) => ({
        webhookId: textOf(row, "webhook_id"),
        url: textOf(row, "url"),
        foreignSecret: numberOf(row, "foreign_secret") === 1,
        signedWith: maybeText(row, "signed_with"),
      })),
    saveRegistrations: (specialist, registrations, now) =>
      commits.hard(() => {
        clear.run(specialist);
        for (const { webhookId, url, foreignSecret, signedWith } of registrations)
          insert.run(specialist, webhookId, url, foreignSecret ? 1 : 0, signedWith ?? null, now);
      }),
  };
}

function createHealth(db: DatabaseSync, commits: Commits): Pick<DeliveryStore, "webhookHealth" | "saveWebhookHealth"> {
  const list = db.prepare("SELECT specialist, told, missed, missed_in_row, last_told_at, kinds FROM webhook_health");
  const save = db.prepare(`
    INSERT OR REPLACE INTO webhook_health (specialist, told, missed, missed_in_row, last_told_at, kinds, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?)`);
  return {
    webhookHealth: async () => new Map(list.all().map((row) => [asHandle(textOf(row, "specialist")), readHealth(row)])),
    // A power cut loses at most what polls and deliveries show again.
    saveWebhookHealth: (specialist, { reported, missed, missedInRow, lastReportedAt, kinds }, now) =>
      commits.soft(() => void save.run(specialist, reported, missed, missedInRow, lastReportedAt ?? null, JSON.stringify(kinds), now)),
  };
}

function readHealth(row: Row): StoredCoverage {
  const kinds = parseJson(textOf(row, "kinds"));
  return {
    reported: numberOf(row, "told"),
    missed: numberOf(row, "missed"),
    missedInRow: numberOf(row, "missed_in_row"),
    lastReportedAt: maybeNumber(row, "last_told_at"),
    kinds: Array.isArray(kinds) ? kinds.filter((kind) => typeof kind === "string") : [],
  };
}

function readDelivery(row: Row): StoredDelivery {
  return {
    seq: numberOf(row, "seq"),
    id: textOf(row, "id"),
    kind: maybeText(row, "kind"),
    body: bytesOf(row, "body"),
    receivedAt: numberOf(row, "received_at"),
    attempts: numberOf(row, "attempts"),
  };
}
