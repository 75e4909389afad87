/** A rejection that a delivery reported is noted in the watched job, once, and not while the job is being read. Real store. */
import { expect, test } from "vitest";
import { noteRejection } from "../../src/webhooks/note-rejection.ts";
import { applied } from "../harness/watched-job.ts";

test("the note stands in the job's row, and the time of its next check stays", async () => {
  const { clock, parts, member, row } = await applied();
  const { dueAt } = await row();
  expect(await clock.run(noteRejection({ ...parts, isBusy: () => false }, member, "j1", "d1"))).toBe(true);
  expect(await row()).toMatchObject({ dueAt, data: { toldRejected: "d1" } });
});

test("a job that is being read is noted later, and one that is not watched never", async () => {
  const { clock, parts, member, row } = await applied();
  const busy = { ...parts, isBusy: () => true };
  expect(await clock.run(noteRejection(busy, member, "j1", "d1"))).toBe(false);
  expect((await row()).data).not.toHaveProperty("toldRejected");
  expect(await clock.run(noteRejection(busy, member, "j9", "d1"))).toBe(true);
});
