/** Groups of commits on one connection: none goes out behind one that the server has refused, and none stays behind. */
import { onTestFinished, expect, test } from "vitest";
import { virtualClock } from "../../../src/core/virtual-clock.ts";
import { CommitGroups } from "../../../src/store/postgres/commit-groups.ts";
import type { PostgresConnection, PostgresRow } from "../../../src/store/postgres/open-connection.ts";
import { sessionTimes } from "../../../src/store/postgres/session-settings.ts";
import { openWorkingCopy } from "../../../src/store/sqlite/working-copy.ts";

/** A server that answers each group when the test says so. */
function lab() {
  const clock = virtualClock();
  const sent: { readonly names: readonly unknown[]; readonly answer: PromiseWithResolvers<readonly PostgresRow[]> }[] = [];
  const connection: PostgresConnection = {
    query({ values = [] }) {
      const answer = Promise.withResolvers<readonly PostgresRow[]>();
      const rows: unknown = JSON.parse(String(values[0]));
      sent.push({ names: Array.isArray(rows) ? rows.map(({ name }) => name) : [], answer });
      return answer.promise;
    },
    close: () => Promise.resolve(),
    requireAnswers: () => undefined,
    onLost: () => undefined,
    onNotice: () => undefined,
    statements: 0,
  };
  const copy = openWorkingCopy(":memory:");
  const groups = new CommitGroups({
    connection,
    copy,
    clock,
    wall: clock,
    shards: { ofSpecialist: () => 0, ofKey: () => 0, home: 0 },
    times: sessionTimes(3_600_000),
    holder: 1,
    schema: "retinue",
  });
  const { db } = copy.database({ committed: () => groups.committed(), sync: () => groups.sync(), failure: groups.failure });
  onTestFinished(() => {
    groups.close();
    copy.close();
  });
  const commit = (name: string): void => {
    db.exec(`BEGIN; INSERT INTO meta (name, value) VALUES ('${name}', '1'); COMMIT`);
    groups.committed();
  };
  return { clock, groups, sent, commit, names: () => sent.map(({ names }) => names) };
}

test("no commit is stored behind a group that the server refused, so that none is without what came before it", async () => {
  const { clock, groups, sent, commit, names } = lab();
  commit("first");
  await clock.advance(20);
  commit("second");
  const stored = groups.sync();
  stored.catch(() => undefined);
  sent[0]?.answer.reject(new Error("the disk is full"));
  await expect(stored).rejects.toMatchObject({ code: "store_lost", message: expect.stringContaining("the disk is full") });
  commit("third");
  await clock.advance(60_000);
  await expect(groups.sync()).rejects.toMatchObject({ code: "store_lost" });
  expect(() => groups.requireCurrent()).toThrow("the disk is full");
  expect(groups.isLost).toBe(true);
  expect(names()).toEqual([["first"]]);
});

test("a commit that nothing waits for is stored soon after the group that was under way", async () => {
  const { clock, sent, commit, names } = lab();
  commit("first");
  await clock.advance(20);
  commit("second");
  await clock.advance(20);
  expect(names()).toEqual([["first"]]);
  sent[0]?.answer.resolve([]);
  await clock.advance(20);
  expect(names()).toEqual([["first"], ["second"]]);
});
