/** The schema of the file: its version, the numbered migrations, and the copy that is kept while rows become facts. */
import { closeSync, copyFileSync, fsyncSync, openSync, renameSync, rmSync, statSync, statfsSync } from "node:fs";
import { dirname } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { Misconfigured } from "../../core/errors.ts";
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
import { FACTS } from "./migrations/0014-facts.ts";
import { QUOTA_CLOCK } from "./migrations/0015-quota-clock.ts";
import { EVENT_INDEX } from "./migrations/0016-event-index.ts";
import { WHOLE_READS } from "./migrations/0017-whole-reads.ts";
import { ROLL_UPS } from "./migrations/0018-roll-ups.ts";
import { INHERITED_KEYS } from "./migrations/0019-inherited-keys.ts";
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
  FACTS,
  QUOTA_CLOCK,
  EVENT_INDEX,
  WHOLE_READS,
  ROLL_UPS,
  INHERITED_KEYS,
];

export const SCHEMA_VERSION = MIGRATIONS.length;

/** The first SQLite whose WAL cannot be corrupted by a checkpoint race (3.7.0 to 3.51.2 can). */
const OLDEST_SQLITE = [3, 51, 3] as const;

export function checkVersion(db: DatabaseSync): void {
  const row = db.prepare("SELECT sqlite_version() AS version").get();
  const parts = String(row?.["version"]).split(".").map(Number);
  const order = OLDEST_SQLITE.map((part, i) => (parts[i] ?? 0) - part).find((difference) => difference !== 0) ?? 0;
  if (order < 0)
    throw new Misconfigured("sqlite_too_old", `expected SQLite ${OLDEST_SQLITE.join(".")} or newer, got ${parts.join(".")}`, {
      hint: "use Node 24.15 or later",
    });
}

export function versionOf(db: DatabaseSync): number {
  return Number(db.prepare("PRAGMA user_version").get()?.["user_version"] ?? 0);
}

export function checkSchema(db: DatabaseSync, path: string): void {
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

/** Runs the missing migrations of a file, or of a database in memory, in one transaction: a store has one version or another, and opens with one wait for the disk. */
export function migrate(db: DatabaseSync, path: string | undefined): void {
  const version = versionOf(db);
  if (version === SCHEMA_VERSION) return path === undefined ? undefined : rmSync(originalOf(path), { force: true });
  const rewrites = version > 0 && version <= MIGRATIONS.indexOf(FACTS);
  if (rewrites && path !== undefined) keepOriginal(db, path);
  db.exec("BEGIN IMMEDIATE");
  try {
    for (const text of MIGRATIONS.slice(version)) db.exec(text);
    db.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`);
    db.exec("COMMIT");
  } catch (error) {
    db.exec("ROLLBACK");
    throw error;
  }
}

/** The copy of the file before its rows became facts: deleted when the new one is opened for the second time. */
const originalOf = (path: string): string => `${path}-before-facts`;

/** The log and the copy each need as much space as the file. Throws `Misconfigured` before anything is changed. */
function keepOriginal(db: DatabaseSync, path: string): void {
  db.exec("PRAGMA wal_checkpoint(TRUNCATE)"); // the file has all of it
  const needed = 3 * statSync(path).size;
  const { bavail, bsize } = statfsSync(dirname(path));
  if (bavail * bsize < needed)
    throw new Misconfigured(
      "store_unreadable",
      `the store ${path} has an earlier schema, and its migration needs ${Math.ceil(needed / 1_048_576)} MB of free space`,
      {
        file: path,
        hint: "free that much space on its disk, then start again; nothing was changed",
      },
    );
  const copy = `${originalOf(path)}-new`;
  copyFileSync(path, copy);
  syncFile(copy);
  renameSync(copy, originalOf(path));
  syncFolder(path);
}

/** Syncs the directory entry of a file. */
export function syncFolder(path: string): void {
  syncFile(dirname(path));
}

function syncFile(path: string): void {
  const file = openSync(path, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
