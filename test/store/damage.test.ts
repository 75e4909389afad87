/** Files that were damaged, cut short, closed to us, or left by a process that died over them: refused or mended, never half believed. */
import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, copyFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import { Misconfigured } from "../../src/core/errors.ts";
import { openDatabase } from "../../src/store/sqlite/database.ts";
import { SCHEMA_VERSION } from "../../src/store/sqlite/schema.ts";

const ROWS = 400;
/** In a page of SQLite's: its header and what follows it, then a place among the rows. */
const PLACES = [0, 1, 3, 8, 200, 2_000];

/** A closed store with rows, in a folder of its own. */
function storeWithRows(): { readonly folder: string; readonly file: string } {
  const folder = mkdtempSync(join(tmpdir(), "retinue-damage-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "store.sqlite");
  const open = openDatabase(file);
  const insert = open.db.prepare(
    "INSERT INTO event (specialist, id, kind, thread, payload, via, created_at) VALUES ('scout', ?, 'post.created', ?, ?, 'poll', ?)",
  );
  for (let row = 0; row < ROWS; row++)
    insert.run(`post.created:${row}`, `${row}`, JSON.stringify({ id: `${row}`, content: "x".repeat(200) }), row);
  open.close();
  return { folder, file };
}

/** What a store says of itself when it is opened: the code it is refused with, or what it still holds. */
function opened(file: string): string | readonly unknown[] {
  try {
    const open = openDatabase(file);
    try {
      return open.db.prepare("SELECT id, thread, payload FROM event ORDER BY seq").all();
    } finally {
      open.close();
    }
  } catch (error) {
    if (!(error instanceof Misconfigured)) throw error;
    return error.code;
  }
}

test("damage in the structure of any page is refused at the start, and nothing is written to the file", () => {
  const { folder, file } = storeWithRows();
  const whole = readFileSync(file);
  const pageBytes = whole.readUInt16BE(16);
  const intact = opened(file);
  expect(intact).toHaveLength(ROWS);
  const wrong: string[] = [];
  let refused = 0;
  for (let page = 0; page * pageBytes < whole.length; page++)
    for (const place of PLACES) {
      const bytes = Buffer.from(whole);
      const at = page * pageBytes + (page === 0 && place < 100 ? 100 + place : place);
      bytes.writeUInt8(bytes.readUInt8(at) ^ 0xff, at);
      const copy = join(folder, "copy.sqlite");
      writeFileSync(copy, bytes);
      const said = opened(copy);
      if (typeof said === "string") {
        refused++;
        if (!readFileSync(copy).equals(bytes)) wrong.push(`${page}+${place}: refused, and written to`);
        if (!["store_damaged", "store_unreadable", "store_newer", "store_foreign"].includes(said)) wrong.push(`${page}+${place}: ${said}`);
      } else if (said.length !== ROWS) wrong.push(`${page}+${place}: ${said.length} rows are left, and nothing was said`);
    }
  expect(wrong).toEqual([]);
  expect(refused).toBeGreaterThan(whole.length / pageBytes);
});

test("a file that was cut short is refused", () => {
  const { folder, file } = storeWithRows();
  const whole = readFileSync(file);
  const copy = join(folder, "copy.sqlite");
  for (const share of [0.2, 0.5, 0.9]) {
    writeFileSync(copy, whole.subarray(0, Math.floor(whole.length * share)));
    expect(["store_damaged", "store_unreadable"]).toContain(opened(copy));
  }
});

test("a log that was cut short or damaged loses what lies behind it, and nothing before", () => {
  const { folder, file } = storeWithRows();
  const open = openDatabase(file);
  const insert = open.db.prepare(
    "INSERT INTO event (specialist, id, kind, payload, via, created_at) VALUES ('scout', ?, 'post.created', '{}', 'poll', 1)",
  );
  for (let row = 0; row < 50; row++) insert.run(`late:${row}`);
  const [whole, log] = [readFileSync(file), readFileSync(`${file}-wal`)];
  open.close();
  const copy = join(folder, "copy.sqlite");
  const held: number[] = [];
  for (const share of [0, 0.1, 0.5, 0.9, 1]) {
    writeFileSync(copy, whole);
    rmSync(`${copy}-shm`, { force: true });
    writeFileSync(`${copy}-wal`, log.subarray(0, Math.floor(log.length * share)));
    const said = opened(copy);
    held.push(typeof said === "string" ? -1 : said.length);
  }
  expect(held).toEqual(held.toSorted((a, b) => a - b));
  expect([held[0], held.at(-1)]).toEqual([ROWS, ROWS + 50]);
});

test("a process that dies at any statement of the migrations leaves a store that the next one opens whole", () => {
  const { folder } = storeWithRows();
  let deaths = 0;
  let said = "";
  for (let which = 1; which < 100 && said === ""; which++) {
    const file = join(folder, `new-${which}.sqlite`);
    const { signal, stdout, stderr } = spawnSync(
      process.execPath,
      ["--conditions=retinue-source", join(import.meta.dirname, "../harness/migrate-and-die.ts"), file, `${which}`],
      { encoding: "utf8" },
    );
    const open = openDatabase(file);
    expect(open.db.prepare("PRAGMA user_version").get()).toEqual({ user_version: SCHEMA_VERSION });
    expect(open.db.prepare("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
    open.close();
    said = stdout + stderr;
    deaths += signal === "SIGKILL" ? 1 : 0;
  }
  expect(said).toBe("opened");
  expect(deaths).toBeGreaterThan(SCHEMA_VERSION); // each of them, and what stands around them
});

const NOBODY = 65_534;

test.runIf(process.getuid?.() === 0)("a file that we may not read or not write is refused, and says which", () => {
  const { folder, file } = storeWithRows();
  chmodSync(folder, 0o777);
  for (const mode of [0o000, 0o400]) {
    const copy = join(folder, `mode-${mode}.sqlite`);
    copyFileSync(file, copy);
    chownSync(copy, NOBODY, NOBODY);
    chmodSync(copy, mode);
    const script = `import { openDatabase } from ${JSON.stringify(join(import.meta.dirname, "../../src/store/sqlite/database.ts"))};
      try { openDatabase(${JSON.stringify(copy)}); console.log("opened"); } catch (error) { console.log(error.code, error.message); }`;
    const { stdout } = spawnSync(process.execPath, ["--conditions=retinue-source", "--input-type=module", "-e", script], {
      encoding: "utf8",
      uid: NOBODY,
      gid: NOBODY,
    });
    expect(stdout).toMatch(/^store_unreadable .*mode-/);
  }
});

test("a store that others could read is closed to them when it is opened", () => {
  const { file } = storeWithRows();
  chmodSync(file, 0o644);
  openDatabase(file).close();
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test("the log is used again and does not grow with what is written, but for a reader who will not let go", () => {
  const { file } = storeWithRows();
  const open = openDatabase(file);
  const insert = open.db.prepare("INSERT INTO step (event_seq, name, value) VALUES (?, 'work', ?)");
  let seq = 0;
  const write = (megabytes: number): number => {
    for (let part = 0; part < megabytes * 16; part++) insert.run(++seq, "x".repeat(64 * 1_024));
    return statSync(`${file}-wal`).size;
  };
  const usual = write(60);
  expect(usual).toBeLessThan(32 * 1_024 * 1_024);
  const reader = new DatabaseSync(file, { readOnly: true });
  reader.exec("BEGIN; SELECT count(*) FROM step");
  const pinned = write(60);
  expect(pinned).toBeGreaterThan(usual);
  reader.close();
  expect(write(60)).toBeLessThan(pinned * 1.5); // it begins again from its start
  open.close();
});
