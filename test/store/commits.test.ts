/** What a write's promise waits for: nothing, its commit, or the disk. */
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { Commits } from "../../src/store/sqlite/commits.ts";

/** A store whose turns end, and whose disk answers, when the test says so. */
function lab() {
  const db = new DatabaseSync(":memory:");
  db.exec("CREATE TABLE t (x INTEGER NOT NULL)");
  const turns: (() => void)[] = [];
  const disk: { answer: () => void; fail: (error: Error) => void; held: readonly unknown[] }[] = [];
  const lost: string[] = [];
  let rollbacks = 0;
  const insert = db.prepare("INSERT INTO t VALUES (?)");
  const rows = (): readonly unknown[] =>
    db
      .prepare("SELECT x FROM t ORDER BY x")
      .all()
      .map(({ x }) => x);
  const commits = new Commits(db, {
    soon: (run) => void turns.push(run),
    sync: () => new Promise((answer, fail) => disk.push({ answer, fail, held: db.isTransaction ? [] : rows() })),
    onLost: ({ code }) => void lost.push(code),
    onRollback: () => void rollbacks++,
  });
  const said: string[] = [];
  const say = (promise: Promise<unknown>, name: string): void =>
    void promise.then(
      () => said.push(name),
      (error: unknown) => said.push(`${name}: ${error instanceof Error ? error.message : String(error)}`),
    );
  const put = (x: number | null): void => void insert.run(x);
  /** A hard write that says its name once it is on disk. */
  const hard = (x: number, name: string): void =>
    say(
      commits.hard(() => put(x)),
      name,
    );
  /** Ends the turn; what follows from it has happened when this resolves. */
  const turn = async (): Promise<void> => {
    for (const run of turns.splice(0)) run();
    await new Promise((resolve) => void setImmediate(resolve));
  };
  return { db, commits, disk, lost, said, say, turn, rows, put, hard, rollbacks: () => rollbacks };
}

describe("a turn's writes", () => {
  test("share one commit; a soft one waits for nothing, a counted one for the commit, a hard one for the disk", async () => {
    const { db, commits, disk, said, say, hard, turn, put } = lab();
    say(
      commits.soft(() => put(1)),
      "soft",
    );
    say(
      commits.counted(() => put(2)),
      "counted",
    );
    hard(3, "hard");
    await Promise.resolve();
    expect([said, db.isTransaction]).toEqual([["soft"], true]);
    await turn();
    expect([said, db.isTransaction, disk.length]).toEqual([["soft", "counted"], false, 0]);
    await turn();
    expect(disk.map(({ held }) => held)).toEqual([[1, 2, 3]]);
    disk[0]?.answer();
    await turn();
    expect(said).toEqual(["soft", "counted", "hard"]);
  });

  test("that come while the disk works share the next commit and its fsync", async () => {
    const { db, disk, said, hard, turn, rows } = lab();
    hard(1, "first");
    await turn();
    hard(2, "second");
    await turn();
    hard(3, "third");
    await turn();
    expect([said, rows(), disk.length, db.isTransaction]).toEqual([[], [1, 2, 3], 1, true]);
    disk[0]?.answer();
    await turn();
    expect([said, disk.length, db.isTransaction]).toEqual([["first"], 2, false]);
    expect(disk[1]?.held).toEqual([1, 2, 3]);
    disk[1]?.answer();
    await turn();
    expect([said, disk.length]).toEqual([["first", "second", "third"], 2]);
  });

  test("that wait for a commit only get it when the disk is free", async () => {
    const { db, commits, disk, said, say, hard, turn, put } = lab();
    hard(1, "hard");
    await turn();
    say(
      commits.counted(() => put(2)),
      "counted",
    );
    await turn();
    expect([said, disk.length, db.isTransaction]).toEqual([[], 1, true]);
    disk[0]?.answer();
    await turn();
    expect([said, disk.length, db.isTransaction]).toEqual([["hard", "counted"], 1, false]);
  });

  test("that follow from a commit share the fsync that was due, which waits for them one turn and no longer", async () => {
    const { commits, disk, said, say, hard, turn, put } = lab();
    const counted = (x: number): void =>
      say(
        commits.counted(() => put(x)).then(() => hard(x * 10, `after ${x}`)),
        `counted ${x}`,
      );
    hard(1, "hard");
    counted(2);
    await turn();
    expect(disk.length).toBe(0);
    counted(3);
    await turn();
    expect(disk.map(({ held }) => held)).toEqual([[1, 2, 3, 20]]);
    disk[0]?.answer();
    await turn();
    expect(said).toEqual(["counted 2", "counted 3", "hard", "after 2"]);
  });

  test("fail one by one: what threw is undone, the others stay", async () => {
    const { commits, said, say, turn, put, rows, rollbacks } = lab();
    say(
      commits.soft(() => put(1)),
      "one",
    );
    const half = commits.hard(() => {
      put(2);
      put(null);
    });
    await expect(half).rejects.toThrow("NOT NULL");
    say(
      commits.soft(() => put(3)),
      "three",
    );
    await turn();
    expect([said, rows(), rollbacks()]).toEqual([["one", "three"], [1, 3], 1]);
  });
});

describe("a disk that fails", () => {
  test("loses the store: who waits for it is told, and nothing more is accepted", async () => {
    const { commits, disk, lost, said, hard, turn, put } = lab();
    hard(1, "first");
    await turn();
    hard(2, "second");
    await turn();
    hard(3, "third");
    disk[0]?.fail(new Error("EIO"));
    await turn();
    disk[1]?.answer();
    await turn();
    await expect(commits.soft(() => put(4))).rejects.toMatchObject({ code: "store_lost" });
    expect(said.toSorted()).toEqual(["first", "second", "third"].map((name) => `${name}: the store could not commit: EIO`));
    expect([lost, commits.lost]).toEqual([["store_lost"], true]);
  });
});
