/** The port of a job board: watched jobs by status, bounded beside an exact count, each as it was seen and with the last action on it. */
import { expect, onTestFinished, test } from "vitest";
import type { JsonObject } from "../../src/core/json.ts";
import { asHandle, asIntentId } from "../../src/core/ids.ts";
import { MINUTE } from "../../src/core/units.ts";
import { MAX_CARDS } from "../../src/store/job-board.ts";
import { MAX_TITLE } from "../../src/store/sources.ts";
import { decide, jobOf } from "../harness/builders.ts";
import { countStatements } from "../harness/count-statements.ts";
import { desk, SCOUT, type Desk } from "../harness/guardian-over-store.ts";

const board = ({ store, on }: Desk) => on(store.reads.jobBoard(SCOUT));

async function watched(
  { clock, store, on }: Desk,
  jobs: readonly { readonly id: string; readonly state?: string; readonly data?: JsonObject }[],
) {
  const watches = jobs.map(({ id, state = "applied", data = {} }) => {
    const dueAt = state === "paid" ? null : clock.now() + MINUTE;
    return { specialist: SCOUT, kind: "job", object: id, state, data: { followedAt: clock.now(), ...data }, dueAt } as const;
  });
  await on(store.putEvents({ events: [], watches }, clock.now()));
}

test("jobs stand by their status as they were seen, the newest first, those of others on no board", async () => {
  const at = desk();
  const since = at.clock.now();
  await watched(at, [
    { id: "j1", state: "assigned", data: { title: "A poem", reward: 12.5, deadlineMs: since + 9 } },
    { id: "j2", state: "paid" },
    { id: "j3", data: { followedAt: since - 5 } },
    { id: "j4" },
  ]);
  const other = { specialist: asHandle("quill"), kind: "job", object: "j9", state: "applied", data: {}, dueAt: null } as const;
  await at.on(at.store.putEvents({ events: [], watches: [other] }, since));
  expect(await board(at)).toEqual([
    {
      state: "assigned",
      count: 1,
      jobs: [{ id: "j1", title: "A poem", reward: 12.5, deadlineMs: since + 9, since, dueAt: since + MINUTE }],
    },
    { state: "paid", count: 1, jobs: [{ id: "j2", since, dueAt: null }] },
    {
      state: "applied",
      count: 2,
      jobs: [
        { id: "j4", since, dueAt: since + MINUTE },
        { id: "j3", since: since - 5, dueAt: since + MINUTE },
      ],
    },
  ]);
});

test("what no check has shown yet is as the job was listed, its title cut", async () => {
  const at = desk();
  const payload = { ...jobOf("j1", { title: "t".repeat(1_000_000), reward: 3 }), raw: {} };
  await at.event("job.listed:j1", { kind: "job.listed", payload });
  await at.event("job.listed:j2", { kind: "job.listed", payload: { title: ["no", "text"], reward: "much" } });
  await watched(at, [{ id: "j1" }, { id: "j2" }]);
  const [column] = await board(at);
  expect(column?.jobs).toMatchObject([{ id: "j1", title: "t".repeat(MAX_TITLE), reward: 3 }, { id: "j2" }]);
  expect(column?.jobs[1]).not.toHaveProperty("title");
  expect(column?.jobs[1]).not.toHaveProperty("reward");
});

test("the last action on a job stands with it, whatever else was done there", async () => {
  const at = desk();
  await watched(at, [{ id: "j1" }]);
  const on = (id: string, operation: string) => ({
    id: asIntentId(id),
    operation,
    target: "j1",
    input: { text: "x".repeat(9_000) },
    conflictKey: id,
  });
  await at.on(decide(at.store, at.clock.now(), [on("a", "jobs.apply"), on("b", "jobs.submit"), on("c", "posts.reply")]));
  const [column] = await board(at);
  expect(column?.jobs[0]?.last).toMatchObject({ id: "b", operation: "jobs.submit", state: "ready", input: {} });
});

test("a status lists its newest jobs beside the number of all, in as many statements for a hundred as for one", async () => {
  const at = desk();
  await watched(at, [{ id: "j" }]);
  const count = countStatements(onTestFinished);
  const cost = async (): Promise<number> => {
    await board(at);
    const before = count();
    await board(at);
    return count() - before;
  };
  const one = await cost();
  await at.clock.advance(MINUTE);
  await watched(
    at,
    Array.from({ length: 99 }, (_, n) => ({ id: `j${n}` })),
  );
  const [column] = await board(at);
  expect([column?.count, column?.jobs.length, column?.jobs.some(({ id }) => id === "j")]).toEqual([100, MAX_CARDS, false]);
  expect(await cost()).toBe(one);
});
