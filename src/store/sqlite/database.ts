/** Opens the file: pragmas, one process per file, a check. */
import { chmodSync, closeSync, existsSync, fdatasync, fdatasyncSync, mkdirSync, openSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { promisify } from "node:util";
import { type Fatal, Misconfigured, messageOf, Retryable, RetinueError } from "../../core/errors.ts";
import { realPath } from "../../core/real-path.ts";
import { Checkpoints, LOG_PAGES } from "./checkpoints.ts";
import { checkIntegrity, type IntegrityCheck } from "./integrity.ts";
import type { ChangeRecorder } from "./row-changes.ts";
import { checkSchema, checkVersion, migrate, syncFolder } from "./schema.ts";
import { storeUnwritable } from "./unwritable.ts";

export const MEMORY = ":memory:";

export interface OpenDatabase {
  readonly db: DatabaseSync;
  /** Resolves when every earlier commit is on disk; rejects if the disk fails. Undefined in memory. */
  readonly sync: (() => Promise<void>) | undefined;
  /** Gets each commit, and is stopped before the file is closed. Undefined in memory and with `blocking`. */
  readonly checkpoints: Checkpoints | undefined;
  /** Set while the file is checked beside its use: resolves with the damage, or with undefined. */
  readonly damage?: Promise<string | undefined> | undefined;
  /** Set for a working copy, whose rows are stored elsewhere: `sync` waits for that. */
  readonly elsewhere?: {
    /** Gets the facts that are inserted, and the places to which rollbacks go back. */
    readonly recorder: Pick<ChangeRecorder, "place" | "undone" | "inserting">;
    /** Called after each commit. */
    committed(): void;
    /** Resolves when nothing can be stored there any longer. */
    readonly failure: Promise<Fatal>;
    /** The file of the copy, for readers beside the process; undefined in memory. */
    readonly path: string | undefined;
  };
  /** True for a copy in memory, which may be changed: its file stays as it is. */
  readonly isCopy?: boolean;
  /** Closes the file and releases it for other processes. */
  close(): void;
}

export interface DatabaseOptions {
  /** Waits for the disk within the turn: for a clock whose time does not pass meanwhile. Default false. */
  readonly blocking?: boolean;
}

/** Opens (and creates) a store for writing. Throws `Retryable` (`store_in_use`) or `Misconfigured`, with advice. */
export function openDatabase(named: string, { blocking = false }: DatabaseOptions = {}): OpenDatabase {
  const path = named === MEMORY ? MEMORY : prepareFile(named);
  const lock = path === MEMORY ? undefined : takeLock(path);
  let db: DatabaseSync | undefined;
  let log: number | undefined;
  let check: IntegrityCheck | undefined;
  try {
    // Created before SQLite opens it, so that its log and shared memory get the same private mode.
    if (path !== MEMORY && !existsSync(path)) closeSync(openSync(path, "a", 0o600));
    db = new DatabaseSync(path, { timeout: 5_000 });
    checkVersion(db);
    checkSchema(db, path); // before any change: the file may belong to another program
    db.exec(`
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = FULL;
      PRAGMA foreign_keys = OFF;
      PRAGMA temp_store = MEMORY;
      PRAGMA cache_size = -32768;
      PRAGMA wal_autocheckpoint = ${LOG_PAGES};
    `);
    if (path !== MEMORY) check = checkIntegrity(db, path, blocking);
    migrate(db, path === MEMORY ? undefined : path);
    // From here on a commit does not wait for the disk; a caller that has to waits for `sync`.
    db.exec("PRAGMA synchronous = NORMAL");
    if (path !== MEMORY) {
      chmodSync(path, 0o600);
      log = openLog(path);
    }
  } catch (error) {
    check?.stop();
    db?.close();
    lock?.close();
    if (error instanceof RetinueError) throw error;
    throw storeUnwritable(path, error) ?? cannotOpen(path, error);
  }
  const open = db;
  const file = log;
  return {
    db: open,
    sync: file === undefined ? undefined : blocking ? async () => fdatasyncSync(file) : () => syncData(file),
    checkpoints: path === MEMORY || blocking ? undefined : new Checkpoints(open, path),
    damage: check?.damage,
    close() {
      check?.stop();
      if (file !== undefined) closeSync(file);
      open.close();
      lock?.close();
    },
  };
}

/** Any other reason for which a store does not open. */
export function cannotOpen(path: string, cause: unknown): Misconfigured {
  return new Misconfigured("store_unreadable", `cannot open the store ${path}: ${messageOf(cause)}`, {
    file: path,
    cause,
    hint: "name another file with --store sqlite:<path>, or restore a backup",
  });
}

const syncData = promisify(fdatasync);

/**
 * Opens the log, to be synced by us: SQLite keeps its file while it is open, and writes nothing else between two checkpoints, which it
 * syncs itself. Its directory entry must be on disk as well, or a power cut loses the file with all its content.
 */
function openLog(path: string): number {
  const log = openSync(`${path}-wal`, "r+");
  syncFolder(path);
  return log;
}

/** The real path of the store, whose folder exists: a lock beside a link would be another lock. */
function prepareFile(named: string): string {
  const path = followLinks(named);
  prepareFolder(path);
  const names = existsSync(path) ? statSync(path).nlink : 1;
  if (names > 1)
    throw new Misconfigured(
      "store_linked",
      `the store ${path} has ${names} names in the file system, and each would have a lock of its own`,
      {
        file: path,
        hint: "keep one name: copy the store with retinue backup, and remove the hard link",
      },
    );
  return path;
}

export function followLinks(path: string): string {
  try {
    return realPath(path);
  } catch (error) {
    throw new Misconfigured("store_unreadable", `the links to the store ${path} cannot be followed: ${messageOf(error)}`, {
      file: path,
      cause: error,
      hint: "name the file itself with --store sqlite:<path>",
    });
  }
}

function prepareFolder(path: string): void {
  const folder = dirname(path);
  if (existsSync(path) && statSync(path).isDirectory())
    throw new Misconfigured("store_unreadable", `the store ${path} is a folder`, {
      file: path,
      hint: "name a file with --store sqlite:<path>",
    });
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw (
      storeUnwritable(path, error) ??
      new Misconfigured("store_unreadable", `cannot create the folder of the store ${path}: ${messageOf(error)}`, {
        file: path,
        cause: error,
        hint: "name another file with --store sqlite:<path>",
      })
    );
  }
}

/** Holds an exclusive transaction on a file beside the store: the system frees it however the process ends. */
function takeLock(path: string): DatabaseSync {
  const file = `${path}-lock`;
  let lock: DatabaseSync | undefined;
  try {
    // Created before SQLite opens it: SQLite does not say why it cannot create a file.
    if (!existsSync(file)) closeSync(openSync(file, "a", 0o600));
    lock = new DatabaseSync(file, { timeout: 0 });
    lock.exec("PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE");
    chmodSync(file, 0o600);
    return lock;
  } catch (error) {
    lock?.close();
    if (/locked|busy/i.test(messageOf(error)))
      throw new Retryable("store_in_use", `another runtime uses ${path}`, {
        file: path,
        cause: error,
        hint: "stop it first, or name another store with --store sqlite:<path>",
      });
    throw (
      storeUnwritable(path, error) ??
      new Misconfigured("store_unreadable", `cannot lock the store ${path}: ${messageOf(error)}`, {
        file: path,
        cause: error,
        hint: "check that its folder can be written",
      })
    );
  }
}
