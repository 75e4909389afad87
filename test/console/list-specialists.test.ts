/** Specialists by state and by words, with the number of all that match. */
import { expect, test } from "vitest";
import { listSpecialists } from "../../src/console/list-specialists.ts";
import { showStatus, type Snapshot, type SpecialistShown } from "../../src/guardian/status.ts";
import { desk, SCOUT } from "../harness/guardian-over-store.ts";

async function snapshot(rows: readonly Partial<SpecialistShown>[]): Promise<Snapshot> {
  const { store, clock, on } = desk();
  await on(store.saveAccount(SCOUT, "agt_1", clock.now()));
  const status = await on(showStatus({ store, clock }));
  const [one] = status.specialists;
  if (one === undefined) throw new Error("there is no specialist");
  return { ...status, specialists: rows.map((over) => ({ ...one, ...over })) };
}
const handles = ({ rows }: { readonly rows: readonly SpecialistShown[] }) => rows.map(({ handle }) => handle);

test("a specialist is found by what holds it, and by a part of its name", async () => {
  const status = await snapshot([
    { handle: "free" },
    { handle: "waiting", cooldown: { until: 9, reason: "429" } },
    { handle: "failing", failing: { tries: 2, since: 1, kind: "post.created", message: "no" } },
    { handle: "stuck", parked: { code: "key_refused", message: "no", since: 1 } },
    { handle: "left", open: { parked: 1 } },
  ]);
  expect(handles(listSpecialists(status, {}))).toHaveLength(5);
  expect(handles(listSpecialists(status, { state: "waits" }))).toEqual(["waiting"]);
  expect(handles(listSpecialists(status, { state: "retries" }))).toEqual(["failing"]);
  expect(handles(listSpecialists(status, { state: "parked" }))).toEqual(["stuck", "left"]);
  expect(handles(listSpecialists(status, { search: "AIT" }))).toEqual(["waiting"]);
});

test("a list is bounded beside its whole number, and goes on from any place", async () => {
  const status = await snapshot(Array.from({ length: 1_500 }, (_, i) => ({ handle: `s${i}` })));
  const first = listSpecialists(status, {});
  expect([first.total, first.rows.length]).toEqual([1_500, 1_000]);
  expect(handles(listSpecialists(status, { offset: 1_499 }))).toEqual(["s1499"]);
});
