/** Stores the world's rows in memory and, if a file is given, in SQLite before any answer leaves. */
import { closeSync, openSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import type { StatementSync } from "node:sqlite";
import { Misconfigured, messageOf } from "../../core/errors.ts";

const VERSION = 1;
/** Time another process gets to release the file. */
const BUSY_TIMEOUT_MS = 500;

export interface Row {
  readonly id: string;
}

/** Rows of one kind by id, in the order of first insertion. */
export interface Table<T extends Row> {
  get(id: string): T | undefined;
  /** Stores the row, or marks it as changed in place. */
  put(row: T): void;
  remove(id: string): void;
  all(): IterableIterator<T>;
  readonly size: number;
}

/** One line of an append-only log, which is cut at its old end. */
export interface LogLine {
  readonly seq: number;
  readonly at: number;
}

export interface Log<T extends LogLine> {
  append(line: T): void;
  /** Deletes lines with a smaller `seq`. */
  cutBefore(seq: number): void;
  /** Content of the file when it was opened; empty in memory. */
  readonly loaded: readonly T[];
}

export interface Tables {
  table<T extends Row>(kind: string): Table<T>;
  log<T extends LogLine>(kind: string): Log<T>;
  /** Writes every change since the last commit in one transaction, and returns once the file has it. */
  commit(): void;
  close(): void;
}

type Change = { readonly kind: string; readonly id: string; readonly row: Row | undefined };
type LogChange = { readonly kind: string; readonly line?: LogLine; readonly cutBefore?: number };

/**
 * Opens the rows of one world. Without `file` they live in memory only. WAL with `synchronous=NORMAL`: a killed process loses nothing that
 * was answered; a power cut may lose the last moments. Throws `Misconfigured` (`network_data_unreadable`, `network_data_in_use`,
 * `network_data_newer`).
 */
export function openTables(file?: string): Tables {
  const disk = file === undefined ? undefined : openDisk(file);
  const changes = new Map<string, Change>();
  const lines: LogChange[] = [];
  const note = (kind: string, id: string, row: Row | undefined): void => {
    if (disk !== undefined) changes.set(`${kind}/${id}`, { kind, id, row });
  };
  return {
    table<T extends Row>(kind: string): Table<T> {
      // Only this process writes the file, so rows of a kind have that type.
      const rows = new Map((disk?.rows(kind) ?? []).map((row) => [row.id, row as T]));
      return {
        get: (id) => rows.get(id),
        put(row) {
          rows.set(row.id, row);
          note(kind, row.id, row);
        },
        remove(id) {
          if (rows.delete(id)) note(kind, id, undefined);
        },
        all: () => rows.values(),
        get size() {
          return rows.size;
        },
      };
    },
    log<T extends LogLine>(kind: string): Log<T> {
      return {
        loaded: (disk?.lines(kind) ?? []).map((line) => line as T),
        append: (line) => void (disk !== undefined && lines.push({ kind, line })),
        cutBefore: (seq) => void (disk !== undefined && lines.push({ kind, cutBefore: seq })),
      };
    },
    commit() {
      if (disk === undefined || (changes.size === 0 && lines.length === 0)) return;
      disk.write(changes.values(), lines);
      changes.clear();
      lines.length = 0;
    },
    close: () => disk?.close(),
  };
}

interface Disk {
  rows(kind: string): Row[];
  lines(kind: string): LogLine[];
  write(changes: Iterable<Change>, lines: readonly LogChange[]): void;
  close(): void;
}

function openDisk(file: string): Disk {
  const database = openDatabase(file);
  const upsert = database.prepare("INSERT INTO rows (kind, id, body) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET body = excluded.body");
  const remove = database.prepare("DELETE FROM rows WHERE kind = ? AND id = ?");
  const append = database.prepare("INSERT INTO lines (kind, seq, body) VALUES (?, ?, ?)");
  const cut = database.prepare("DELETE FROM lines WHERE kind = ? AND seq < ?");
  const bodies = (statement: StatementSync, kind: string): Row[] => statement.all(kind).map(({ body }) => JSON.parse(String(body)) as Row);
  return {
    // `position` keeps the order of first insertion, which the order of ids would not.
    rows: (kind) => bodies(database.prepare("SELECT body FROM rows WHERE kind = ? ORDER BY position"), kind),
    lines: (kind) =>
      database
        .prepare("SELECT body FROM lines WHERE kind = ? ORDER BY seq")
        .all(kind)
        .map(({ body }) => JSON.parse(String(body)) as LogLine),
    write(changes, lines) {
      database.exec("BEGIN IMMEDIATE");
      try {
        for (const { kind, id, row } of changes)
          if (row === undefined) remove.run(kind, id);
          else upsert.run(kind, id, JSON.stringify(row));
        for (const { kind, line, cutBefore } of lines) {
          if (line !== undefined) append.run(kind, line.seq, JSON.stringify(line));
          if (cutBefore !== undefined) cut.run(kind, cutBefore);
        }
        database.exec("COMMIT");
      } catch (error) {
        database.exec("ROLLBACK");
        throw error;
      }
    },
    close: () => database.close(),
  };
}

function openDatabase(file: string): DatabaseSync {
  let version: number;
  let database: DatabaseSync;
  try {
    // The file holds webhook secrets. It is created before SQLite opens it, since the WAL file inherits its permissions.
    closeSync(openSync(file, "a", 0o600));
    database = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS });
    // One process per world: two would each answer from their own memory.
    database.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; BEGIN EXCLUSIVE; COMMIT;");
    version = Number(database.prepare("PRAGMA user_version").get()?.["user_version"]);
  } catch (error) {
    if (/locked|busy/i.test(messageOf(error)))
      throw new Misconfigured("network_data_in_use", `another process is using the local network's data ${file}`, {
        hint: "stop the other network, or name another file",
        cause: error,
      });
    throw new Misconfigured("network_data_unreadable", `cannot open the local network's data ${file}: ${messageOf(error)}`, {
      hint: "name a file in a folder that exists and can be written, or move the damaged file away",
      cause: error,
    });
  }
  if (version > VERSION) {
    database.close();
    throw new Misconfigured("network_data_newer", `${file} was written by a newer version (layout ${version}, expected ${VERSION})`, {
      hint: "use that newer version, or another file",
    });
  }
  database.exec(`
    CREATE TABLE IF NOT EXISTS rows (position INTEGER PRIMARY KEY, kind TEXT NOT NULL, id TEXT NOT NULL, body TEXT NOT NULL, UNIQUE (kind, id));
    CREATE TABLE IF NOT EXISTS lines (kind TEXT NOT NULL, seq INTEGER NOT NULL, body TEXT NOT NULL, PRIMARY KEY (kind, seq)) WITHOUT ROWID;
    PRAGMA user_version = ${VERSION};`);
  return database;
}
