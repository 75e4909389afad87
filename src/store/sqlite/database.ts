/** Opens the file: pragmas, one process per file, a check, and the numbered migrations. */
import { chmodSync, closeSync, existsSync, fdatasync, fdatasyncSync, fsyncSync, mkdirSync, openSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { promisify } from "node:util";
import { Misconfigured, messageOf, Retryable, RetinueError } from "../../core/errors.ts";
import { realPath } from "../../core/real-path.ts";
import { Checkpoints, LOG_PAGES } from "./checkpoints.ts";
import { openForReading } from "./reading.ts";
import { storeUnwritable } from "./unwritable.ts";
import { LIMITS } from "./migrations/0002-limits.ts";
import { WEBHOOKS } from "./migrations/0003-webhooks.ts";
import { SHARED_KEYS } from "./migrations/0004-shared-keys.ts";
import { WEBHOOK_HEALTH } from "./migrations/0005-webhook-health.ts";
import { STANDING } from "./migrations/0006-standing.ts";
import { FROZEN_ACCOUNTS } from "./migrations/0007-frozen-accounts.ts";
import { STANDING_TIME } from "./migrations/0008-standing-time.ts";
import { WORDLESS_ACTIONS } from "./migrations/0009-wordless-actions.ts";
import { SURE_TIME } from "./migrations/0010-sure-time.ts";
import { SIGNED_WITH } from "./migrations/0011-signed-with.ts";
import { LEFTOVERS } from "./migrations/0012-leftovers.ts";
import { FAILURES } from "./migrations/0013-failures.ts";
import { START } from "./migrations/0001-start.ts";

/** In order; a released one never changes. The number of applied ones is the schema's version. */
const MIGRATIONS: readonly string[] = [
  START,
  LIMITS,
  WEBHOOKS,
  SHARED_KEYS,
  WEBHOOK_HEALTH,
  STANDING,
  FROZEN_ACCOUNTS,
  STANDING_TIME,
  WORDLESS_ACTIONS,
  SURE_TIME,
  SIGNED_WITH,
  LEFTOVERS,
  FAILURES,
];

export const SCHEMA_VERSION = MIGRATIONS.length;

/** The first SQLite whose WAL cannot be corrupted by a checkpoint race (3.7.0 to 3.51.2 can). */
const OLDEST_SQLITE = [3, 51, 3] as const;

export const MEMORY = ":memory:";

export interface OpenDatabase {
  readonly db: DatabaseSync;
  /** Resolves when every earlier commit is on disk; rejects if the disk fails. Undefined in memory. */
  readonly sync: (() => Promise<void>) | undefined;
  /** Gets each commit, and is stopped before the file is closed. Undefined in memory and with `blocking`. */
  readonly checkpoints: Checkpoints | undefined;
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
    if (path !== MEMORY) quickCheck(db);
    migrate(db);
    // From here on a commit does not wait for the disk; a caller that has to waits for `sync`.
    db.exec("PRAGMA synchronous = NORMAL");
    if (path !== MEMORY) {
      chmodSync(path, 0o600);
      log = openLog(path);
    }
  } catch (error) {
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
    close() {
      if (file !== undefined) closeSync(file);
      open.close();
      lock?.close();
    },
  };
}

/** Opens a store for reading alone, as its present schema allows. Throws `Misconfigured`, with advice. */
export function openReadOnlyDatabase(named: string): OpenDatabase {
  const path = followLinks(named);
  let db: DatabaseSync | undefined;
  try {
    db = openForReading(path);
    checkVersion(db);
    checkSchema(db, path);
    if (versionOf(db) < SCHEMA_VERSION)
      throw new Misconfigured("store_older", `the store ${path} must be migrated before it can be read`, {
        file: path,
        hint: "free disk space, or make the disk writable, then try again",
      });
    db.exec("PRAGMA temp_store = MEMORY");
  } catch (error) {
    db?.close();
    throw error instanceof RetinueError ? error : cannotOpen(path, error);
  }
  const open = db;
  return { db: open, sync: undefined, checkpoints: undefined, close: () => open.close() };
}

function cannotOpen(path: string, cause: unknown): Misconfigured {
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

/** Syncs the directory entry of a file. */
export function syncFolder(path: string): void {
  const folder = openSync(dirname(path), "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
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

function followLinks(path: string): string {
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

function checkVersion(db: DatabaseSync): void {
  const row = db.prepare("SELECT sqlite_version() AS version").get();
  const parts = String(row?.["version"]).split(".").map(Number);
  const order = OLDEST_SQLITE.map((part, i) => (parts[i] ?? 0) - part).find((difference) => difference !== 0) ?? 0;
  if (order < 0)
    throw new Misconfigured("sqlite_too_old", `expected SQLite ${OLDEST_SQLITE.join(".")} or newer, got ${parts.join(".")}`, {
      hint: "use Node 24.15 or later",
    });
}

function quickCheck(db: DatabaseSync): void {
  const row = db.prepare("PRAGMA quick_check(1)").get();
  const verdict = String(row?.["quick_check"]);
  if (verdict !== "ok")
    throw new Misconfigured("store_damaged", `the store is damaged: ${verdict}`, {
      hint: "restore a backup; do not delete it, because it records what was sent",
    });
}

function versionOf(db: DatabaseSync): number {
  return Number(db.prepare("PRAGMA user_version").get()?.["user_version"] ?? 0);
}

function checkSchema(db: DatabaseSync, path: string): void {
  const version = versionOf(db);
  if (version > SCHEMA_VERSION)
    throw new Misconfigured("store_newer", `the store ${path} has schema ${version}; this version of Retinue knows ${SCHEMA_VERSION}`, {
      file: path,
      hint: "upgrade Retinue, or name another store",
    });
  if (version === 0 && db.prepare("SELECT 1 FROM sqlite_master LIMIT 1").get() !== undefined)
    throw new Misconfigured("store_foreign", `the file ${path} is another program's database`, {
      file: path,
      hint: "name another file with --store sqlite:<path>",
    });
}

/** Runs the missing migrations in one transaction: a store has one version or another, and opens with one wait for the disk. */
function migrate(db: DatabaseSync): void {
  const version = versionOf(db);
  if (version === MIGRATIONS.length) return;
  db.exec("BEGIN IMMEDIATE");
  try {
    for (const text of MIGRATIONS.slice(version)) db.exec(text);
    db.exec(`PRAGMA user_version = ${MIGRATIONS.length}`);
    db.exec("COMMIT");
  } catch (error) {
    db.exec("ROLLBACK");
    throw error;
  }
}
