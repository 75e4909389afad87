/** One process per store, whatever name it is opened by: links of the file and of its folder lead to one lock. */
import { linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { parseStoreAddress, storeFile } from "../../src/config/store-address.ts";
import { controlPath } from "../../src/guardian/control-socket.ts";
import { openDatabase } from "../../src/store/sqlite/database.ts";

let root = "";
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "retinue-links-"));
  mkdirSync(join(root, "real"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const file = (): string => join(root, "real", "store.sqlite");
const codeOf = (open: () => unknown): unknown => {
  try {
    open();
    return "opened";
  } catch (error) {
    return error instanceof Error && "code" in error ? error.code : error;
  }
};

test.each([
  ["a link to its folder", () => (symlinkSync(join(root, "real"), join(root, "folder")), join(root, "folder", "store.sqlite"))],
  ["a link to the file", () => (symlinkSync(file(), join(root, "link.sqlite")), join(root, "link.sqlite"))],
  [
    "a link to a link",
    () => {
      symlinkSync("real", join(root, "first"));
      symlinkSync(join("first", "store.sqlite"), join(root, "second"));
      return join(root, "second");
    },
  ],
])("a store in use is refused by %s", (_name, other) => {
  const first = openDatabase(file());
  expect(codeOf(() => openDatabase(other()).close())).toBe("store_in_use");
  first.close();
});

test("a link that was made before its store leads to the same lock", () => {
  symlinkSync(file(), join(root, "early.sqlite"));
  const first = openDatabase(join(root, "early.sqlite"));
  expect(codeOf(() => openDatabase(file()).close())).toBe("store_in_use");
  first.close();
});

test("a store with a second name in the file system is refused, since each name has a lock of its own", () => {
  openDatabase(file()).close();
  linkSync(file(), join(root, "twin.sqlite"));
  expect(codeOf(() => openDatabase(file()).close())).toBe("store_linked");
  expect(codeOf(() => openDatabase(join(root, "twin.sqlite")).close())).toBe("store_linked");
});

test("links that lead in a circle are refused with the reason", () => {
  symlinkSync(join(root, "b"), join(root, "a"));
  symlinkSync(join(root, "a"), join(root, "b"));
  expect(codeOf(() => openDatabase(join(root, "a")).close())).toBe("store_unreadable");
});

test("commands find the runtime by any of the names", () => {
  symlinkSync(join(root, "real"), join(root, "folder"));
  const named = (path: string): string => controlPath(storeFile(parseStoreAddress(`sqlite:${path}`, root)));
  expect(named("folder/store.sqlite")).toBe(named("real/store.sqlite"));
});
