/** A busy store's log is moved to its file beside the event loop; whether or not that works, nothing is missing and the log stays short. */
import { existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, expect, test } from "vitest";
import { Checkpoints, LOG_PAGES } from "../../src/store/sqlite/checkpoints.ts";
import { openDatabase } from "../../src/store/sqlite/database.ts";

const folders: string[] = [];
afterEach(() => folders.splice(0).forEach((folder) => rmSync(folder, { recursive: true })));

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), "retinue-checkpoints-"));
  folders.push(made);
  return made;
}

const KB = 1_024;
const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** Commits rows of 16 KB, and lets the thread be heard after each. */
async function write(db: DatabaseSync, rows: number, committed: () => void, until: () => boolean = () => false): Promise<number> {
  const insert = db.prepare("INSERT INTO filler (content) VALUES (zeroblob(?))");
  for (let n = 0; n < rows; n++) {
    if (until()) return n;
    insert.run(16 * KB);
    committed();
    await turn();
  }
  return rows;
}

test("the log of a busy store is moved by a thread, stays bounded, and is gone once the store is closed", async () => {
  const file = join(folder(), "store.sqlite");
  const { db, checkpoints, close } = openDatabase(file);
  if (checkpoints === undefined) throw new Error("a file's store has checkpoints");
  db.exec("CREATE TABLE filler (content BLOB)");
  expect(checkpoints.beside).toBe(false);
  await write(db, 10_000, () => checkpoints.committed(performance.now()));
  expect(checkpoints.beside).toBe(true);
  // More than twice what it is to hold came after one another; how far beyond it grows while the thread works is the disk's affair.
  expect(statSync(`${file}-wal`).size).toBeLessThan(10_000 * 16 * KB);
  await checkpoints.stop();
  expect(checkpoints.beside).toBe(false);
  close();
  expect(existsSync(`${file}-wal`)).toBe(false);
  const again = new DatabaseSync(file, { readOnly: true });
  expect(again.prepare("SELECT count(*) AS n FROM filler").get()).toEqual({ n: 10_000 });
  expect(again.prepare("PRAGMA quick_check(1)").get()).toEqual({ quick_check: "ok" });
  again.close();
});

test("a store that is written to now and then starts no thread", async () => {
  const { db, checkpoints, close } = openDatabase(join(folder(), "store.sqlite"));
  db.exec("CREATE TABLE filler (content BLOB)");
  await write(db, 100, () => checkpoints?.committed(performance.now())); // some 600 pages
  expect(checkpoints?.beside).toBe(false);
  close();
});

test("if the thread cannot work, a COMMIT moves the log as it did before", async () => {
  const { db, close } = openDatabase(join(folder(), "store.sqlite"));
  db.exec("CREATE TABLE filler (content BLOB)");
  const bound = (): unknown => db.prepare("PRAGMA wal_autocheckpoint").get()?.["wal_autocheckpoint"];
  const checkpoints = new Checkpoints(db, join(folder(), "not-here", "store.sqlite"));
  await write(
    db,
    5_000,
    () => checkpoints.committed(performance.now()),
    () => checkpoints.beside,
  );
  expect([checkpoints.beside, bound()]).toEqual([true, 4 * LOG_PAGES]);
  await write(
    db,
    5_000,
    () => checkpoints.committed(performance.now()),
    () => !checkpoints.beside,
  );
  expect([checkpoints.beside, bound()]).toEqual([false, LOG_PAGES]);
  await write(
    db,
    5_000,
    () => checkpoints.committed(performance.now()),
    () => checkpoints.beside,
  );
  expect(checkpoints.beside).toBe(false);
  await checkpoints.stop();
  close();
});
