/** `retinue backup` makes the folder it is told to write to, and nobody else can read what it writes. */
import { mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { systemClock } from "../../src/core/clock.ts";
import { seededRandom } from "../../src/core/random.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { inProcess } from "../harness/cli.ts";
import { project } from "../harness/project.ts";

const modeOf = (path: string): number => statSync(path).mode & 0o777;

async function withStore(): Promise<string> {
  const { root } = project();
  mkdirSync(join(root, ".retinue"));
  const store = openSqliteStore({ path: join(root, ".retinue/store.sqlite"), clock: systemClock(), random: seededRandom(1) });
  await store.belongTo("http://127.0.0.1/v1");
  await store.close();
  return root;
}

test("a copy goes into folders that are not there yet, which only their owner may enter", async () => {
  const cwd = await withStore();
  const before = process.umask(0);
  try {
    expect(await inProcess(["backup", "backups/2026/monday.sqlite"], { cwd })).toMatchObject({ code: 0, stderr: "" });
  } finally {
    process.umask(before);
  }
  expect([modeOf(join(cwd, "backups")), modeOf(join(cwd, "backups/2026"))]).toEqual([0o700, 0o700]);
  expect(readdirSync(join(cwd, "backups/2026"))).toEqual(["monday.sqlite"]);
  expect(modeOf(join(cwd, "backups/2026/monday.sqlite"))).toBe(0o600);
  const again = await inProcess(["backup", "backups/2026/monday.sqlite"], { cwd });
  expect([again.code, again.stderr]).toEqual([2, expect.stringContaining("the file exists already")]);
});

test("a folder that cannot be made is one error, which leaves nothing behind", async () => {
  const cwd = await withStore();
  writeFileSync(join(cwd, "notes"), "a file");
  const { code, stderr } = await inProcess(["backup", "notes/monday.sqlite"], { cwd });
  expect([code, stderr]).toEqual([2, expect.stringContaining("check that the folder can be written")]);
  expect(readdirSync(cwd).toSorted()).toEqual([".retinue", "notes"]);
});

test("a folder is no name for a copy, whether it is there or not", async () => {
  const cwd = await withStore();
  mkdirSync(join(cwd, "backups"));
  for (const name of ["backups", "backups/", "more/"]) {
    const { code, stderr } = await inProcess(["backup", name], { cwd });
    expect(code).toBe(2);
    expect(stderr).toMatch(/error: this is the name of a folder\n.*\n +try +name a file in it, such as .*store-copy\.sqlite/);
  }
  expect([readdirSync(cwd).toSorted(), readdirSync(join(cwd, "backups"))]).toEqual([[".retinue", "backups"], []]);
});
