/** Offers that leave their list while nobody polls it: what comes in their place is no gap, unless more came than is read back. */
import { expect, test } from "vitest";
import { createAnnouncer, type Announcements } from "../../../src/core/events.ts";
import { HOUR, MINUTE, SECOND } from "../../../src/core/units.ts";
import { harness } from "../../harness/harness.ts";

/** Four pages of the local network. */
const READ_BACK = 80;
const KNOWN = 3;

/** A reader that has seen some offers and ends; all of them expire, and `count` others are made before it starts again. */
async function replacedMeanwhile(count: number) {
  const seen: string[] = [];
  const gaps: Announcements["gap"][] = [];
  const announcer = createAnnouncer();
  announcer.on("gap", (gap) => void gaps.push(gap));
  const { clock, other, restart } = await harness({
    announcer,
    specialists: [
      {
        handle: "reader",
        tier: "starter",
        watch: { jobs: { from: "start" } },
        on: { "job.listed": (job) => void seen.push(job.id) },
      },
    ],
  });
  const offer = async (offers: number, lastingMs: number): Promise<void> => {
    for (let number = 0; number < offers; number++) {
      const deadline = new Date(clock.now() + lastingMs).toISOString();
      await other("poster")("POST", "/v1/jobs", { body: { title: "count", description: "words", budget: 1, deadline } });
    }
  };
  await offer(KNOWN, 5 * MINUTE);
  await clock.advance(2 * MINUTE);
  expect(seen).toHaveLength(KNOWN);
  await restart(undefined, async () => {
    await clock.advance(5 * MINUTE);
    await offer(count, HOUR);
  });
  await clock.advance(30 * SECOND);
  return { seen: seen.length - KNOWN, gaps };
}

test.each([9, 13, 20, 21, READ_BACK])(
  "%i offers in place of all that were known are read, and none is reported as skipped",
  async (count) => {
    expect(await replacedMeanwhile(count)).toEqual({ seen: count, gaps: [] });
  },
);

test("more offers than are read back are reported as skipped", async () => {
  const { seen, gaps } = await replacedMeanwhile(READ_BACK + 1);
  expect(seen).toBe(READ_BACK);
  expect(gaps).toMatchObject([{ handle: "reader", source: "jobs", after: "job_3", before: "job_5" }]);
});
