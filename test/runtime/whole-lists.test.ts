/** What a list without further pages passes over, and what it does not. */
import { afterEach, expect, test } from "vitest";
import type { Announcements } from "../../src/core/events.ts";
import { seededRandom } from "../../src/core/random.ts";
import { MINUTE } from "../../src/core/units.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { createSpecialist } from "../../src/specialist/specialist.ts";
import { virtualRuntime } from "./virtual-runtime.ts";

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

/** A reader of jobs that are listed as `open` says: whole, without pages. */
async function reading(open: string[]) {
  const clock = virtualClock(Date.UTC(2026, 10, 21));
  const seen: string[] = [];
  const gaps: Announcements["gap"][] = [];
  const runtime = virtualRuntime({
    specialists: [
      createSpecialist({
        handle: "reader",
        tier: "pro",
        watch: { jobs: { from: "start" } },
        on: { "job.listed": (job) => void seen.push(job.id) },
      }),
    ],
    transport: async ({ path }) => {
      const jobs = open.map((id) => ({ id, title: id, status: "open" })).toReversed();
      return {
        kind: "answer",
        status: 200,
        headers: {},
        text: JSON.stringify(path.startsWith("/v1/jobs") ? { jobs } : { agents: [{ id: "me", handle: "reader" }] }),
        elapsedMs: 1,
      };
    },
    keyOf: () => "sk_live_of_reader",
    clock,
    random: seededRandom(2),
  });
  runtime.announcer.on("gap", (gap) => void gaps.push(gap));
  await clock.run(runtime.start());
  ends.push(() => clock.run(runtime.stop()));
  await clock.advance(MINUTE);
  return { clock, seen, gaps };
}

const names = (count: number, from = 0): string[] => Array.from({ length: count }, (_, i) => `j${from + i}`);

test("offers that are all taken between two looks are no gap", async () => {
  const open = names(3);
  const { clock, seen, gaps } = await reading(open);
  open.splice(0, 3, ...names(3, 3));
  await clock.advance(MINUTE);
  expect(seen).toEqual(names(6));
  expect(gaps).toEqual([]);
});

test("a page that may have been cut off, and shows nothing of what was known, is a gap", async () => {
  const open = names(10);
  const { clock, gaps } = await reading(open);
  open.splice(0, 10, ...names(10, 50));
  await clock.advance(MINUTE);
  expect(gaps).toMatchObject([{ after: "j9", before: "j50" }]);
});

test("what a page holds beyond what is read of it is told of, also at the first look", async () => {
  const { seen, gaps } = await reading(names(1_200));
  expect(seen.length).toBe(1_000);
  expect(gaps).toMatchObject([{ before: "j200" }]);
});
