/** Pages of several stores as one: together they are everything, once, and newest first. */
import { expect, test } from "vitest";
import { asIntentId } from "../../src/core/ids.ts";
import { SECOND } from "../../src/core/units.ts";
import type { Guardian } from "../../src/guardian/guardian.ts";
import type { GuardianPart } from "../../src/guardian/guardian-part.ts";
import { joinLog, joinOrders, joinPages } from "../../src/guardian/join-pages.ts";
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

test("pages by number are everything once, each in the order of time", async () => {
  const stores = [[1, 2, 3, 70, 71], [10, 11, 12], []].map((numbers) => numbers.map((seq) => ({ seq, at: seq % 10 })));
  const parts = stores.map((rows, i) => ({ ...partOf(desk(), `p${i}`), rows }));
  const ask = (limit: number, before?: number) =>
    joinPages(
      parts,
      before === undefined ? { limit } : { limit, before },
      async (guardian, query) => {
        const rows = (parts.find((part) => part.guardian === guardian)?.rows ?? []).filter(({ seq }) => seq < (query.before ?? Infinity));
        const entries = rows.toSorted((a, b) => b.seq - a.seq).slice(0, query.limit);
        const last = entries.at(-1);
        return entries.length < query.limit || last === undefined ? { entries } : { entries, next: last.seq };
      },
      ({ at }) => at,
    );
  const paged: number[] = [];
  let before: number | undefined;
  for (let page = 0; page < 20; page++) {
    const { entries, next } = await ask(3, before);
    expect(entries.map(({ at }) => at)).toEqual(entries.map(({ at }) => at).toSorted((a, b) => b - a));
    paged.push(...entries.map(({ seq }) => seq));
    if (next === undefined) break;
    before = next;
  }
  expect(paged.toSorted((a, b) => a - b)).toEqual([1, 2, 3, 10, 11, 12, 70, 71]);
});

test("an order that all were given is one row, of one that carried it out", async () => {
  const desks = [desk(), desk()];
  const parts = desks.map((one, i) => partOf(one, `p${i}`));
  await desks[0]?.event("e1");
  for (const { guardian, on } of desks) await on(guardian.pause({ handle: "scout", reason: "enough" })).catch(() => undefined);
  for (const { guardian, on } of desks) await on(guardian.halt({ reason: "all" }));
  const { entries } = await joinOrders(parts, { limit: 100 });
  expect(entries.map(({ what, code }) => `${what} ${code}`).toSorted()).toEqual(["halt undefined", "pause undefined"]);
});
