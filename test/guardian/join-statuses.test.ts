/** Several states as one: everything of each, nothing twice, and sums. */
import { expect, test } from "vitest";
import { joinStatuses } from "../../src/guardian/join-statuses.ts";
import type { Snapshot } from "../../src/guardian/status.ts";
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

test("totals count what no list shows, and what all have once; the longest asked approvals are those of any process", async () => {
  const { guardian, on } = desk();
  const empty = await on(guardian.status({}));
  const stop = (handle: string) =>
    ({ code: "operation_missing", scope: "specialist", handle, message: "404", since: 1, probeAt: undefined }) as const;
  const change = {
    operation: "posts.list",
    severity: "warning",
    kind: "missing-field",
    record: "post",
    path: "a",
    type: "text",
    firstSeenMs: 1,
    lastSeenMs: 1,
    count: 1,
  } as const;
  const of = (name: string, since: number): Snapshot => ({
    ...empty,
    stopped: [stop(name), stop("all")] as never,
    drift: [change, { ...change, operation: `own.${name}` }] as never,
    approvals: Array.from({ length: 100 }, (_, i) => ({
      id: `${name}${i}`,
      handle: name,
      what: "jobs.create",
      input: {},
      hash: "",
      since: since + i,
      expiresAt: 9_999,
    })),
    totals: { ...empty.totals, stopped: 2_000, drift: 150, changed: 2, approvals: 100 },
  });
  const joined = joinStatuses([of("a", 1_000), of("b", 0)]);
  expect(joined.totals).toMatchObject({ stopped: 3_999, drift: 299, changed: 3, approvals: 200 });
  expect([joined.approvals.length, joined.approvals[0]?.id]).toEqual([100, "b0"]);
});
