/** The indexes of facts that a working copy makes of what it loads: the same whatever comes first. */
import { expect, test } from "vitest";
import type { Row } from "../../src/store/sqlite/columns.ts";
import { openWorkingCopy, type WorkingCopy } from "../../src/store/sqlite/working-copy.ts";

const MARK = 20;

const event = (seq: number): Row => ({
  seq,
  specialist: "scout",
  id: `post.created:${seq}`,
  kind: "post.created",
  payload: "{}",
  via: "poll",
  hops: 0,
  begun: 0,
  created_at: 1,
});
const run = (seq: number, of: number): Row => ({ seq, event: of, specialist: "scout", at: 1 });
const attempt = (seq: number, intent: number | null): Row => ({
  seq,
  intent,
  specialist: "scout",
  key_id: "k",
  operation: "posts.reply",
  lane: "reply",
  cost: 1,
  at: 1,
  deadline_at: 1,
});

/** An event that is handled, one that is not, and one after the mark; a run whose event is pruned. */
const FACTS: readonly (readonly [table: string, row: Row])[] = [
  ["event", event(1)],
  ["event", event(10)],
  ["event", event(21)],
  ["run", run(2, 1)],
  ["run", run(4, 3)],
  ["attempt", attempt(5, 512)],
  ["attempt", attempt(6, null)],
  ["attempt", attempt(22, 513)],
];

function opened(): { readonly copy: WorkingCopy; readonly indexes: () => unknown } {
  const copy = openWorkingCopy(":memory:");
  copy.load("rolled_up", [{ one: 1, facts: MARK, entries: 0 }]);
  const { db } = copy.asRead();
  const all = (text: string): unknown => db.prepare(text).all();
  return {
    copy,
    indexes: () => ({ events: all("SELECT seq, run FROM event_of"), attempts: all("SELECT intent, seq FROM attempt_of") }),
  };
}

const INDEXES = {
  events: [
    { seq: 1, run: 2 },
    { seq: 10, run: null },
  ],
  attempts: [{ intent: 512, seq: 5 }],
};

test("facts that a start loads", () => {
  const { copy, indexes } = opened();
  for (const [table, row] of FACTS) copy.load(table, [row]);
  copy.indexLoaded();
  expect(indexes()).toEqual(INDEXES);
  copy.close();
});

test("facts that come behind it, each once, though some are here already", async () => {
  const { copy, indexes } = opened();
  copy.load("event", [event(10), event(21)]);
  copy.indexLoaded();
  for (const [table, row] of FACTS) await copy.loadOlder(table, [row]);
  expect(indexes()).toEqual(INDEXES);
  expect(copy.hasChanges).toBe(false);
  copy.close();
});
