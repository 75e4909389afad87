/** Rows by few statements: every row is inserted once, in order, however many there are. */
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import { rowInserter } from "../../src/store/sqlite/insert-rows.ts";
import { countStatements } from "../harness/count-statements.ts";

test.each([
  [0, 0],
  [1, 1],
  [7, 7],
  [8, 1],
  [9, 2],
  [24, 3],
  [31, 10],
])("%i rows take %i statements", (rows, most) => {
  const count = countStatements(onTestFinished);
  const db = new DatabaseSync(":memory:");
  onTestFinished(() => db.close());
  db.exec("CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT, n INTEGER)");
  const head = "INSERT INTO t (a, b, n)";
  const insert = rowInserter<number>(
    db,
    { head, columns: 3, tail: "ON CONFLICT (a) DO UPDATE SET n = n + excluded.n" },
    (values, from, item) => {
      values[from] = item;
      values[from + 1] = `b${item}`;
      values[from + 2] = 1;
    },
  );
  const items = Array.from({ length: rows }, (_, n) => n);
  insert(items);
  expect(count()).toBe(most);
  insert(items); // its arrays are used again
  expect(db.prepare("SELECT a, b, n FROM t ORDER BY a").all()).toEqual(items.map((a) => ({ a, b: `b${a}`, n: 2 })));
});
