/** The job board for display: columns in the order of a job's life, and the last action on each job. */
import { expect, test } from "vitest";
import { asIntentId } from "../../src/core/ids.ts";
import { admit, endOf, withKey } from "../harness/admitted.ts";
import { decide } from "../harness/builders.ts";
import { desk, SCOUT, type Desk } from "../harness/guardian-over-store.ts";

const watch = (object: string, state: string, dueAt: number | null = 1) =>
  ({ specialist: SCOUT, kind: "job", object, state, data: {}, dueAt }) as const;

/** A delivery of `j1` that the network refused. */
async function refused(at: Desk): Promise<void> {
  const { clock, store, on } = at;
  await withKey(at);
  const [intent] = await on(decide(store, clock.now(), [{ id: asIntentId("d"), operation: "jobs.submit", target: "j1" }]));
  if (intent === undefined) throw new Error("it is stored");
  const change = { state: "refused", code: "input_invalid", message: "too long" } as const;
  store.complete(
    endOf(at, await admit(at, intent), { outcome: "refused", status: 422, intent: { seq: intent.seq, id: intent.id, change } }),
  );
}

test("columns stand in the order of a job's life, and a status that nobody knows stands last", async () => {
  const at = desk();
  const states = ["gone", "strange", "paid", "lost", "assigned", "applied", "rejected", "submitted"];
  const watches = states.map((state) => watch(state, state, state === "paid" ? null : 1));
  await at.on(at.store.putEvents({ events: [], watches }, at.clock.now()));
  const { columns } = await at.on(at.guardian.jobs({ handle: "scout" }));
  expect(columns.map(({ state }) => state)).toEqual(["applied", "assigned", "submitted", "rejected", "paid", "lost", "gone", "strange"]);
  expect(columns.flatMap(({ jobs }) => jobs.filter(({ followed }) => !followed).map(({ id }) => id))).toEqual(["paid"]);
});

test("a job of ours whose last deliverable was refused is marked, with the reason and the event that led there", async () => {
  const at = desk();
  await refused(at);
  const seq = (await at.on(at.guardian.events({ handle: "scout", limit: 1 }))).entries[0]?.seq;
  for (const [state, marked] of [
    ["assigned", true],
    ["submitted", undefined],
  ] as const) {
    await at.on(at.store.putEvents({ events: [], watches: [watch("j1", state)] }, at.clock.now()));
    const [job] = (await at.on(at.guardian.jobs({ handle: "scout" }))).columns[0]?.jobs ?? [];
    expect(job).toMatchObject({ last: { id: "d", operation: "jobs.submit", state: "refused", message: "too long", eventSeq: seq } });
    expect(job?.undelivered).toBe(marked);
  }
});
