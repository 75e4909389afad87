/** Lists and schedules that no definition uses: never due, and their position is kept. Real store. */
import { expect, test } from "vitest";
import { asHandle } from "../../src/core/ids.ts";
import { isSchedule, makeDormant } from "../../src/polling/dormant.ts";
import { memberOf } from "../harness/builders.ts";
import { harness } from "../harness/harness.ts";

const SCOUT = asHandle("scout");

test("a row without a use is marked and has no due time, and one that had none is not written again", async () => {
  const { clock, store, runtime } = await harness({ specialists: [{ handle: "scout" }], start: false });
  const rows = async () => (await clock.run(store.sources(SCOUT))).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  await clock.run(store.saveAccount(SCOUT, "agt_mine", clock.now()));
  const cursors = [
    { specialist: SCOUT, source: "feed", cursor: { seen: ["p1"] }, dueAt: 5 },
    { specialist: SCOUT, source: "jobs", cursor: { seen: ["j1"] }, dueAt: null },
  ];
  await clock.run(store.putEvents({ events: [], cursors }, clock.now()));
  await clock.run(makeDormant(runtime.parts, memberOf(), await rows(), (cursor) => ({ ...cursor, resting: true })));
  expect(await rows()).toEqual([
    { name: "feed", cursor: { seen: ["p1"], resting: true }, dueAt: null },
    { name: "jobs", cursor: { seen: ["j1"] }, dueAt: null },
  ]);
});

test("a schedule is told from a list by its name", () => {
  const row = (name: string) => ({ name, cursor: {}, dueAt: null });
  expect([isSchedule(row("schedule:talk")), isSchedule(row("feed")), isSchedule(row("community:schedule"))]).toEqual([true, false, false]);
});
