/** Pages of several stores as one: together they are everything, once, and newest first. */
import { expect, test } from "vitest";
import { asHandle, asIntentId } from "../../src/core/ids.ts";
import { SECOND } from "../../src/core/units.ts";
import type { Guardian } from "../../src/guardian/guardian.ts";
import type { GuardianPart } from "../../src/guardian/guardian-part.ts";
import { joinDeliveries, joinLog, joinOrders } from "../../src/guardian/join-pages.ts";
import { pageByTime } from "../../src/guardian/page.ts";
import type { OrderRow } from "../../src/store/orders.ts";
import type { KeptDelivery } from "../../src/store/history.ts";
import { decide } from "../harness/builders.ts";
import { desk, type Desk } from "../harness/guardian-over-store.ts";

/** A Guardian whose answers its own clock lets come. */
function partOf({ guardian, on }: Desk, name: string): GuardianPart {
  const log: Guardian["log"] = (query) => on(guardian.log(query));
  const orders: Guardian["orders"] = (query) => on(guardian.orders(query));
  return { name, guardian: { ...guardian, log, orders } };
}

/** Three stores with actions of the same milliseconds, and of others. */
async function three(): Promise<readonly Desk[]> {
  const desks = [desk(), desk(), desk()];
  for (const [d, { store, clock, on }] of desks.entries())
    for (let i = 0; i < 4; i++) {
      const ids = Array.from({ length: 1 + ((i + d) % 3) }, (_, n) => ({ id: asIntentId(`i${d}${i}${n}`), conflictKey: `${d}${i}${n}` }));
      await on(decide(store, clock.now(), ids));
      await clock.advance(i === d ? 1_500 : SECOND);
    }
  return desks;
}

test("pages of the log of any size are the whole, newest first", async () => {
  const desks = await three();
  const parts = desks.map((one, i) => partOf(one, `p${i}`));
  const whole = await joinLog(parts, { limit: 1_000 });
  const single = await Promise.all(parts.map(({ guardian }) => guardian.log({ limit: 1_000 })));
  expect(whole.entries.map(({ id }) => id).toSorted()).toEqual(single.flatMap(({ entries }) => entries.map(({ id }) => id)).toSorted());
  expect(whole.total).toBe(whole.entries.length);
  expect(whole.next).toBeUndefined();
  expect(whole.entries.map(({ at }) => at)).toEqual(whole.entries.map(({ at }) => at).toSorted((a, b) => b - a));
  for (const limit of [1, 2, 3, 5, 7]) {
    const paged: string[] = [];
    let before: number | undefined;
    for (let page = 0; page < 100; page++) {
      const { entries, next } = await joinLog(parts, { limit, ...(before === undefined ? {} : { before }) });
      paged.push(...entries.map(({ id }) => id));
      if (next === undefined) break;
      before = next;
    }
    expect(paged.toSorted(), `pages of ${limit}`).toEqual(whole.entries.map(({ id }) => id).toSorted());
  }
});

test("the newest lines are those, however many are asked for", async () => {
  const desks = await three();
  const parts = desks.map((one, i) => partOf(one, `p${i}`));
  const whole = (await joinLog(parts, { limit: 1_000 })).entries.map(({ id }) => id);
  for (let limit = 1; limit <= whole.length; limit++)
    expect((await joinLog(parts, { limit })).entries.map(({ id }) => id)).toEqual(whole.slice(0, limit));
});

test("pages of deliveries are everything once, in the order of time, whichever store has the higher numbers", async () => {
  const stores = [[1, 2, 3, 70, 71], [10, 11, 12], []].map((numbers) =>
    numbers.map((seq): KeptDelivery => ({ ...DELIVERY, seq, receivedAt: seq % 10 })),
  );
  const parts = stores.map((rows, i): GuardianPart => {
    const deliveries: Guardian["deliveries"] = (query) =>
      pageByTime(
        query,
        ({ receivedAt }) => receivedAt,
        async ({ until = Infinity, limit }) => ({
          rows: rows
            .filter(({ receivedAt }) => receivedAt <= until)
            .toSorted((a, b) => b.receivedAt - a.receivedAt || b.seq - a.seq)
            .slice(0, limit),
        }),
      );
    return { name: `p${i}`, guardian: { ...desk().guardian, deliveries } };
  });
  for (const limit of [1, 2, 3, 10]) {
    const paged: number[] = [];
    let before: number | undefined;
    for (let page = 0; page < 20; page++) {
      const { entries, next } = await joinDeliveries(parts, { limit, ...(before === undefined ? {} : { before }) });
      paged.push(...entries.map(({ seq }) => seq));
      if (next === undefined) break;
      before = next;
    }
    expect(paged, `pages of ${limit}`).toEqual([3, 12, 2, 71, 11, 1, 70, 10]);
  }
});

const DELIVERY = {
  specialist: asHandle("scout"),
  id: "d",
  kind: "post.pinned",
  state: "unhandled",
  scheme: "none",
  note: undefined,
  bytes: 2,
};

test("an order that all were given is one row, of one that carried it out", async () => {
  const desks = [desk(), desk()];
  const parts = desks.map((one, i) => partOf(one, `p${i}`));
  await desks[0]?.event("e1");
  for (const { guardian, on } of desks) await on(guardian.pause({ handle: "scout", reason: "enough" })).catch(() => undefined);
  for (const { guardian, on } of desks) await on(guardian.halt({ reason: "all" }));
  const { entries } = await joinOrders(parts, { limit: 100 });
  expect(entries.map(({ what, code }) => `${what} ${code}`).toSorted()).toEqual(["halt undefined", "pause undefined"]);
});

test("an order to all is not done if one of them has failed, unless that one has nothing to do with it", async () => {
  const row = (seq: number, what: string, end: Partial<OrderRow>): OrderRow => ({
    seq,
    at: seq,
    who: "ada",
    from: "command",
    what,
    ...end,
  });
  const failed = { code: "store_lost", result: "the server is gone" };
  const stores = [
    [row(1_000, "halt", { result: "done" }), row(9_000, "retry", { code: "nothing_parked", result: "none" })],
    [row(1_001, "halt", failed), row(9_001, "retry", { result: "3 retried" })],
    [row(1_002, "halt", { result: "done" }), row(5_000, "pause", { subject: "scout", ...failed })],
    [row(5_001, "pause", { subject: "scout", result: "done" })],
  ].map((rows) => rows.toReversed());
  const parts = stores.map((entries, i): GuardianPart => {
    const { guardian } = desk();
    return { name: `p${i}`, guardian: { ...guardian, orders: () => Promise.resolve({ entries, total: entries.length }) } };
  });
  const { entries } = await joinOrders(parts, { limit: 10 });
  expect(entries.map(({ what, result }) => `${what}: ${result}`)).toEqual(["retry: 3 retried", "pause: done", "halt: the server is gone"]);
});

test("pages of orders to all show each order once, wherever the page ends", async () => {
  const desks = [desk(), desk(), desk()];
  const parts = desks.map((one, i) => partOf(one, `p${i}`));
  for (let i = 0; i < 5; i++) {
    for (const { guardian, on, clock } of desks) {
      await on(i % 2 === 0 ? guardian.halt({ reason: "all" }) : guardian.lift({}));
      for (const one of desks) await one.clock.advance(one.clock === clock ? 3 : 2); // their clocks differ by milliseconds
    }
    for (const { clock } of desks) await clock.advance(5 * SECOND);
  }
  for (const limit of [1, 2, 3, 10]) {
    const paged: string[] = [];
    let before: number | undefined;
    for (let page = 0; page < 20; page++) {
      const { entries, next } = await joinOrders(parts, { limit, ...(before === undefined ? {} : { before }) });
      paged.push(...entries.map(({ what }) => what));
      if (next === undefined) break;
      before = next;
    }
    expect(paged, `pages of ${limit}`).toEqual(["halt", "lift", "halt", "lift", "halt"]);
  }
});

test("the same order given twice within a moment is two, each noted by the process that was asked and by the one that carried it out", async () => {
  const stores: OrderRow[][] = [[], []];
  for (const at of [1_000, 1_300])
    for (const [i, rows] of stores.entries())
      rows.unshift({
        seq: at + i,
        at: at + i,
        who: "ada",
        from: "command",
        what: "call posts.create",
        ...(i === 0 ? { code: "specialist_unknown" } : { result: "done" }),
      });
  const parts = stores.map((entries, i): GuardianPart => {
    const { guardian } = desk();
    return { name: `p${i}`, guardian: { ...guardian, orders: () => Promise.resolve({ entries, total: entries.length }) } };
  });
  const { entries, total } = await joinOrders(parts, { limit: 10 });
  expect([entries.map(({ result }) => result), total]).toEqual([["done", "done"], 2]);
});
