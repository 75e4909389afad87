/** A large store is checked beside its use: a start does not wait, and damage ends the use. */
import { copyFileSync, existsSync, mkdtempSync, openSync, closeSync, readSync, rmSync, statSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, test } from "vitest";
import { systemClock } from "../../src/core/clock.ts";
import { asEventId, asHandle } from "../../src/core/ids.ts";
import { systemRandom } from "../../src/core/random.ts";
import { openDatabase } from "../../src/store/sqlite/database.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";

const ROWS = 5_000;
const folder = mkdtempSync(join(tmpdir(), "retinue-integrity-"));
const whole = join(folder, "whole.sqlite");
const file = join(folder, "store.sqlite");

beforeAll(() => {
  const open = openDatabase(whole);
  const insert = open.db.prepare(
    "INSERT INTO event (specialist, id, kind, payload, via, created_at) VALUES ('scout', ?, 'post.created', ?, 'poll', 1)",
  );
  open.db.exec("BEGIN");
  for (let row = 0; row < ROWS; row++) insert.run(`post.created:${row}`, "x".repeat(8_000));
  open.db.exec(`UPDATE mark SET seq = ${ROWS}; COMMIT`); // a start reads no old row
  open.close();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A copy whose page in the middle, of rows alone, is damaged in its header. */
function damagedCopy(): void {
  copyFileSync(whole, file);
  const fd = openSync(file, "r+");
  const header = Buffer.alloc(18);
  readSync(fd, header, 0, 18, 0);
  const page = header.readUInt16BE(16) || 65_536;
  const leaf = Buffer.alloc(1);
  for (let at = Math.floor(statSync(file).size / page / 2) * page; ; at += page) {
    readSync(fd, leaf, 0, 1, at);
    if (leaf[0] !== 0x0d) continue; // a leaf of a table
    writeSync(fd, Buffer.from([0xff]), 0, 1, at);
    break;
  }
  closeSync(fd);
}

test("an intact file opens at once, and its check finds nothing", async () => {
  copyFileSync(whole, file);
  const open = openDatabase(file);
  try {
    expect(open.damage).toBeInstanceOf(Promise);
    expect(await open.damage).toBeUndefined();
  } finally {
    open.close();
  }
});

test("a check that is stopped ends, and says nothing", async () => {
  copyFileSync(whole, file);
  const open = openDatabase(file);
  open.close();
  expect(await open.damage).toBeUndefined();
});

test("damage that a start reads is refused at once", () => {
  damagedCopy();
  const db = new DatabaseSync(file);
  db.exec("UPDATE mark SET seq = 0");
  db.close();
  const open = () => openSqliteStore({ path: file, clock: systemClock(), random: systemRandom() });
  expect(open).toThrow(expect.objectContaining({ code: "store_damaged" }));
  expect(open).toThrow(expect.objectContaining({ code: "store_damaged" })); // the lock is free
});

test("damage loses the store, refuses the next start, and is forgotten with a restored file", async () => {
  damagedCopy();
  const lost = Promise.withResolvers<Error>();
  const store = openSqliteStore({ path: file, clock: systemClock(), random: systemRandom(), onLost: lost.resolve });
  expect(await lost.promise).toMatchObject({ code: "store_lost", message: expect.stringContaining("the store is damaged: ") });
  const event = {
    specialist: asHandle("scout"),
    id: asEventId("post.created:new"),
    kind: "post.created",
    payload: {},
    via: "poll",
    hops: 0,
  } as const;
  await expect((async () => store.putEvents({ events: [event] }, 2))()).rejects.toMatchObject({ code: "store_lost" });
  await store.close();
  await expect.poll(() => existsSync(`${file}-damaged`)).toBe(true);
  expect(() => openDatabase(file)).toThrow(expect.objectContaining({ code: "store_damaged" }));

  copyFileSync(whole, file);
  openDatabase(file).close();
  expect(existsSync(`${file}-damaged`)).toBe(false);
});
