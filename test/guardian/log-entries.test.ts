/** The log: actions and failed handlings in order of time, and its pages neither repeat nor leave out one. */
import { expect, onTestFinished, test } from "vitest";
import { asIntentId } from "../../src/core/ids.ts";
import { MINUTE, SECOND } from "../../src/core/units.ts";
import { readLog, type LogEntry, type LogQuery } from "../../src/guardian/log-entries.ts";
import { systemRandom } from "../../src/core/random.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { MAX_SEARCHED } from "../../src/store/history.ts";
import { MEMORY, openDatabase } from "../../src/store/sqlite/database.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { openWorkingCopy } from "../../src/store/sqlite/working-copy.ts";
import { decide } from "../harness/builders.ts";
import { desk, type Desk } from "../harness/guardian-over-store.ts";

async function filled(): Promise<Desk> {
  const here = desk();
  const { clock, store, on, failed } = here;
  for (let i = 0; i < 3; i++) {
    await on(
      decide(
        store,
        clock.now(),
        [0, 1].map((n) => ({ id: asIntentId(`a${i}${n}`), conflictKey: `a${i}${n}` })),
      ),
    );
    await failed(`e${i}`, { at: clock.now() }, i === 2 ? "job.listed" : "post.created");
    await clock.advance(SECOND);
  }
  return here;
}

const read = ({ clock, store, on }: Desk, query: Partial<LogQuery> = {}) => on(readLog(store, { limit: 100, ...query }, clock.now()));
const ids = (entries: readonly LogEntry[]): readonly string[] => entries.map(({ id }) => id);

test("pages of any size together are the whole log, newest first, also where many are of one millisecond", async () => {
  const here = await filled();
  const whole = ids((await read(here)).entries);
  expect(whole).toHaveLength(9);
  for (const limit of [1, 2, 4, 9]) {
    const paged: string[] = [];
    let before: number | undefined;
    for (let page = 0; page < 20; page++) {
      const { entries, next } = await read(here, { limit, ...(before === undefined ? {} : { before }) });
      paged.push(...ids(entries));
      before = next;
      if (next === undefined) break;
    }
    expect([limit, paged]).toEqual([limit, whole]);
  }
});

test("the log is read by kind, noun, specialist and time", async () => {
  const here = await filled();
  expect(ids((await read(here, { kind: "job.listed" })).entries)).toEqual(["e2"]);
  expect(ids((await read(here, { kind: "posts" })).entries)).toHaveLength(6);
  expect((await read(here, { handle: "quill" })).entries).toEqual([]);
  const since = here.clock.now() - SECOND;
  expect((await read(here, { since })).entries).toHaveLength(3);
});

test("an action says its words and state, a failure its place and next try", async () => {
  const here = await filled();
  const { entries } = await read(here);
  expect(entries.find(({ id }) => id === "a00")).toMatchObject({
    about: "action",
    operation: "posts.create",
    state: "ready",
    words: "post 0",
    handle: "scout",
  });
  expect(entries.find(({ id }) => id === "e0")).toMatchObject({
    about: "failure",
    state: "failing",
    code: "handler_threw",
    message: "no model",
    tries: 1,
  });
});

test("an action that expired while nothing ran is shown as expired", async () => {
  const here = desk();
  await here.on(decide(here.store, here.clock.now(), [{ id: asIntentId("late"), expiresAt: here.clock.now() + SECOND }]));
  await here.clock.advance(MINUTE);
  expect((await read(here)).entries).toMatchObject([{ id: "late", state: "cancelled", code: "expired" }]);
});

test("a limit is held within bounds", async () => {
  const here = await filled();
  expect([(await read(here, { limit: 0 })).entries.length, (await read(here, { limit: -5 })).entries.length]).toEqual([1, 1]);
});

test("words are found in the whole text of an action and in the reason of a failure, with quotes, percent and case", async () => {
  const here = await filled();
  const { clock, store, on } = here;
  const content = `${"long ".repeat(200)}He said "100% \\ sure" at the END`;
  await on(decide(store, clock.now(), [{ id: asIntentId("said"), conflictKey: "said", input: { content } }]));
  const found = async (search: string) => ids((await read(here, { search })).entries);
  expect(await found('"100% \\ end')).toEqual(["said"]);
  expect(await found("100_")).toEqual([]);
  expect(await found("no model e1")).toEqual(["e1"]);
  expect((await read(here, { search: "post.created" })).total).toBe(2);
});

test("each page has the number of all entries", async () => {
  const here = await filled();
  expect((await read(here, { limit: 2 })).total).toBe(9);
  expect((await read(here, { kind: "posts", limit: 2 })).total).toBe(6);
  expect((await read(here, { since: here.clock.now() - SECOND })).total).toBe(3);
});

test("a search ends at a bound, and continues with older actions", async () => {
  const database = openDatabase(MEMORY);
  onTestFinished(() => database.close());
  const clock = virtualClock(Date.UTC(2026, 10, 21));
  database.db.exec(`
    INSERT INTO intent (seq, id, specialist, event_seq, ordinal, operation, input, effect, lane, conflict_key, state, created_at, settled_at, last)
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${MAX_SEARCHED + 10})
    SELECT i, 'i' || i, 'scout', 0, 0, 'posts.create', '{"content":"' || iif(i % 10 = 3, 'wanted', 'other') || '"}', 'reconciled', 'act', i, 'confirmed', i, i, 0 FROM n`);
  const store = openSqliteStore({ path: MEMORY, database, clock, random: systemRandom() });
  onTestFinished(() => clock.run(store.close()));
  const look = (query: Partial<LogQuery>) => clock.run(readLog(store, { limit: 1_000, search: "wanted", ...query }, clock.now()));
  const newest = await look({ search: "wanted i13" });
  expect([newest.total, ids(newest.entries).at(-1)]).toEqual([undefined, "i13"]);
  const none = await look({ search: "nothing" });
  expect([none.entries.length, none.next]).toEqual([0, 10 * 1_000]);
  const older = await look({ search: "wanted", ...(none.next === undefined ? {} : { before: none.next }) });
  expect([ids(older.entries), older.next]).toEqual([["i3"], undefined]);
});

test("a store that several processes wrote is read in the order of time, whichever of them had the higher numbers", async () => {
  const copy = openWorkingCopy(MEMORY);
  const row = { specialist: "scout", event_seq: 0, ordinal: 0, operation: "posts.create", input: "{}", effect: "reconciled", lane: "act" };
  const end = { state: "confirmed", settled_at: 1, last: 0 };
  // Two processes took turns, each with numbers of its own.
  const rows = Array.from({ length: 40 }, (_, i) => {
    const seq = (i % 3 === 0 ? 9 : 2) * 1_000_000 + i;
    return { ...row, ...end, seq, id: `i${i}`, conflict_key: `i${i}`, created_at: 1_000 + Math.floor(i / 2) };
  });
  copy.load("intent", rows);
  const clock = virtualClock(Date.UTC(2026, 10, 21));
  const store = openSqliteStore({ path: MEMORY, database: { ...copy.asRead(), isCopy: true }, clock, random: systemRandom() });
  onTestFinished(() => clock.run(store.close()));
  const newest = rows.toSorted((a, b) => b.created_at - a.created_at || b.seq - a.seq).map(({ id }) => id);
  for (const limit of [1, 3, 7, 40]) {
    const paged: string[] = [];
    let before: number | undefined;
    for (let page = 0; page < 50; page++) {
      const { entries, next } = await clock.run(readLog(store, { limit, ...(before === undefined ? {} : { before }) }, clock.now()));
      paged.push(...ids(entries));
      before = next;
      if (next === undefined) break;
    }
    expect(paged, `pages of ${limit}`).toEqual(newest);
  }
  expect(ids((await clock.run(readLog(store, { limit: 2, search: "i1" }, clock.now()))).entries)).toEqual(["i18", "i19"]);
});
