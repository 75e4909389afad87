/** The store's address: one absolute path without links, and an error that repeats no password. */
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseStoreAddress, storeFile, storeSecrets } from "../../src/config/store-address.ts";
import { project } from "../harness/project.ts";

test("a path is absolute, by whichever link it is named; memory is memory", () => {
  const { root } = project({ "data/x": "" });
  symlinkSync(join(root, "data"), join(root, "link"));
  const file = join(root, "data/store.sqlite");
  for (const address of ["sqlite:data/store.sqlite", "sqlite:./link/store.sqlite", `sqlite:${file}`, `sqlite://${file}`])
    expect(parseStoreAddress(address, root)).toEqual({ kind: "sqlite", path: file });
  expect(storeFile(parseStoreAddress("sqlite::memory:", root))).toBe(":memory:");
});

test("a path that cannot be followed is kept: opening it says why", () => {
  const { root } = project();
  symlinkSync("b", join(root, "a"));
  symlinkSync("a", join(root, "b"));
  expect(storeFile(parseStoreAddress("sqlite:a", root))).toBe(join(root, "a"));
});

test.each(["", "sqlite:", "store.sqlite", "SQLITE:x", "mysql://me:hunter22222@db/x", "sqlite:a\0b"])(
  "%j is refused without being repeated",
  (address) => {
    expect(() => parseStoreAddress(address, "/")).toThrow(
      expect.objectContaining({ code: "store_invalid", message: "the store's address cannot be read" }),
    );
  },
);

test.each([
  ["postgress://me:hunter22222@db/x", "did you mean postgres://user:password@host/database?"],
  ["sqllite:a", "did you mean sqlite:.retinue/store.sqlite?"],
  ["mysql://me:hunter22222@db/x", "use sqlite:.retinue/store.sqlite"],
  ["sqlite:", "did you mean sqlite:.retinue/store.sqlite?"],
])("the advice on %j names the scheme that was meant", (address, hint) => {
  expect(() => parseStoreAddress(address, "/")).toThrow(
    expect.objectContaining({ code: "store_invalid", details: expect.objectContaining({ hint }) }),
  );
});

test("PostgreSQL is an address with a secret, and its working copy a file of the project", () => {
  const address = parseStoreAddress("PostgreSQL://me:hunter22222@localhost/x", "/");
  expect(address).toMatchObject({ kind: "postgres", host: "localhost", database: "x" });
  expect(storeSecrets(address).map((secret) => secret.reveal())).toEqual(["hunter22222"]);
  expect(storeSecrets(parseStoreAddress("sqlite:a", "/"))).toEqual([]);
  expect(storeFile(address)).toMatch(/^\/\.retinue\/postgres-[\da-f]{12}\.sqlite$/);
  expect(storeFile(parseStoreAddress("postgres://me@localhost/y", "/"))).not.toBe(storeFile(address));
});
