/** Due schedules become events once each: over a restart, a new timing and a removal. Real store. */
import { expect, test } from "vitest";
import { asHandle } from "../../src/core/ids.ts";
import { HOUR, MINUTE } from "../../src/core/units.ts";
import type { SpecialistDefinition } from "../../src/specialist/definition.ts";
import { startSchedules } from "../../src/schedule/fire.ts";
import { harness } from "../harness/harness.ts";
import { memberOf } from "../harness/builders.ts";

const SCOUT = asHandle("scout");
type Schedules = NonNullable<SpecialistDefinition["schedules"]>;
const run = (): void => undefined;

async function schedule() {
  const { clock, store, runtime } = await harness({ specialists: [{ handle: "scout" }], start: false });
  const parts = { ...runtime.parts, zone: "UTC", wake: () => undefined };
  await clock.run(store.saveAccount(SCOUT, "agt_mine", clock.now()));
  return {
    clock,
    pass: (schedules: Schedules) => clock.run(startSchedules(parts, memberOf({ schedules }))),
    /** When each event was due, in minutes after midnight. */
    async fired() {
      const found = await clock.run(store.claimEvents(SCOUT, clock.now(), 100));
      return found.map(({ payload }) => (Number((payload as { scheduledAt: number }).scheduledAt) % (24 * HOUR)) / MINUTE);
    },
    row: async () => (await clock.run(store.sources(SCOUT))).find(({ name }) => name === "schedule:talk"),
  };
}

const hourly: Schedules = { talk: { cron: "0 * * * *", onMissed: "once", run } };

test("a slot is one event, however often it is asked about", async () => {
  const { clock, pass, fired, row } = await schedule();
  await pass(hourly);
  expect((await row())?.dueAt).toBe(clock.now() + HOUR);
  await clock.advance(HOUR);
  for (let i = 0; i < 3; i++) await pass(hourly);
  expect(await fired()).toEqual([60]);
});

test("slots that nobody was there for are as the schedule says, and the others are counted", async () => {
  const { clock, pass, fired, row } = await schedule();
  await pass(hourly);
  await clock.advance(5 * HOUR + MINUTE);
  await pass(hourly);
  expect(await fired()).toEqual([300]);
  expect((await row())?.cursor).toMatchObject({ skipped: 4 });
});

test("a new timing begins now: none of its earlier times is made up for", async () => {
  const { clock, pass, fired, row } = await schedule();
  await pass(hourly);
  await clock.advance(30 * MINUTE);
  await pass({ talk: { cron: "*/10 * * * *", onMissed: { all: 10 }, run } });
  expect(await fired()).toEqual([]);
  expect((await row())?.dueAt).toBe(clock.now() + 10 * MINUTE);
});

test("a schedule that no definition has is never due, and goes on as after an outage once it is back", async () => {
  const { clock, pass, fired, row } = await schedule();
  await pass(hourly);
  await pass({});
  expect((await row())?.dueAt).toBeNull();
  await clock.advance(3 * HOUR + MINUTE);
  await pass(hourly);
  expect(await fired()).toEqual([180]);
});
