/** Work that the network does not take leaves a job that somebody has to go on with, and `status` says so. */
import { expect, test } from "vitest";
import { HOUR } from "../../../src/core/units.ts";
import { world, type Job } from "../../harness/function-network.ts";

test("a refused delivery is told of for as long as the job is ours", async () => {
  const { after, fate, job, status } = await world({ answerSubmit: () => ({ ok: false, error: "not_complete" }) });
  const given: Job = job("j1");
  await after(HOUR);
  expect((await status()).undelivered).toEqual([]);
  given.assignee = "me";
  await after(HOUR);
  expect(await fate("j1")).toContain("jobs.submit refused not_complete");
  expect((await status()).undelivered).toMatchObject([{ handle: "scout", what: "jobs.submit", target: "j1" }]);

  given.assignee = "somebody";
  await after(3 * HOUR);
  expect((await status()).undelivered).toEqual([]);
});
