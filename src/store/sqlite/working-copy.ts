/**
 * The working copy of a store that is kept elsewhere: a file of this process alone, made anew at each start and never synced. It has the
 * tables of any store, and records which rows its commits change.
 */
import { closeSync, mkdirSync, openSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import type { Fatal } from "../../core/errors.ts";
import type { Handle, KeyId } from "../../core/ids.ts";
import { INTENTS_OF_RUN } from "../../live/facts.ts";
import { maybeText, type Row } from "./columns.ts";
import { MEMORY, type OpenDatabase } from "./database.ts";
import { createLateIndexing, indexAll } from "./fact-indexes.ts";
import { OPEN } from "./fold.ts";
import { indexByTime } from "./history.ts";
import { ChangeRecorder, keptShapes, type RowChanges, type TableShape } from "./row-changes.ts";
import { checkVersion, migrate } from "./schema.ts";

/** The place where the rows of a working copy are kept. */
export interface Elsewhere {
  /** Called after each commit. */
  readonly committed: () => void;
  /** Resolves when everything committed before is kept. */
  readonly sync: () => Promise<void>;
  readonly failure: Promise<Fatal>;
}

export interface WorkingCopy {
  readonly shapes: readonly TableShape[];
  readonly hasChanges: boolean;
  /** The rows changed by commits since the last call. Call {@link WorkingCopy.recordCommit} first. */
  takeChanges(): RowChanges;
  recordCommit(): void;
  /** Runs many reads at the cost of one. */
  reading<Result>(read: () => Result): Result;
  /** Adds rows that are kept elsewhere already. Outside any transaction. */
  load(table: string, rows: Iterable<Row>): void;
  /** Makes the indexes of what is loaded. Outside any transaction. */
  indexLoaded(): void;
  /** Adds older rows that are kept elsewhere, between two commits. A row that is here already is newer, and stays. */
  loadOlder(table: string, rows: readonly Row[]): Promise<void>;
  /** The specialist whose row this is, if its table names none; undefined if nobody knows. */
  specialistOf(table: string, row: Row): Handle | undefined;
  /** The specialist that has this key now. */
  holderOf(key: KeyId): Handle | undefined;
  /** For `openSqliteStore`. */
  database(elsewhere: Elsewhere): OpenDatabase;
  /** For `openSqliteStore`, as a store that can only be read. Closing that closes the copy. */
  asRead(): OpenDatabase;
  close(): void;
}

/** `path` is a file, or `:memory:`. */
export function openWorkingCopy(path: string): WorkingCopy {
  if (path !== MEMORY) {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    removeFiles(path);
    closeSync(openSync(path, "wx", 0o600)); // SQLite gives its log the mode of the file
  }
  const db = new DatabaseSync(path);
  checkVersion(db);
  db.exec(`
    PRAGMA journal_mode = ${path === MEMORY ? "MEMORY" : "WAL"};
    PRAGMA synchronous = OFF;
    PRAGMA foreign_keys = OFF;
    PRAGMA temp_store = MEMORY;
    PRAGMA cache_size = -32768;
  `);
  migrate(db, undefined);
  indexByTime(db);
  const recorder = new ChangeRecorder(db);
  const shapes = keptShapes(db);
  const shapeOf = new Map(shapes.map((shape) => [shape.name, shape]));
  const addOlder = createOlder(db);
  /** Wait for the end of the open transaction. */
  const waiting: (() => void)[] = [];
  const close = (): void => {
    db.close();
    if (path !== MEMORY) removeFiles(path);
  };
  return {
    shapes,
    get hasChanges() {
      return !recorder.isEmpty;
    },
    takeChanges: () => recorder.take(),
    reading: (read) => recorder.reading(read),
    recordCommit() {
      recorder.committed();
      for (const add of waiting.splice(0)) add();
    },
    load(table, rows) {
      const shape = shapeOf.get(table);
      if (shape !== undefined) recorder.unrecorded(() => insertAll(db, shape, rows));
    },
    indexLoaded: () => recorder.unrecorded(() => indexAll(db)),
    async loadOlder(table, rows) {
      const shape = shapeOf.get(table);
      if (shape === undefined) return;
      const add = (): void => recorder.unrecorded(() => addOlder(shape, rows));
      if (!db.isTransaction) return add();
      const added = Promise.withResolvers<void>();
      waiting.push(() => settle(added, add));
      await added.promise;
    },
    specialistOf: createOwners(db),
    holderOf: createHolders(db),
    database: ({ committed, sync, failure }) => ({
      db,
      sync,
      checkpoints: undefined,
      elsewhere: { committed, failure, recorder, path: path === MEMORY ? undefined : path },
      close,
    }),
    asRead: () => ({ db, sync: undefined, checkpoints: undefined, close }),
    close,
  };
}

/** Runs it now, and settles the promise by its end. */
function settle({ resolve, reject }: PromiseWithResolvers<void>, run: () => void): void {
  try {
    run();
    resolve();
  } catch (error) {
    reject(error);
  }
}

function removeFiles(path: string): void {
  for (const suffix of ["", "-wal", "-shm"]) rmSync(`${path}${suffix}`, { force: true });
}

export function insertAll(db: DatabaseSync, { name, columns }: TableShape, rows: Iterable<Row>): void {
  // Counts of intents are rows of their own, which are loaded as well.
  const insert = db.prepare(`INSERT OR REPLACE INTO main.${name} (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`);
  db.exec("BEGIN");
  for (const row of rows) insert.run(...columns.map((column) => row[column] ?? null));
  db.exec("COMMIT");
}

/** Adds rows that are not here. Counts of intents are rows of their own, which contain these already. */
function createOlder(db: DatabaseSync): (shape: TableShape, rows: readonly Row[]) => void {
  const hasIntent = db.prepare("SELECT 1 FROM main.intent WHERE seq = ?");
  const uncount = db.prepare("UPDATE main.intent_count SET n = n - 1 WHERE specialist = ? AND operation = ? AND state = ?");
  const index = createLateIndexing(db);
  const inserts = new Map<string, StatementSync>();
  return ({ name, columns }, rows) => {
    const insert =
      inserts.get(name) ??
      db.prepare(`INSERT OR IGNORE INTO main.${name} (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`);
    inserts.set(name, insert);
    db.exec("BEGIN");
    try {
      for (const row of rows) {
        // An intent that is here must not reach the trigger that takes the replaced one out of the count.
        if (name === "intent" && hasIntent.get(row["seq"] ?? null) !== undefined) continue;
        const { changes } = insert.run(...columns.map((column) => row[column] ?? null));
        if (changes === 0) continue; // it is here, and indexed
        if (name === "intent") uncount.run(row["specialist"] ?? null, row["operation"] ?? null, row["state"] ?? null);
        index(name, row);
      }
      db.exec("COMMIT");
    } catch (error) {
      if (db.isTransaction) db.exec("ROLLBACK");
      throw error;
    }
  };
}

/** Finds the specialist that has a key now. */
export function createHolders(db: DatabaseSync): WorkingCopy["holderOf"] {
  const holder = db.prepare("SELECT handle FROM main.specialist WHERE key_id = ? LIMIT 1");
  return (key) => {
    const row = holder.get(key);
    return row === undefined ? undefined : (maybeText(row, "handle") as Handle | undefined);
  };
}

/** Finds the specialist of a row by the row that it belongs to. */
export function createOwners(db: DatabaseSync): WorkingCopy["specialistOf"] {
  const one = (sql: string): StatementSync => db.prepare(sql);
  const event = one("SELECT specialist FROM main.event WHERE seq = ?");
  const run = one("SELECT specialist FROM main.run WHERE seq = ?");
  const attempt = one("SELECT specialist FROM main.attempt WHERE seq = ?");
  const intent = one("SELECT specialist FROM main.intent WHERE seq = ?");
  const ofIntent = (seq: Row[string] | undefined = null): Row | undefined =>
    intent.get(seq) ?? run.get(Math.floor(Number(seq) / INTENTS_OF_RUN));
  const find = (table: string, row: Row): Row | undefined => {
    switch (table) {
      case "answer":
        return attempt.get(row["attempt"] ?? null);
      case "change":
        return row["kind"] === 0 ? event.get(row["subject"] ?? null) : ofIntent(row["subject"]);
      case "open":
        return (row["kind"] === OPEN.attempt ? attempt : event).get(row["seq"] ?? null);
      case "step":
        return event.get(row["event_seq"] ?? null);
      default:
        return undefined;
    }
  };
  return (table, row) => {
    const found = find(table, row);
    return found === undefined ? undefined : (maybeText(found, "specialist") as Handle | undefined);
  };
}
