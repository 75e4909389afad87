/** The rows that commits of a working copy have changed: a mirror that follows them has every row of every table, and no other. */
import { expect, onTestFinished, test } from "vitest";
import { seededRandom } from "../../src/core/random.ts";
import type { Row } from "../../src/store/sqlite/columns.ts";
import { Commits } from "../../src/store/sqlite/commits.ts";
import { MEMORY } from "../../src/store/sqlite/database.ts";
import { openWorkingCopy } from "../../src/store/sqlite/working-copy.ts";

/** A working copy, its commits, and a mirror of its rows that follows what is recorded. */
function lab() {
  const copy = openWorkingCopy(MEMORY);
  onTestFinished(() => copy.close());
  const { db, elsewhere } = copy.database({
    committed: () => undefined,
    sync: () => Promise.resolve(),
    failure: new Promise(() => undefined),
  });
  if (elsewhere === undefined) throw new Error("a working copy is kept elsewhere");
  const turns: (() => void)[] = [];
  const commits = new Commits(db, {
    soon: (run) => void turns.push(run),
    sync: undefined,
    onLost: () => undefined,
    onRollback: () => undefined,
    recorder: elsewhere.recorder,
    onCommitted: () => copy.recordCommit(),
  });
  const mirror = new Map<string, Row>();
  const keyed = (table: string, row: Row): string =>
    JSON.stringify([table, ...(copy.shapes.find(({ name }) => name === table)?.key ?? []).map((column) => row[column])]);
  const follow = (): readonly string[] => {
    const changes = copy.takeChanges();
    for (const [table, { rows }] of changes)
      for (const { row, isDeleted } of rows.values()) {
        if (isDeleted) mirror.delete(keyed(table, row));
        else mirror.set(keyed(table, row), row);
      }
    return [...changes.keys()].sort();
  };
  const stored = (): ReadonlyMap<string, Row> =>
    new Map(
      copy.shapes.flatMap(({ name }) =>
        db
          .prepare(`SELECT * FROM main.${name}`)
          .all()
          .map((row): [string, Row] => [keyed(name, row), { ...row }]),
      ),
    );
  for (const [key, row] of stored()) mirror.set(key, row); // made with the tables
  return {
    copy,
    db,
    commits,
    recorder: elsewhere.recorder,
    mirror,
    stored,
    follow,
    turn: (): void => turns.splice(0).forEach((run) => run()),
  };
}

const PUT = "INSERT INTO meta (name, value) VALUES (?, ?)";

test("a mirror has what was inserted, replaced, changed, moved to another key and deleted", () => {
  const { db, commits, mirror, stored, follow, turn } = lab();
  const random = seededRandom(7);
  const statements: readonly (() => unknown)[] = [
    () => db.prepare("INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)").run(`n${random.int(10)}`, `v${random.int(100)}`),
    () => db.prepare("UPDATE meta SET value = value || '+' WHERE name > ?").run(`n${random.int(10)}`),
    () => db.prepare("DELETE FROM meta WHERE name = ?").run(`n${random.int(10)}`),
    () => db.prepare("UPDATE OR IGNORE meta SET name = ? WHERE name = ?").run(`n${random.int(10)}`, `n${random.int(10)}`),
    () =>
      db.prepare("INSERT INTO meta (name, value) VALUES (?, 'first') ON CONFLICT DO UPDATE SET value = 'again'").run(`n${random.int(10)}`),
    () =>
      db
        .prepare("INSERT OR REPLACE INTO open (kind, seq, state) VALUES (?, ?, ?)")
        .run(random.int(2), random.int(5), String(random.int(100))),
    () => db.prepare("DELETE FROM open WHERE kind = ?").run(random.int(2)),
  ];
  for (let n = 0; n < 500; n++) {
    commits.undoable(() => {
      for (let i = random.int(5); i >= 0; i--) random.pick(statements)();
    });
    if (random.int(3) > 0) continue;
    turn();
    follow();
    expect([n, mirror]).toEqual([n, stored()]);
  }
  expect(mirror.size).toBeGreaterThan(0);
});

test("a row that a trigger of another table changes is recorded as it is after the commit", () => {
  const { copy, db, commits, mirror, stored, follow, turn } = lab();
  const columns = copy.shapes.find(({ name }) => name === "intent")?.columns ?? [];
  const intent = (seq: number, state: string): void => {
    const row: Row = {
      ...Object.fromEntries(columns.map((column) => [column, 0])),
      seq,
      id: `i${seq}`,
      specialist: "scout",
      operation: "posts.reply",
      state,
    };
    db.prepare(`INSERT OR REPLACE INTO intent (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`).run(
      ...columns.map((column) => row[column] ?? null),
    );
  };
  commits.undoable(() => [1, 2, 3].forEach((seq) => intent(seq, "ready")));
  commits.undoable(() => intent(2, "sending"));
  turn();
  expect(follow()).toEqual(["intent", "intent_count"]);
  commits.undoable(() => db.exec("DELETE FROM intent WHERE seq = 3"));
  turn();
  expect(follow()).toEqual(["intent", "intent_count"]);
  expect(mirror).toEqual(stored());
});

test("a write that is rolled back is not recorded, nor is one inside it; those before and after it are", () => {
  const { db, commits, mirror, stored, follow, turn } = lab();
  const put = db.prepare(PUT);
  commits.undoable(() => put.run("before", "1"));
  expect(() =>
    commits.undoable(() => {
      put.run("undone", "1");
      commits.undoable(() => put.run("inside", "1"));
      db.exec("DELETE FROM meta WHERE name = 'before'");
      put.run("undone", "twice");
    }),
  ).toThrow("UNIQUE constraint failed: meta.name");
  commits.undoable(() => put.run("after", "1"));
  turn();
  expect(follow()).toEqual(["meta"]);
  expect([...mirror.values()].flatMap(({ name, value }) => (value === "1" ? [name] : []))).toEqual(["before", "after"]);
  expect(mirror).toEqual(stored());
});

test("nothing is recorded of a transaction that the loss of a store has rolled back", async () => {
  const { copy, db, commits, turn } = lab();
  commits.undoable(() => db.prepare(PUT).run("written", "1"));
  expect(() =>
    commits.add(() => {
      throw new Error("no block of numbers is left");
    }),
  ).toThrow("no block of numbers is left");
  turn();
  await copy.loadOlder("meta", [{ name: "older", value: "1" }]);
  copy.recordCommit();
  expect(copy.hasChanges).toBe(false);
  expect(db.prepare("SELECT name FROM meta WHERE value = '1'").all()).toEqual([{ name: "older" }]);
});

test("a fact is recorded by the log, and its deletion by the table; what is loaded is not recorded", async () => {
  const { copy, db, commits, recorder, follow, turn } = lab();
  const row = { seq: 5, kind: 0, subject: 1, at: 7, change: "{}", failed_at: null };
  const columns = ["seq", "kind", "subject", "at", "change"];
  const record = recorder.inserting("change", columns);
  commits.undoable(() => {
    db.exec("INSERT INTO change (seq, kind, subject, at, change) VALUES (5, 0, 1, 7, '{}')");
    record([5, 0, 1, 7, "{}"]);
  });
  expect(() => recorder.inserting("changes", columns)).toThrow("the table changes has no columns");
  expect(() => recorder.inserting("change", ["seq", "said"])).toThrow("the table change has no columns seq, said");
  turn();
  const recorded = (): unknown => [...(copy.takeChanges().get("change")?.rows.values() ?? [])];
  expect(recorded()).toEqual([{ row, isDeleted: false }]);
  commits.undoable(() => db.exec("DELETE FROM change"));
  turn();
  expect(recorded()).toEqual([{ row, isDeleted: true }]);
  copy.load("meta", [{ name: "loaded", value: "1" }]);
  await copy.loadOlder("change", [row]);
  turn();
  expect(follow()).toEqual([]);
});
