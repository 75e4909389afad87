/** Orders in the store: found by subject, name, time and words, and forgotten after a year and a month. */
import { expect, onTestFinished, test } from "vitest";
import { seededRandom } from "../../src/core/random.ts";
import { defined } from "../../src/core/defined.ts";
import { DAY, MINUTE } from "../../src/core/units.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { MEMORY } from "../../src/store/sqlite/database.ts";
import { BLOCK, type Numbers } from "../../src/store/sqlite/numbers.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { DEFAULT_RETENTION } from "../../src/runtime/retention.ts";
import { desk } from "../harness/guardian-over-store.ts";

test("an order without an end has no result, and an ended one has", async () => {
  const { clock, store, on } = desk();
  const seq = await on(store.noteOrder({ at: clock.now(), who: "mina", from: "command", what: "halt" }));
  const row = { seq, at: clock.now(), who: "mina", from: "command", what: "halt" };
  expect(await on(store.orders({ limit: 10 }))).toEqual({ rows: [row], total: 1 });
  await on(store.endOrder(seq, { result: "no", code: "x:no" }));
  expect(await on(store.orders({ what: "halt", search: ["X:N"], limit: 10 }))).toEqual({
    rows: [{ ...row, result: "no", code: "x:no" }],
    total: 1,
  });
  expect((await on(store.orders({ what: "hal", limit: 10 }))).total).toBe(0);
});

test("an order says the way by which it came", async () => {
  const { clock, store, on } = desk();
  for (const from of ["command", "code", "console"] as const)
    await on(store.noteOrder({ at: clock.now(), who: "mina", from, what: "halt" }));
  expect((await on(store.reads.orders({ limit: 10 }))).rows.map(({ from }) => from)).toEqual(["console", "code", "command"]);
});

test("orders are kept for thirteen months", async () => {
  const { clock, store, on } = desk();
  await on(store.noteOrder({ at: clock.now(), who: "mina", from: "code", what: "call posts.create", subject: "scout" }));
  await clock.advance(395 * DAY);
  await on(store.prune(clock.now(), DEFAULT_RETENTION));
  expect((await on(store.orders({ subject: "scout", what: "call", limit: 1 }))).total).toBe(1);
  await clock.advance(2 * DAY);
  await on(store.prune(clock.now(), DEFAULT_RETENTION));
  expect((await on(store.orders({ limit: 1 }))).total).toBe(0);
});

test("an order that several stores noted is one row, by what it says of the order; one given twice to a store is two", async () => {
  const clock = virtualClock(Date.UTC(2026, 10, 21));
  let next = 0;
  const numbers: Numbers = { fact: (last) => last + 1, row: () => next++ };
  const store = openSqliteStore({ path: MEMORY, clock, random: seededRandom(1), numbers });
  onTestFinished(() => clock.run(store.close()));
  const note = async (block: number, what: string, code?: string, subject?: string): Promise<void> => {
    next = block * BLOCK + (next % BLOCK) + 1;
    const seq = await clock.run(store.noteOrder({ at: clock.now(), who: "mina", from: "command", what, ...defined({ subject }) }));
    await clock.run(store.endOrder(seq, { result: code ?? "done", ...(code === undefined ? {} : { code }) }));
    await clock.advance(5);
  };
  await note(1, "lift");
  await note(2, "lift", "x:no");
  await note(4, "lift");
  await note(1, "pause", "x:no", "scout");
  await note(2, "pause", undefined, "scout");
  await note(4, "pause", "specialist_unknown", "scout");
  await note(1, "retry");
  await note(2, "retry", "nothing_parked");
  await note(1, "call posts.create");
  await note(1, "call posts.create");
  await clock.advance(MINUTE);
  await note(2, "lift");
  const { rows, total } = await clock.run(store.orders({ limit: 10 }));
  expect(rows.map(({ what, result }) => `${what}: ${result}`)).toEqual([
    "lift: done",
    "call posts.create: done",
    "call posts.create: done",
    "retry: done",
    "pause: done",
    "lift: x:no",
  ]);
  expect(total).toBe(6);
});
