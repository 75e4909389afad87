import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { MEMORY, openDatabase } from "../../src/store/sqlite/database.ts";
import { IS_LIVE } from "../../src/store/sqlite/intent-rows.ts";
import { stateOf } from "../../src/store/sqlite/intent-states.ts";

const STORE = join(import.meta.dirname, "../../src/store");

test("no statement names a state of an action by itself", () => {
  const files = globSync("**/*.ts", { cwd: STORE }).filter((file) => !file.includes("migrations"));
  expect(files.length).toBeGreaterThan(20);
  const named = /'(?:proposed|sending|in_doubt|confirmed|refused|pending|cancelled)'/;
  expect(files.filter((file) => named.test(readFileSync(join(STORE, file), "utf8")))).toEqual([]);
});

test("the partial index holds the states that the statements written from the table ask for, in the same words", () => {
  const { db, close } = openDatabase(MEMORY);
  const indexes = new Map(
    db
      .prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'index'")
      .all()
      .map(({ name, sql }) => [name, sql]),
  );
  close();
  expect(indexes.get("intent_live")).toMatch(IS_LIVE);
});

test("a row in a state that nobody knows is damage", () => {
  expect(stateOf({ state: "parked" })).toBe("parked");
  expect(() => stateOf({ state: "lost" })).toThrow(expect.objectContaining({ code: "store_damaged" }));
});
