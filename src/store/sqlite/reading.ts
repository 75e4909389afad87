/** Opens a store's file for reading alone: without a lock, beside its user, on a disk that takes no writes. */
import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { Misconfigured, RetinueError } from "../../core/errors.ts";
import { cannotOpen, followLinks, MEMORY, type OpenDatabase } from "./database.ts";
import { checkSchema, checkVersion, migrate, SCHEMA_VERSION, versionOf } from "./schema.ts";

/** Leaves no file behind: files of another user would keep a runtime from starting. */
export function openForReading(path: string): DatabaseSync {
  const url = pathToFileURL(path);
  // Reading a store that was closed in order would recreate its log.
  if (!existsSync(`${path}-wal`)) url.searchParams.set("immutable", "1");
  return new DatabaseSync(url, { readOnly: true });
}

/**
 * Opens a store for reading alone, in a copy in memory: so its last facts become rows, and an older schema the present one. A larger file is
 * read in its place, with rows as old as its last fold. Throws `Misconfigured`, with advice.
 */
export function openReadOnlyDatabase(named: string): OpenDatabase {
  const path = followLinks(named);
  let db: DatabaseSync | undefined;
  try {
    db = openForReading(path);
    checkVersion(db);
    checkSchema(db, path);
    if (sizeOf(db) <= MAX_COPY_BYTES) {
      const copy = copyToMemory(db);
      migrate(copy, undefined);
      db.close();
      return { db: copy, isCopy: true, sync: undefined, checkpoints: undefined, close: () => copy.close() };
    }
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

/** A larger store is read in its place. */
const MAX_COPY_BYTES = 256 * 1_048_576;

function sizeOf(db: DatabaseSync): number {
  const value = (name: string): number => Number(db.prepare(`PRAGMA ${name}`).get()?.[name] ?? 0);
  return value("page_count") * value("page_size");
}

/** The bytes of a header that name its journal: 2 for a log, which memory does not have. */
const JOURNAL_BYTES = [18, 19] as const;

function copyToMemory(db: DatabaseSync): DatabaseSync {
  const bytes = db.serialize();
  for (const at of JOURNAL_BYTES) bytes[at] = 1;
  const copy = new DatabaseSync(MEMORY);
  copy.deserialize(bytes);
  return copy;
}
