/** The matters of which people are alerted: those that need a person, an approval near its end, and a budget nearly spent. */
import { expect, test } from "vitest";
import { defined } from "../../src/core/defined.ts";
import { DAY, HOUR, MINUTE } from "../../src/core/units.ts";
import { showStatus } from "../../src/guardian/status.ts";
import { alertOf } from "../../src/signals/alert.ts";
import { mattersOf, newMatters } from "../../src/signals/alert-matters.ts";
import { desk } from "../harness/guardian-over-store.ts";
import { propose } from "../harness/proposed.ts";

test("an approval is a matter when it is asked, and once more when it is about to run out", async () => {
  const { store, clock, on } = desk();
  const now = clock.now();
  await on(propose(store, { id: "i1", input: { content: "An answer" }, now }));
  const keys = async (): Promise<readonly string[]> => mattersOf(await on(showStatus({ store, clock }))).matters.map(({ key }) => key);
  expect(await keys()).toEqual(["approval:i1"]);
  await clock.advance(3 * DAY - HOUR - MINUTE);
  expect(await keys()).toEqual(["approval:i1"]);
  await clock.advance(2 * MINUTE);
  expect(await keys()).toEqual(["approval:i1", "approval:i1:ending"]);
});

test.each([
  [undefined, 900, false],
  [0, 0, false],
  [1_000, 799, false],
  [1_000, 800, true],
  [1_000, 1_000, true],
])("of a daily cap of %s, %i spent or held is a matter: %s", async (dayCapMicros, dayMicros, isMatter) => {
  const { store, clock, on, event } = desk();
  await event("post.created:p1");
  const status = await on(showStatus({ store, clock }));
  const money = [{ currency: "USD", postedMicros: 0, heldMicros: 0, dayMicros, ...defined({ dayCapMicros }) }];
  const { matters } = mattersOf({ ...status, specialists: status.specialists.map((one) => ({ ...one, money })) });
  expect(matters).toMatchObject(isMatter ? [{ key: "budget:scout:USD", kind: "budget", handle: "scout" }] : []);
});

test("the Guardian's own cap is a matter beside those of specialists, told once with what shows it", async () => {
  const { store, clock, on } = desk();
  const status = await on(showStatus({ store, clock }));
  const money = [{ currency: "USD", postedMicros: 0, heldMicros: 0, dayMicros: 8_000_000, dayCapMicros: 10_000_000 }];
  const { matters } = mattersOf({ ...status, money });
  expect(matters).toMatchObject([
    { key: "budget::USD", title: "All together have nearly spent the Guardian's day", message: "spent or held 8 of 10 USD of this day" },
  ]);
  expect(alertOf(matters, { id: "a1", at: 0, link: undefined }).text).toContain("(retinue status)");
});

test("ten thousand specialists near their caps are a hundred matters and one number", async () => {
  const { store, clock, on, event } = desk();
  await event("post.created:p1");
  const status = await on(showStatus({ store, clock }));
  const money = [{ currency: "USD", postedMicros: 0, heldMicros: 0, dayMicros: 9, dayCapMicros: 10 }];
  const specialists = Array.from({ length: 10_000 }, (_, i) =>
    status.specialists.slice(0, 1).map((one) => ({ ...one, handle: `s${i}`, money })),
  ).flat();
  const present = mattersOf({ ...status, specialists });
  expect(present.matters).toHaveLength(100);
  const before = { isKnown: () => false, counts: new Map() };
  const fresh = newMatters(present, before, 0);
  expect(alertOf(fresh, { id: "a1", at: 0, link: undefined }).total).toBe(10_000);
  expect(newMatters(present, { isKnown: () => true, counts: present.counts }, 0)).toEqual([]);
});

test("parked work, a refused key, a halt and a lost store are matters; a doubt ends by itself and is none", async () => {
  const { store, clock, on, parked } = desk();
  await parked("post.created:p1", "no model");
  await on(store.stop("halt", "*", "a look first", clock.now()));
  const status = await on(showStatus({ store, clock }));
  const since = clock.now();
  const doubt = { about: "action", id: "i9", handle: "scout", what: "posts.reply", message: "no answer came", since } as const;
  const key = { code: "key_refused", message: "the network refused the key", since } as const;
  const { matters } = mattersOf({
    ...status,
    storeLost: { message: "the disk is full" },
    doubts: [doubt],
    totals: { ...status.totals, doubts: 1 },
    specialists: status.specialists.map((one) => ({ ...one, parked: key })),
  });
  expect(matters.map(({ key: name }) => name)).toEqual(["store_lost", "halt:*", "key:scout", "parked:post.created:p1:scout"]);
});
