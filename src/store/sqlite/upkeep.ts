/** Metadata in SQLite: the salt of fingerprints, the network of the store, and copies of it. */
import { closeSync, existsSync, mkdirSync, openSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { backup, type DatabaseSync } from "node:sqlite";
import { messageOf, Misconfigured } from "../../core/errors.ts";
import { EVERYONE } from "../../limits/verdict.ts";
import { textOf } from "./columns.ts";
import type { Commits } from "./commits.ts";
import { createMetadata } from "./metadata.ts";
import { openForReading } from "./reading.ts";
import { markCopy } from "./restore-detection.ts";
import type { MetadataStore } from "../metadata.ts";

const SALT = "salt";
const NETWORK = "network";

/** `path` is undefined for a store in memory. */
export function createUpkeep(db: DatabaseSync, commits: Commits, path: string | undefined, now: () => number): MetadataStore {
  const meta = createMetadata(db);
  return {
    salt: (make) =>
      commits.hard(() => {
        const known = meta.get(SALT);
        if (known !== undefined) return known;
        const made = make();
        meta.set(SALT, made);
        return made;
      }),
    network: async () => meta.get(NETWORK),
    belongTo: (name) => commits.hard(() => meta.set(NETWORK, name)),
    async backup(file) {
      beginCopy(file);
      const copiedAt = now(); // writes made while it is copied may be missing
      try {
        if (path === undefined) await backup(db, file);
        else await copyCommitted(path, file);
        markCopy(file, copiedAt);
      } catch (error) {
        rmSync(file, { force: true });
        throw copyFailed(file, error);
      }
    },
  };
}

/** Creates the file, and the folders above it, for their owner alone from the first byte. */
function beginCopy(file: string): void {
  if (file.endsWith("/")) throw isFolder(file);
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    closeSync(openSync(file, "wx", 0o600));
  } catch (error) {
    if (existsSync(file) && statSync(file).isDirectory()) throw isFolder(file);
    if (existsSync(file)) throw new Misconfigured("backup_exists", "the file exists already", { file, hint: "name another file" });
    throw copyFailed(file, error);
  }
}

function isFolder(file: string): Misconfigured {
  return new Misconfigured("backup_exists", "this is the name of a folder", {
    file,
    hint: `name a file in it, such as ${join(file, "store-copy.sqlite")}`,
  });
}

function copyFailed(file: string, error: unknown): Misconfigured {
  return new Misconfigured("backup_failed", `the copy could not be written: ${messageOf(error)}`, {
    file,
    cause: error,
    hint: "check that the folder can be written and has room",
  });
}

/** Reads the network of the store in a file, without a lock, beside its user; undefined if there is none, or no readable store. */
export function networkOf(path: string): string | undefined {
  if (!existsSync(path)) return undefined;
  let db: DatabaseSync | undefined;
  try {
    db = openForReading(path);
    return createMetadata(db).get(NETWORK);
  } catch {
    return undefined; // another program's file, or a store from before that row: opening it reports the problem
  } finally {
    db?.close();
  }
}

export interface FileHistory {
  readonly network: string | undefined;
  /** Reasons of the halts of everyone. */
  readonly haltReasons: readonly string[];
}

/** Tables with rows that prove that something was done. */
const DONE: readonly string[] = ["event", "run", "intent", "attempt"];

/** Reads, without a lock, whether something was done with the store in a file; undefined if nothing was, or there is no readable store. */
export function historyOf(path: string): FileHistory | undefined {
  if (!existsSync(path)) return undefined;
  let db: DatabaseSync | undefined;
  try {
    const file = openForReading(path);
    db = file;
    const has = file.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?");
    const known = DONE.filter((table) => has.get(table) !== undefined);
    if (!known.some((table) => file.prepare(`SELECT 1 FROM ${table} LIMIT 1`).get() !== undefined)) return undefined;
    const halts = file.prepare("SELECT reason FROM stop WHERE kind = 'halt' AND scope = ?").all(EVERYONE);
    return { network: createMetadata(file).get(NETWORK), haltReasons: halts.map((row) => textOf(row, "reason")) };
  } catch {
    return undefined; // another program's file, or a damaged one: opening it reports the problem
  } finally {
    db?.close();
  }
}

/** Copies over its own connection: the store's mostly has an open transaction, half of which must not be in the copy. */
async function copyCommitted(path: string, file: string): Promise<void> {
  const reader = openForReading(path);
  try {
    await backup(reader, file);
  } finally {
    reader.close();
  }
}
