/** Sources and followed objects in SQLite, and when each is due. */
import type { WatchWrite } from "../../contract/event.ts";
import type { DatabaseSync } from "node:sqlite";
import { asHandle, type Handle } from "../../core/ids.ts";
import type { CursorWrite } from "../inbox.ts";
import { WORK_KINDS, type WorkKind, type SourceStore, type WatchRow } from "../sources.ts";
import type { Commits } from "./commits.ts";
import { maybeNumber, maybeText, objectOf, textOf, type Row } from "./rows.ts";
import { SCHEDULE_PREFIX } from "../../contract/event-kinds.ts";

/** Writes inside a transaction the caller owns. */
export interface WatchWriter {
  cursor(write: CursorWrite, now: number): void;
  watch(write: WatchWrite, now: number): void;
}

/** Has what waits for another job to be settled look again. */
export type MakeRoom = (now: number) => void;

export function createMakeRoom(db: DatabaseSync): MakeRoom {
  const room = db.prepare("UPDATE intent SET next_at = min(next_at, ?) WHERE state = 'ready' AND code = 'obligations_full'");
  return (now) => void room.run(now);
}

export function createWatchWriter(db: DatabaseSync, makeRoom: MakeRoom): WatchWriter {
  const cursor = db.prepare(`
    INSERT INTO source (specialist, name, cursor, due_at, updated_at) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (specialist, name) DO UPDATE SET cursor = excluded.cursor, due_at = excluded.due_at, updated_at = excluded.updated_at`);
  const watch = db.prepare(`
    INSERT INTO watch (specialist, kind, object, state, data, due_at, created_at, updated_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7)
    ON CONFLICT (specialist, kind, object) DO UPDATE
    SET state = excluded.state, data = excluded.data, due_at = excluded.due_at, updated_at = excluded.updated_at`);
  const follow = (write: WatchWrite, now: number): void => {
    watch.run(write.specialist, write.kind, write.object, write.state, JSON.stringify(write.data), write.dueAt, now);
    if (write.kind === "job" && write.dueAt === null) makeRoom(now); // for the next one
  };
  return {
    cursor: (write, now) => void cursor.run(write.specialist, write.source, JSON.stringify(write.cursor), write.dueAt, now),
    watch: follow,
  };
}

/** Whether a row of `source` is a schedule. */
export const IS_SCHEDULE = `(substr(name, 1, ${SCHEDULE_PREFIX.length}) = '${SCHEDULE_PREFIX}')`;

/**
 * An intent ends at its time as long as it was never sent. One that waits for the Guardian ends in any case: in a store that was put
 * back from a copy it may have been sent since, but nobody can answer it.
 */
export const INTENT_EXPIRES = "expires_at IS NOT NULL AND state IN ('proposed', 'ready') AND (ever_unknown = 0 OR state = 'proposed')";

/** An intent waits for the earlier ones of its run, and for the one whose object it is about. */
export const INTENT_FREE = `(target_intent IS NULL OR target IS NOT NULL)
  AND (ordinal = 0 OR NOT EXISTS (
    SELECT 1 FROM intent AS before INDEXED BY intent_open
    WHERE before.event_seq = i.event_seq AND before.ordinal < i.ordinal AND before.state IN ('ready', 'sending')))`;

/** When the first of each part of specialist ?1 is due, intents in the lanes ?2. */
const FIRST_OF_PARTS = `
  SELECT 'events' AS part, min(not_before) AS at FROM event WHERE specialist = ?1 AND state = 'ready'
  UNION ALL SELECT 'intents', min(next_at) FROM intent AS i INDEXED BY intent_ready
    WHERE specialist = ?1 AND state = 'ready' AND lane IN (SELECT value FROM json_each(?2)) AND ${INTENT_FREE}
  UNION ALL SELECT 'intents', min(expires_at) FROM intent
    WHERE specialist = ?1 AND ${INTENT_EXPIRES}
  UNION ALL SELECT 'doubts', min(next_at) FROM intent WHERE specialist = ?1 AND state = 'in_doubt'
  UNION ALL SELECT 'deliveries', min(due_at) FROM delivery WHERE specialist = ?1 AND state = 'ready'
  UNION ALL SELECT 'schedules', min(due_at) FROM source WHERE specialist = ?1 AND due_at IS NOT NULL AND ${IS_SCHEDULE}
  UNION ALL SELECT 'sources', min(due_at) FROM source WHERE specialist = ?1 AND due_at IS NOT NULL AND NOT ${IS_SCHEDULE}
  UNION ALL SELECT 'watches', min(due_at) FROM watch WHERE specialist = ?1 AND due_at IS NOT NULL`;

export type SourceRows = Omit<SourceStore, "nextDue" | "dueWork" | "firstDues">;

export function createSourceRows(db: DatabaseSync, commits: Commits): SourceRows {
  const sources = db.prepare("SELECT name, cursor, due_at FROM source WHERE specialist = ?");
  const columns = "kind, object, state, data, due_at";
  const dueWatches = db.prepare(
    `SELECT ${columns} FROM watch WHERE specialist = ? AND due_at <= ? ORDER BY due_at, updated_at LIMIT 0 + ?`,
  );
  const postpone = db.prepare("UPDATE watch SET due_at = ? WHERE specialist = ? AND due_at <= ?");
  const openWatches = db.prepare(
    `SELECT ${columns} FROM watch WHERE specialist = ? AND kind = ? AND due_at IS NOT NULL ORDER BY due_at LIMIT 0 + ?`,
  );
  const oneWatch = db.prepare(`SELECT ${columns} FROM watch WHERE specialist = ? AND kind = ? AND object = ?`);
  return {
    sources: async (specialist: Handle) =>
      sources
        .all(specialist)
        .map((row) => ({ name: textOf(row, "name"), cursor: objectOf(row, "cursor"), dueAt: maybeNumber(row, "due_at") ?? null })),
    dueWatches: async (specialist, now, limit) => dueWatches.all(specialist, now, limit).map(readWatch),
    postponeWatches: (specialist, now, until) => commits.soft(() => void postpone.run(until, specialist, now)),
    openWatches: async (specialist, kind, limit) => openWatches.all(specialist, kind, limit).map(readWatch),
    async findWatch(specialist, kind, object) {
      const row = oneWatch.get(specialist, kind, object);
      return row === undefined ? undefined : readWatch(row);
    },
  };
}

export function createSources(db: DatabaseSync, commits: Commits): SourceStore {
  const next = db.prepare(`SELECT min(at) AS at FROM (${FIRST_OF_PARTS})`);
  const dueParts = db.prepare(`SELECT group_concat(part) AS parts FROM (${FIRST_OF_PARTS}) WHERE at <= ?3`);
  const work = `
    SELECT specialist, min(not_before) AS at FROM event WHERE state = 'ready' GROUP BY specialist
    UNION ALL SELECT specialist, min(next_at) FROM intent
      WHERE state = 'ready' AND (target_intent IS NULL OR target IS NOT NULL) GROUP BY specialist
    UNION ALL SELECT specialist, min(next_at) FROM intent WHERE state = 'in_doubt' GROUP BY specialist
    UNION ALL SELECT specialist, min(expires_at) FROM intent
      WHERE ${INTENT_EXPIRES} GROUP BY specialist
    UNION ALL SELECT specialist, min(due_at) FROM delivery WHERE state = 'ready' GROUP BY specialist
    UNION ALL SELECT specialist, min(due_at) FROM watch WHERE due_at IS NOT NULL GROUP BY specialist`;
  const first = db.prepare(`
    SELECT specialist, min(work) AS work, min(look) AS look FROM (
      SELECT specialist, at AS work, NULL AS look FROM (${work})
      UNION ALL SELECT specialist, NULL, min(due_at) FROM source WHERE due_at IS NOT NULL GROUP BY specialist)
    GROUP BY specialist`);
  return {
    ...createSourceRows(db, commits),
    firstDues: async () =>
      first.all().map((row) => ({
        specialist: asHandle(textOf(row, "specialist")),
        workAt: maybeNumber(row, "work"),
        lookAt: maybeNumber(row, "look"),
      })),
    nextDue: async (specialist, lanes) => maybeNumber(next.get(specialist, JSON.stringify(lanes)) ?? {}, "at"),
    async dueWork(specialist, lanes, now) {
      const due = maybeText(dueParts.get(specialist, JSON.stringify(lanes), now) ?? {}, "parts")?.split(",");
      return due === undefined ? NO_PARTS : WORK_KINDS.filter((part) => due.includes(part));
    },
  };
}

const NO_PARTS: readonly WorkKind[] = [];

function readWatch(row: Row): WatchRow {
  return {
    kind: textOf(row, "kind") === "job" ? "job" : "thread",
    object: textOf(row, "object"),
    state: textOf(row, "state"),
    data: objectOf(row, "data"),
    dueAt: maybeNumber(row, "due_at") ?? null,
  };
}
