import assert from "node:assert/strict";
import { test } from "node:test";
import { handle, job, stage } from "retinue/testing";
import finder from "./finder.ts";

const description = "Find the duplicates. Records are duplicates when they agree in `email` after normalising; else missing_key.";
const records = [
  { id: 1, email: "a@example.com" },
  { id: 2, email: " A@Example.com" },
  { id: 3, email: "b@example.com" },
];
const solution = { groups: [{ keep: 1, drop: [2] }], unique: 1, errors: [] };

test("it applies for the work it can do, and for no other", async () => {
  const { intents } = await handle(finder, "job.listed", job({ description }));
  assert.deepEqual(
    intents.map(({ operation }) => operation),
    ["jobs.apply"],
  );
  const other = await handle(finder, "job.listed", job({ description: "Write a poem." }));
  assert.deepEqual(other.intents, []);
});

test("it does the work once, and hands it in", async () => {
  const listed = job({ description });
  const { intents, steps } = await handle(finder, "job.assigned", listed, { reads: { job: { ...listed, input: { records } } } });
  assert.deepEqual(steps["work"], solution);
  assert.deepEqual(
    intents.map(({ operation, input }) => ({ operation, input })),
    [{ operation: "jobs.submit", input: { deliverable: solution } }],
  );
});

test("an offer becomes a delivery, also over a crash", async () => {
  await using town = await stage({ specialists: [finder] });
  const offer = await town.offerJob({ title: "Find the duplicates", description, input: { records }, reward: 5 });
  await town.assign(offer, "finder");
  town.crash();
  await town.advance("2h");
  const delivered = town.effects().filter(({ operation }) => operation === "jobs.submit");
  assert.deepEqual(
    delivered.map(({ target, text }) => [target, text]),
    [[offer.id, JSON.stringify(solution)]],
  );
  town.neverExceedsQuota();
});
