/** The store's address: one absolute path without links, and an error that repeats no password. */
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseStoreAddress } from "../../src/config/store-address.ts";
import { project } from "../harness/project.ts";

test("a path is absolute, by whichever link it is named; memory is memory", () => {
  const { root } = project({ "data/x": "" });
  symlinkSync(join(root, "data"), join(root, "link"));
  const file = join(root, "data/store.sqlite");
  for (const address of ["sqlite:data/store.sqlite", "sqlite:./link/store.sqlite", `sqlite:${file}`, `sqlite://${file}`])
    expect(parseStoreAddress(address, root)).toEqual({ kind: "sqlite", path: file });
  expect(parseStoreAddress("sqlite::memory:", root).path).toBe(":memory:");
});

test("a path that cannot be followed is kept: opening it says why", () => {
  const { root } = project();
  symlinkSync("b", join(root, "a"));
  symlinkSync("a", join(root, "b"));
  expect(parseStoreAddress("sqlite:a", root).path).toBe(join(root, "a"));
});

test.each(["", "sqlite:", "store.sqlite", "SQLITE:x", "mysql://me:hunter22222@db/x", "sqlite:a\0b"])(
  "%j is refused without being repeated",
  (address) => {
    expect(() => parseStoreAddress(address, "/")).toThrow(
      expect.objectContaining({ code: "store_invalid", message: "the store's address cannot be read" }),
    );
  },
);

test("PostgreSQL is told not to be built, without its password", () => {
  for (const address of ["postgres://me:hunter22222@db/x", "PostgreSQL://db"])
    expect(() => parseStoreAddress(address, "/")).toThrow(
      expect.objectContaining({ code: "store_not_built", message: "the PostgreSQL store is not built yet" }),
    );
});
