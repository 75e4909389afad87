/** Sources and watched objects in SQLite. */
import type { DatabaseSync } from "node:sqlite";
import { SCHEDULE_PREFIX } from "../../contract/event-kinds.ts";
import { WATCH_KINDS, type WatchKind, type WatchWrite } from "../../contract/event.ts";
import type { Handle } from "../../core/ids.ts";
import type { JsonObject } from "../../core/json.ts";
import type { CursorWrite } from "../inbox.ts";
import { OWED_STANDINGS, type SourceRow, type SourceStore, type WatchRow } from "../sources.ts";
import type { Commits } from "./commits.ts";
import { maybeNumber, numberOf, objectOf, textOf, type Row } from "./columns.ts";

/** Rows of `source` whose values are kept as written, so that a read does not parse them: some KB each. */
const MAX_KEPT = 256;

/** The values of cursors by their texts. A text that differs is parsed, so a transaction that is rolled back is harmless. */
export interface CursorValues {
  write(specialist: Handle, name: string, value: JsonObject): string;
  read(specialist: Handle, name: string, row: Row): JsonObject;
}

export function createCursorValues(): CursorValues {
  const kept = new Map<string, { readonly text: string; readonly value: JsonObject }>();
  const keep = (specialist: Handle, name: string, text: string, value: JsonObject): void => {
    const key = `${specialist} ${name}`;
    if (kept.size >= MAX_KEPT && !kept.has(key)) kept.clear();
    kept.set(key, { text, value });
  };
  return {
    write(specialist, name, value) {
      const text = JSON.stringify(value);
      keep(specialist, name, text, value);
      return text;
    },
    read(specialist, name, row) {
      const known = kept.get(`${specialist} ${name}`);
      const text = textOf(row, "cursor");
      if (known?.text === text) return known.value;
      const value = objectOf(row, "cursor");
      keep(specialist, name, text, value);
      return value;
    },
  };
}

/** Writes inside a transaction the caller owns. */
export interface WatchWriter {
  cursor(write: CursorWrite, now: number): void;
  watch(write: WatchWrite, now: number): void;
}

/** `onJobOver` is called for each job that is no longer owed: it makes room for the next one. */
export function createWatchWriter(db: DatabaseSync, values: CursorValues, onJobOver: (now: number) => void): WatchWriter {
  const cursor = db.prepare(`
    INSERT INTO source (specialist, name, cursor, due_at, updated_at) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (specialist, name) DO UPDATE SET cursor = excluded.cursor, due_at = excluded.due_at, updated_at = excluded.updated_at`);
  const watch = db.prepare(`
    INSERT INTO watch (specialist, kind, object, state, data, due_at, created_at, updated_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7)
    ON CONFLICT (specialist, kind, object) DO UPDATE
    SET state = excluded.state, data = excluded.data, due_at = excluded.due_at, updated_at = excluded.updated_at`);
  const follow = (write: WatchWrite, now: number): void => {
    watch.run(write.specialist, write.kind, write.object, write.state, JSON.stringify(write.data), write.dueAt, now);
    const isOwed = write.dueAt !== null && OWED_STANDINGS.includes(write.state);
    if (write.kind === "job" && !isOwed) onJobOver(now);
  };
  return {
    cursor(write, now) {
      const text = values.write(write.specialist, write.source, write.cursor);
      cursor.run(write.specialist, write.source, text, write.dueAt, now);
    },
    watch: follow,
  };
}

/** SQL condition for the schedules among the rows of `source`. */
export const IS_SCHEDULE = `(substr(name, 1, ${SCHEDULE_PREFIX.length}) = '${SCHEDULE_PREFIX}')`;

export type SourceRows = Omit<SourceStore, "nextDue" | "dueWork" | "firstDues">;

export function createSourceRows(db: DatabaseSync, commits: Commits, values: CursorValues): SourceRows {
  const sources = db.prepare("SELECT name, cursor, due_at FROM source WHERE specialist = ?");
  const cursorOf = db.prepare("SELECT cursor FROM source WHERE specialist = ? AND name = ?");
  const moveCursor = db.prepare("UPDATE source SET cursor = ?1, updated_at = ?2 WHERE specialist = ?3 AND name = ?4");
  const columns = "kind, object, state, data, due_at";
  const dueWatches = db.prepare(
    `SELECT ${columns} FROM watch WHERE specialist = ? AND due_at <= ? ORDER BY kind = 'job' AND state = 'applied' DESC, due_at, updated_at LIMIT 0 + ?`,
  );
  const postpone = db.prepare("UPDATE watch SET due_at = ?1 WHERE specialist = ?2 AND due_at <= ?3 AND kind = ?4 AND state = ?5");
  const standings = db.prepare(`
    SELECT state, count(*) AS n FROM watch INDEXED BY watch_owed
    WHERE specialist = ? AND kind = 'job' AND due_at IS NOT NULL GROUP BY state`);
  const these = db.prepare(`SELECT ${columns} FROM watch WHERE specialist = ? AND kind = ? AND object IN (SELECT value FROM json_each(?))`);
  const openWatches = db.prepare(
    `SELECT ${columns} FROM watch WHERE specialist = ? AND kind = ? AND due_at IS NOT NULL ORDER BY due_at LIMIT 0 + ?`,
  );
  const oneWatch = db.prepare(`SELECT ${columns} FROM watch WHERE specialist = ? AND kind = ? AND object = ?`);
  return {
    sources: async (specialist: Handle) =>
      sources.all(specialist).map((row) => {
        const name = textOf(row, "name");
        return { name, cursor: values.read(specialist, name, row), dueAt: maybeNumber(row, "due_at") ?? null };
      }),
    changeCursors: (name, specialists, change, now) =>
      commits.soft(() => {
        for (const specialist of specialists) {
          const row = cursorOf.get(specialist, name);
          const cursor = row && change(values.read(specialist, name, row));
          if (cursor !== undefined) moveCursor.run(values.write(specialist, name, cursor), now, specialist, name);
        }
      }),
    dueWatches: async (specialist, now, limit) => dueWatches.all(specialist, now, limit).map(readWatch),
    postponeWatches: (specialist, now, until, { kind, state }) =>
      commits.soft(() => void postpone.run(until, specialist, now, kind, state)),
    jobStandings: async (specialist) => new Map(standings.all(specialist).map((row) => [textOf(row, "state"), numberOf(row, "n")])),
    watchesOf: async (specialist, kind, objects) => these.all(specialist, kind, JSON.stringify(objects)).map(readWatch),
    openWatches: async (specialist, kind, limit) => openWatches.all(specialist, kind, limit).map(readWatch),
    async findWatch(specialist, kind, object) {
      const row = oneWatch.get(specialist, kind, object);
      return row === undefined ? undefined : readWatch(row);
    },
  };
}

/** A source as its row has it: for people, who ask rarely, so nothing is kept of it. */
export function readSource(row: Row): SourceRow {
  return { name: textOf(row, "name"), cursor: objectOf(row, "cursor"), dueAt: maybeNumber(row, "due_at") ?? null };
}

function watchKind(stored: string): WatchKind {
  return WATCH_KINDS.find((kind) => kind === stored) ?? "thread";
}

function readWatch(row: Row): WatchRow {
  return {
    kind: watchKind(textOf(row, "kind")),
    object: textOf(row, "object"),
    state: textOf(row, "state"),
    data: objectOf(row, "data"),
    dueAt: maybeNumber(row, "due_at") ?? null,
  };
}
