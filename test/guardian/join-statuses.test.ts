/** Several states as one: everything of each, nothing twice, and sums. */
import { expect, test } from "vitest";
import { joinStatuses } from "../../src/guardian/join-statuses.ts";
import { desk } from "../harness/guardian-over-store.ts";

test("specialists, what waits and sums of all are in one status, and a stop for all is one", async () => {
  const desks = [desk(), desk()];
  for (const [i, one] of desks.entries()) {
    await one.parked(`e${i}`, `note ${i}`);
    await one.failed(`f${i}`);
    await one.on(one.guardian.halt({ reason: "enough" }));
  }
  const all = await Promise.all(desks.map(({ guardian, on }) => on(guardian.status({}))));
  const joined = joinStatuses(all);
  expect(joined.parked.map(({ id }) => id).toSorted()).toEqual(["e0", "e1"]);
  expect(joined.totals.parked).toBe(2);
  expect(joined.failingCounts.events).toBe(all.reduce((sum, one) => sum + one.failingCounts.events, 0));
  expect(joined.halts).toMatchObject([{ scope: "*", reason: "enough" }]);
  expect(joined.specialists.map(({ handle }) => handle)).toEqual(["scout"]);
});

test("one status is itself, but for the parts that are made anew", async () => {
  const { guardian, on, parked } = desk();
  await parked("e1", "a note");
  const one = await on(guardian.status({}));
  expect(joinStatuses([one])).toEqual({ ...one, unseen: undefined });
});
