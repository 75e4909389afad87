/** Orders in the store: found by subject, name, time and words, and forgotten after a year and a month. */
import { expect, test } from "vitest";
import { DAY } from "../../src/core/units.ts";
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
