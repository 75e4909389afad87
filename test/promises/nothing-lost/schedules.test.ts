/** Schedules through the whole runtime, on virtual time: restarts, days of 23 and 25 hours, and clocks that are set. */
import { describe, expect, test } from "vitest";
import type { Transport } from "../../../src/client/transport.ts";
import { createAnnouncer } from "../../../src/core/events.ts";
import { seededRandom } from "../../../src/core/random.ts";
import { HOUR, MINUTE, SECOND } from "../../../src/core/units.ts";
import { virtualClock } from "../../../src/core/virtual-clock.ts";
import { virtualRuntime } from "../../harness/harness.ts";
import type { ScheduleDefinition } from "../../../src/specialist/definition.ts";
import { createSpecialist } from "../../../src/specialist/specialist.ts";
import { MEMORY, openDatabase } from "../../../src/store/sqlite/database.ts";
import { openSqliteStore } from "../../../src/store/sqlite/store.ts";

const nobody: Transport = () => Promise.reject(new Error("schedules ask nobody"));

type Timing = Omit<ScheduleDefinition, "run">;

/** One disk, and processes that come and go over it. */
function machine(startAt: string, schedules: { readonly [name: string]: Timing }) {
  const clock = virtualClock(Date.parse(startAt));
  const disk = openDatabase(MEMORY);
  const ran: { readonly name: string; readonly slot: number; readonly at: number }[] = [];
  const run = (): void => undefined;
  const defined = (timings: { readonly [name: string]: Timing }) =>
    createSpecialist({
      handle: "clerk",
      schedules: Object.fromEntries(Object.entries(timings).map(([name, timing]) => [name, { ...timing, run }])),
    });
  let specialist = defined(schedules);
  let lives = 0;
  return {
    clock,
    ran,
    /** What the definition says from the next process on. */
    define: (timings: { readonly [name: string]: Timing }) => void (specialist = defined(timings)),
    slots: (name: string) => ran.filter((one) => one.name === name).map(({ slot }) => new Date(slot).toISOString().slice(0, 16)),
    /** Runs a process for so long, then ends it. With `told`, a delivery wakes it whenever something is due, just before its own timer does. */
    async live(ms: number, told = false): Promise<void> {
      const random = seededRandom(`life ${++lives}`);
      const announcer = createAnnouncer();
      announcer.on("run", ({ event, result, at }) => {
        const [, name = "", slot = ""] = event.split(":");
        if (result === "finished") ran.push({ name, slot: Number(slot), at });
      });
      const store = openSqliteStore({ path: "", database: disk, clock, random });
      const runtime = virtualRuntime({
        specialists: [specialist],
        store,
        transport: nobody,
        keyOf: () => "sk_live_0123456789abcdef",
        clock,
        random,
        announcer,
      });
      const tell = (): void => {
        for (const member of runtime.members()) runtime.parts.wake(member, "deliveries");
      };
      const tellWhenDue = async (): Promise<void> => {
        const [source] = await store.sources(specialist.handle);
        if (typeof source?.dueAt === "number") clock.after(source.dueAt - clock.now(), tell);
      };
      if (told) announcer.on("run", () => void tellWhenDue());
      await clock.run(runtime.start());
      await clock.advance(ms);
      await clock.run(runtime.stop());
      await clock.run(store.close());
    },
  };
}

const BERLIN: Timing = { cron: "30 2 * * *", zone: "Europe/Berlin", onMissed: "once" };

describe("a schedule of every night at half past two, in Berlin", () => {
  test.each([
    { day: "of 25 hours", from: "2026-10-23T12:00:00Z", days: 4, expected: ["10-24T00:30", "10-25T00:30", "10-26T01:30", "10-27T01:30"] },
    { day: "of 23 hours", from: "2026-03-27T12:00:00Z", days: 4, expected: ["03-28T01:30", "03-29T01:00", "03-30T00:30", "03-31T00:30"] },
  ])("runs once each night around the day $day, however often the process ends", async ({ from, days, expected }) => {
    const { live, clock, slots } = machine(from, { night: BERLIN });
    const random = seededRandom(from);
    for (const end = clock.now() + days * 24 * HOUR; clock.now() < end;) {
      await live(Math.min(end - clock.now(), random.int(5 * HOUR)));
      await clock.advance(Math.min(end - clock.now(), random.int(2 * HOUR)));
    }
    await live(MINUTE);
    expect(slots("night").map((slot) => slot.slice(5))).toEqual(expected);
  });
});

describe("over restarts", () => {
  test("each hour is run once where all are wanted, none of those missed where none are, and one for all where one is", async () => {
    const { live, clock, slots } = machine("2026-11-21T00:10:00Z", {
      all: { cron: "0 * * * *", onMissed: { all: 10 } },
      skip: { cron: "0 * * * *", onMissed: "skip" },
      once: { cron: "0 * * * *", onMissed: "once" },
    });
    await live(2 * HOUR); // 01:00 and 02:00
    await clock.advance(5 * HOUR); // 03:00 to 07:00 are missed
    await live(2 * HOUR); // 08:00 and 09:00
    const hours = (name: string) => slots(name).map((slot) => Number(slot.slice(11, 13)));
    expect(hours("all")).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(hours("skip")).toEqual([1, 2, 8, 9]);
    expect(hours("once")).toEqual([1, 2, 7, 8, 9]);
  });

  test("one that was taken away and comes back goes on as after an outage", async () => {
    const three: { readonly [name: string]: Timing } = {
      all: { cron: "0 * * * *", onMissed: { all: 100 } },
      skip: { cron: "0 * * * *" },
      once: { cron: "0 * * * *", onMissed: "once" },
    };
    const { live, define, ran, slots } = machine("2026-11-21T00:10:00Z", three);
    await live(2 * HOUR); // 01:00 and 02:00
    define({ other: { every: "1h" } });
    await live(3 * HOUR);
    define({});
    await live(2 * HOUR); // 03:00 to 07:00 are not run
    expect(ran.filter(({ name }) => name !== "other")).toHaveLength(6);
    define(three);
    await live(2 * HOUR); // 08:00 and 09:00
    const hours = (name: string) => slots(name).map((slot) => Number(slot.slice(11, 13)));
    expect(hours("all")).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(hours("skip")).toEqual([1, 2, 8, 9]);
    expect(hours("once")).toEqual([1, 2, 7, 8, 9]);
  });

  test("one that is given other times is due at those from then on, and owes none from before", async () => {
    const { live, define, slots } = machine("2026-11-21T08:10:00Z", { work: { cron: "0 9 * * *", onMissed: { all: 100 } } });
    await live(2 * HOUR);
    define({ work: { cron: "*/20 * * * *", onMissed: { all: 100 } } });
    await live(HOUR); // 10:10 to 11:10
    define({ work: { cron: "30 11 * * *", onMissed: { all: 100 } } });
    await live(HOUR);
    expect(slots("work").map((slot) => slot.slice(11))).toEqual(["09:00", "10:20", "10:40", "11:00", "11:30"]);
  });

  test("an interval keeps its beat, and starts every minute of it once", async () => {
    const { live, ran } = machine("2026-11-21T00:00:00Z", { beat: { every: "1m", onMissed: { all: 100 } } });
    for (let i = 0; i < 20; i++) await live(3 * MINUTE + i * 1_700);
    const slots = ran.map(({ slot }) => slot / MINUTE);
    expect(new Set(slots).size).toBe(slots.length);
    expect(Math.max(...slots) - Math.min(...slots)).toBe(slots.length - 1);
    expect(slots.length).toBeGreaterThan(60);
  });
});

test("deliveries that come when a schedule is due do not put it off", async () => {
  const { live, ran } = machine("2026-11-21T00:00:00Z", { beat: { every: "1s" } });
  await live(20 * SECOND, true);
  expect(ran.length).toBeGreaterThanOrEqual(19);
});

describe("a clock that is set while the process is down", () => {
  test("an hour back repeats nothing, and the next hours are run", async () => {
    const { live, clock, slots } = machine("2026-11-21T00:10:00Z", { all: { cron: "0 * * * *", onMissed: { all: 10 } } });
    await live(3 * HOUR);
    clock.jump(-HOUR);
    await live(3 * HOUR); // 02:10 to 05:10
    expect(slots("all").map((slot) => Number(slot.slice(11, 13)))).toEqual([1, 2, 3, 4, 5]);
  });

  test("a day forward starts no burst, and set right again it silences nothing for longer than that day", async () => {
    const { live, clock, ran, slots } = machine("2026-11-21T00:10:00Z", {
      skip: { cron: "0 * * * *" },
      all: { cron: "0 * * * *", onMissed: { all: 3 } },
    });
    await live(2 * HOUR);
    clock.jump(24 * HOUR);
    const before = ran.length;
    await live(10 * MINUTE);
    expect(ran.slice(before).map(({ name }) => name)).toEqual(["all", "all", "all"]);
    clock.jump(-24 * HOUR);
    await live(26 * HOUR);
    const all = slots("all");
    expect(new Set(all).size).toBe(all.length);
    expect(slots("skip").at(-1)?.slice(0, 13)).toBe("2026-11-22T04");
  });
});

describe("a clock that is set while the process works", () => {
  test.each([-HOUR, HOUR, 24 * HOUR])("by %i ms doubles nothing", async (by) => {
    const { live, clock, ran } = machine("2026-11-21T00:10:00Z", {
      beat: { every: "10m", onMissed: { all: 10 } },
      hour: { cron: "0 * * * *" },
    });
    clock.after(90 * MINUTE, () => clock.jump(by));
    await live(4 * HOUR);
    const names = ran.map(({ name, slot }) => `${name} ${slot}`);
    expect(new Set(names).size).toBe(names.length);
    expect(ran.filter(({ name }) => name === "beat").length).toBeGreaterThanOrEqual(23);
    expect(ran.filter(({ name }) => name === "hour").length).toBeGreaterThanOrEqual(3);
  });
});
