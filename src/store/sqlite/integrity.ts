/**
 * Checks a store's file for damage. A check reads the whole file, 2 ms a megabyte: a small one is checked before it is used, a larger one
 * in a thread while it is used. What the thread finds is kept in a file, so that the next start checks before it uses the store.
 */
import { existsSync, rmSync, statSync, writeFile } from "node:fs";
import { extname } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { Worker } from "node:worker_threads";
import { Misconfigured } from "../../core/errors.ts";
import type { IntegrityStart, IntegrityVerdict } from "./integrity-thread.ts";

/** Largest file that is checked before it is used. */
const MAX_CHECKED_AT_OPEN = 32 * 1_048_576;
const HEAP_MB = 16;
/** Messages of SQLite for a page that is damaged or cannot be read. */
const DAMAGE = /disk I\/O error|malformed|not a database/;

const ENTRY = new URL(`./integrity-thread${extname(import.meta.url)}`, import.meta.url);

export interface IntegrityCheck {
  /** Resolves with the damage, or with undefined if there is none or the check was stopped. */
  readonly damage: Promise<string | undefined>;
  stop(): void;
}

/** Returns the check that goes on in a thread, if the file is large. Throws `Misconfigured` (`store_damaged`). */
export function checkIntegrity(db: DatabaseSync, path: string, inTurn: boolean): IntegrityCheck | undefined {
  const mark = `${path}-damaged`;
  if (!inTurn && !existsSync(mark) && statSync(path).size > MAX_CHECKED_AT_OPEN) return checkInThread(path, mark);
  const verdict = String(db.prepare("PRAGMA quick_check(1)").get()?.["quick_check"]);
  if (verdict !== "ok") throw storeDamaged(verdict);
  rmSync(mark, { force: true });
  return undefined;
}

/** The error of reading a damaged page, if this is one. */
export function damageOf(error: unknown): Misconfigured | undefined {
  return error instanceof Error && DAMAGE.test(error.message) ? storeDamaged(error.message) : undefined;
}

function storeDamaged(verdict: string): Misconfigured {
  return new Misconfigured("store_damaged", `the store is damaged: ${verdict}`, {
    hint: "restore a backup; do not delete it, because it records what was sent",
  });
}

function checkInThread(path: string, mark: string): IntegrityCheck {
  const start: IntegrityStart = { path };
  const thread = new Worker(ENTRY, {
    name: "retinue integrity check",
    workerData: start,
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
  });
  thread.unref();
  const damage = new Promise<string | undefined>((resolve) => {
    thread.on("message", ({ verdict }: IntegrityVerdict) => {
      resolve(verdict === "ok" ? undefined : verdict);
      // Where the disk takes no mark, the next start finds the damage by a thread again.
      if (verdict !== "ok") writeFile(mark, `${verdict}\n`, { mode: 0o600 }, () => undefined);
    });
    // No memory for a thread, or no second connection: the file is checked at the next start.
    thread.on("error", () => resolve(undefined));
    thread.on("exit", () => resolve(undefined));
  });
  return { damage, stop: () => void thread.terminate() };
}
