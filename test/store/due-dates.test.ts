/** What waits, after a clock that was ahead has been set right. */
import { expect, onTestFinished, test } from "vitest";
import { asHandle } from "../../src/core/ids.ts";
import { seededRandom } from "../../src/core/random.ts";
import { HOUR, MINUTE } from "../../src/core/units.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { MEMORY, openDatabase } from "../../src/store/sqlite/database.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { SCHEDULE_PREFIX } from "../../src/contract/event-kinds.ts";

const SCOUT = asHandle("scout");
const RIGHT = Date.UTC(2026, 2, 1, 12);

/** A store that last saw the time `aheadMs` after what it is now, and where a look and a schedule were due ten minutes later. */
async function seenAhead(aheadMs: number) {
  const database = openDatabase(MEMORY);
  onTestFinished(() => database.close());
  const clock = virtualClock(RIGHT);
  const store = openSqliteStore({ path: MEMORY, database, clock, random: seededRandom(1) });
  const seenAt = RIGHT + aheadMs;
  const dueAt = seenAt + 10 * MINUTE;
  database.db.prepare("INSERT INTO ledger_time (one, seen_at) VALUES (1, ?)").run(seenAt);
  const cursors = ["feed", `${SCHEDULE_PREFIX}news`].map((source) => ({ specialist: SCOUT, source, cursor: {}, dueAt }));
  await clock.run(store.putEvents({ events: [], cursors }, seenAt));
  await clock.run(store.recover(RIGHT, 0));
  const dues = new Map((await store.sources(SCOUT)).map((row) => [row.name, row.dueAt]));
  return { look: dues.get("feed"), schedule: dues.get(`${SCHEDULE_PREFIX}news`), dueAt };
}

test("a look that a clock ahead by hours has put off comes when it was to come", async () => {
  const { look, schedule, dueAt } = await seenAhead(9 * HOUR);
  expect(look).toBe(RIGHT + 10 * MINUTE);
  expect(schedule).toBe(dueAt);
});

test("nothing is put forward where the clock went on", async () => {
  const { look, dueAt } = await seenAhead(-MINUTE);
  expect(look).toBe(dueAt);
});

test("when something was sent is not known any more where a clock that was ahead has dated it", async () => {
  const database = openDatabase(MEMORY);
  onTestFinished(() => database.close());
  const { db } = database;
  const clock = virtualClock(RIGHT);
  db.prepare("INSERT INTO ledger_time (one, seen_at) VALUES (1, ?)").run(RIGHT + 9 * HOUR);
  const insert = db.prepare(`
    INSERT INTO intent (id, specialist, event_seq, ordinal, operation, input, effect, lane, conflict_key, state, sent_at, created_at, last)
    VALUES (?, 'scout', 1, 0, 'posts.create', '{}', 'reconciled', 'act', ?1, ?, ?, 0, 0)`);
  const sent = { early: RIGHT - HOUR, ahead: RIGHT + 8 * HOUR };
  insert.run("early", "in_doubt", sent.early);
  insert.run("ahead", "in_doubt", sent.ahead);
  insert.run("on its way", "sending", sent.ahead);
  insert.run("done", "confirmed", sent.ahead);
  const store = openSqliteStore({ path: MEMORY, database, clock, random: seededRandom(1) });
  await clock.run(store.recover(RIGHT, 0));
  expect((await store.intents({ limit: 9 })).map(({ id, sentAt }) => [id, sentAt])).toEqual([
    ["done", sent.ahead],
    ["on its way", 0],
    ["ahead", 0],
    ["early", sent.early],
  ]);
});
