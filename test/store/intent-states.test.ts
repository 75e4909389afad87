import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { FOR_A_PERSON, GOES_FIRST, UNDER_WAY, UNSENT } from "../../src/outbox/intent.ts";
import { MEMORY, openDatabase } from "../../src/store/sqlite/database.ts";
import { sqlState, sqlStates, stateOf } from "../../src/store/sqlite/intent-states.ts";

const STORE = join(import.meta.dirname, "../../src/store");

test("no statement names a state of an action by itself", () => {
  const files = globSync("**/*.ts", { cwd: STORE }).filter((file) => !file.includes("migrations"));
  expect(files.length).toBeGreaterThan(20);
  const named = /'(?:proposed|sending|in_doubt|confirmed|refused|pending|cancelled)'/;
  expect(files.filter((file) => named.test(readFileSync(join(STORE, file), "utf8")))).toEqual([]);
});

test("partial indexes hold the states that the statements written from the table ask for, in the same words", () => {
  const { db, close } = openDatabase(MEMORY);
  const indexes = new Map(
    db
      .prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'index'")
      .all()
      .map(({ name, sql }) => [name, sql]),
  );
  close();
  expect(indexes.get("intent_ready")).toMatch(`state = ${sqlState("ready")}`);
  expect(indexes.get("intent_doubt")).toMatch(`state = ${sqlState("in_doubt")}`);
  expect(indexes.get("intent_waiting")).toMatch(`state IN ${sqlStates(FOR_A_PERSON)}`);
  expect(indexes.get("intent_conflict")).toMatch(`state IN ${sqlStates(UNDER_WAY)}`);
  expect(indexes.get("intent_open")).toMatch(`state IN ${sqlStates(GOES_FIRST)}`);
  expect(indexes.get("intent_depends")).toMatch(`state IN ${sqlStates(UNSENT)}`);
  expect(indexes.get("intent_expiry")).toMatch(`state IN ${sqlStates(UNSENT)}`);
});

test("a row in a state that nobody knows is damage", () => {
  expect(stateOf({ state: "parked" })).toBe("parked");
  expect(() => stateOf({ state: "lost" })).toThrow(expect.objectContaining({ code: "store_damaged" }));
});
