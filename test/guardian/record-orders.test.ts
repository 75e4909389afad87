/** Orders: each leaves a row of who gave it, when, from where and why, with its result; also where it fails. */
import { expect, test } from "vitest";
import { MINUTE } from "../../src/core/units.ts";
import { createGuardian, type Guardian } from "../../src/guardian/guardian.ts";
import { PROGRAM, readOrders, recordOrders } from "../../src/guardian/record-orders.ts";
import { desk, type Desk } from "../harness/guardian-over-store.ts";
import { harness } from "../harness/harness.ts";
import { propose } from "../harness/proposed.ts";

const MINA = { who: "mina", from: "command" } as const;

const orders = async ({ store, on }: Desk, query: Partial<Parameters<typeof readOrders>[1]> = {}) =>
  on(readOrders(store, { limit: 100, ...query }));

const guardianOf = ({ store, clock }: Desk): Guardian => createGuardian({ store, clock, members: async () => [], caller: MINA });

test("an order is a row with who, when, from where, what, why and its result", async () => {
  const here = desk();
  const { clock, store, on } = here;
  const guardian = guardianOf(here);
  await on(propose(store, { id: "i1", input: { content: "hello" }, now: clock.now() }));
  await on(guardian.reject({ id: "i1", reason: "too long" }));
  await clock.advance(MINUTE);
  await on(guardian.halt({}));
  const { entries, total } = await orders(here);
  expect([total, entries]).toEqual([
    2,
    [
      { seq: 2, at: clock.now(), ...MINA, what: "halt", result: "halted: no specialist writes" },
      {
        seq: 1,
        at: clock.now() - MINUTE,
        ...MINA,
        what: "reject",
        subject: "i1",
        why: "too long",
        result: "rejected: posts.reply of scout",
      },
    ],
  ]);
});

test("an order that is refused has a row with the code, and a question has none", async () => {
  const here = desk();
  const guardian = guardianOf(here);
  await expect(here.on(guardian.pause({ handle: "nobody" }))).rejects.toMatchObject({ code: "specialist_unknown" });
  await here.on(guardian.status({}));
  expect((await orders(here)).entries).toMatchObject([{ what: "pause", subject: "nobody", code: "specialist_unknown" }]);
});

test("an order by code without a name is the program's", async () => {
  const here = desk();
  await here.on(here.guardian.halt({}));
  expect((await orders(here)).entries).toMatchObject([PROGRAM]);
});

test("orders come by page, kind, subject, time and words, with the number of all", async () => {
  const here = desk();
  const { clock, on } = here;
  const guardian = guardianOf(here);
  for (let i = 0; i < 5; i++) {
    await on(guardian.halt({ reason: `the ${i}th 100% reason` }));
    await on(guardian.lift({}));
    await clock.advance(MINUTE);
  }
  const first = await orders(here, { what: "halt", limit: 2 });
  const next = await orders(here, { what: "halt", limit: 10, ...(first.next === undefined ? {} : { before: first.next }) });
  expect([first.entries.length, first.total, next.entries.length, next.next]).toEqual([2, 5, 3, undefined]);
  expect((await orders(here, { search: "100% 3TH" })).entries).toMatchObject([{ why: "the 3th 100% reason" }]);
  expect((await orders(here, { search: "100_" })).total).toBe(0);
  expect((await orders(here, { since: clock.now() - MINUTE })).total).toBe(2);
  expect((await orders(here, { subject: "scout" })).total).toBe(0);
});

test("an order whose row cannot be stored is still carried out, and long texts are cut", async () => {
  const here = desk();
  const { store, context, on, guardian } = here;
  const failing = { ...store, noteOrder: async () => Promise.reject(new Error("disk full")) };
  const recorded = recordOrders(guardian, { ...context, store: failing }, MINA);
  expect(await on(recorded.halt({ reason: "x".repeat(1_000_000) }))).toMatchObject({ message: "halted: no specialist writes" });
  const [row] = (await orders(here)).entries;
  expect([row?.who, (row?.why ?? "").length]).toEqual([PROGRAM.who, 1_001]);
});

test("each order is announced once it has its row, and so is one that was refused", async () => {
  const { clock, guardian, runtime } = await harness({ specialists: [{ handle: "scout" }] });
  const announced: unknown[] = [];
  runtime.announcer.on("order", (what) => void announced.push(what));
  await clock.run(guardian.pause({ handle: "scout" }));
  await expect(clock.run(guardian.retry({ id: "nobody" }))).rejects.toMatchObject({ code: "nothing_parked" });
  await clock.run(guardian.status({}));
  expect(announced).toMatchObject([
    { handle: "scout", who: PROGRAM.who, what: "pause", subject: "scout" },
    { handle: "", who: PROGRAM.who, what: "retry", subject: "nobody", code: "nothing_parked" },
  ]);
});

test("an answer that comes second by a moment hears who was first", async () => {
  const here = desk();
  const { store, clock, on } = here;
  await on(propose(store, { id: "i1", input: { content: "hello" }, now: clock.now() }));
  const overtaken: typeof store = {
    ...store,
    async decideApproval() {
      await guardianOf(here).reject({ id: "i1" });
      return false;
    },
  };
  const late = createGuardian({ store: overtaken, clock, members: async () => [], caller: { who: "anna", from: "console" } });
  await expect(on(late.reject({ id: "i1" }))).rejects.toMatchObject({
    code: "approval_over",
    message: "i1 can no longer be answered: it was rejected, by mina, 2026-11-21T00:00:00.000Z",
  });
});
