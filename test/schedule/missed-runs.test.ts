/** Schedules over restarts, clock changes and quiet hours, as tables. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { DAY, HOUR, MINUTE, SECOND } from "../../src/core/units.ts";
import { dueRuns, slotShare, type DueAnswer, type ScheduleTiming } from "../../src/schedule/missed-runs.ts";

const at = (text: string): number => Date.parse(text);
const iso = (times: readonly number[]): string[] => times.map((time) => new Date(time).toISOString().replace(":00.000Z", "Z"));
const BERLIN = "Europe/Berlin";

function timing(change: Partial<ScheduleTiming>): ScheduleTiming {
  return { cron: undefined, everyMs: undefined, zone: "UTC", jitterMs: 0, quiet: undefined, onMissed: "skip", ...change };
}

const noJitter = (): number => 0;
const ask = (change: Partial<ScheduleTiming>, cursor: string, now: string): DueAnswer =>
  dueRuns({ timing: timing(change), cursor: at(cursor), now: at(now), share: noJitter });

interface Row {
  readonly name: string;
  readonly timing: Partial<ScheduleTiming>;
  readonly cursor: string;
  readonly now: string;
  readonly runs: readonly string[];
  readonly skipped: number;
  readonly next: string;
}

const nine = "0 9 * * *";
const ROWS: readonly Row[] = [
  {
    name: "nothing before its time",
    timing: { cron: nine },
    cursor: "2026-11-01T10:00Z",
    now: "2026-11-02T08:59Z",
    runs: [],
    skipped: 0,
    next: "2026-11-02T09:00Z",
  },
  {
    name: "a run on time",
    timing: { cron: nine },
    cursor: "2026-11-01T10:00Z",
    now: "2026-11-02T09:00Z",
    runs: ["2026-11-02T09:00Z"],
    skipped: 0,
    next: "2026-11-03T09:00Z",
  },
  {
    name: "a run within the grace",
    timing: { cron: nine },
    cursor: "2026-11-01T10:00Z",
    now: "2026-11-02T09:00:59Z",
    runs: ["2026-11-02T09:00Z"],
    skipped: 0,
    next: "2026-11-03T09:00Z",
  },
  {
    name: "no second run of a slot",
    timing: { cron: nine },
    cursor: "2026-11-02T09:00Z",
    now: "2026-11-02T09:00Z",
    runs: [],
    skipped: 0,
    next: "2026-11-03T09:00Z",
  },
  {
    name: "missed ones skipped",
    timing: { cron: nine },
    cursor: "2026-11-01T09:00Z",
    now: "2026-11-04T12:00Z",
    runs: [],
    skipped: 3,
    next: "2026-11-05T09:00Z",
  },
  {
    name: "missed ones made up once",
    timing: { cron: nine, onMissed: "once" },
    cursor: "2026-11-01T09:00Z",
    now: "2026-11-04T12:00Z",
    runs: ["2026-11-04T09:00Z"],
    skipped: 2,
    next: "2026-11-05T09:00Z",
  },
  {
    name: "all missed ones, at most two",
    timing: { cron: nine, onMissed: { all: 2 } },
    cursor: "2026-11-01T09:00Z",
    now: "2026-11-04T12:00Z",
    runs: ["2026-11-03T09:00Z", "2026-11-04T09:00Z"],
    skipped: 1,
    next: "2026-11-05T09:00Z",
  },
  {
    name: "an interval keeps its phase over a restart",
    timing: { everyMs: HOUR },
    cursor: "2026-11-01T09:20Z",
    now: "2026-11-01T14:05Z",
    runs: [],
    skipped: 4,
    next: "2026-11-01T14:20Z",
  },
  {
    name: "the first interval comes one interval after the start",
    timing: { everyMs: HOUR },
    cursor: "2026-11-01T09:20Z",
    now: "2026-11-01T09:20Z",
    runs: [],
    skipped: 0,
    next: "2026-11-01T10:20Z",
  },
  {
    name: "an hour that the clock skips is run after it",
    timing: { cron: "30 2 * * *", zone: BERLIN },
    cursor: "2026-03-28T12:00Z",
    now: "2026-03-29T01:00Z",
    runs: ["2026-03-29T01:00Z"],
    skipped: 0,
    next: "2026-03-30T00:30Z",
  },
  {
    name: "an hour that comes twice is run once",
    timing: { cron: "30 2 * * *", zone: BERLIN },
    cursor: "2026-10-25T00:30Z",
    now: "2026-10-25T01:30Z",
    runs: [],
    skipped: 0,
    next: "2026-10-26T01:30Z",
  },
  {
    name: "summer and winter keep nine o'clock",
    timing: { cron: nine, zone: BERLIN, onMissed: { all: 9 } },
    cursor: "2026-10-23T12:00Z",
    now: "2026-10-26T12:00Z",
    runs: ["2026-10-24T07:00Z", "2026-10-25T08:00Z", "2026-10-26T08:00Z"],
    skipped: 0,
    next: "2026-10-27T08:00Z",
  },
  {
    name: "the zone decides the day",
    timing: { cron: "0 0 * * 1", zone: "Pacific/Auckland" },
    cursor: "2026-11-15T00:00Z",
    now: "2026-11-15T11:00Z",
    runs: ["2026-11-15T11:00Z"],
    skipped: 0,
    next: "2026-11-22T11:00Z",
  },
  {
    name: "a clock put back an hour repeats nothing",
    timing: { cron: "*/20 * * * *" },
    cursor: "2026-11-01T12:00Z",
    now: "2026-11-01T11:10Z",
    runs: [],
    skipped: 0,
    next: "2026-11-01T12:20Z",
  },
  {
    name: "a clock that was years ahead does not silence it",
    timing: { cron: nine },
    cursor: "2039-01-01T09:00Z",
    now: "2026-11-02T08:00Z",
    runs: [],
    skipped: 0,
    next: "2026-11-02T09:00Z",
  },
];

describe("due runs", () => {
  test.each(ROWS)("$name", ({ timing: change, cursor, now, runs, skipped, next }) => {
    const answer = ask(change, cursor, now);
    expect({ runs: iso(answer.runs), skipped: answer.skipped, next: iso([answer.next ?? 0])[0] }).toEqual({ runs, skipped, next });
  });

  test("years of missed seconds are settled in bounded time", () => {
    const answer = ask({ cron: "* * * * * *", onMissed: "once" }, "2020-01-01T00:00Z", "2026-11-01T00:00:00Z");
    expect(answer.runs).toEqual([at("2026-11-01T00:00Z")]);
    expect(answer.next).toBe(at("2026-11-01T00:00:01Z"));
    expect(answer.skipped).toBeLessThan(500);
  });

  test("a schedule that never comes again has no next time", () => {
    expect(ask({ cron: "0 0 30 2 *" }, "2026-11-01T00:00Z", "2026-11-01T00:00Z")).toMatchObject({ runs: [], next: undefined });
  });
});

describe("quiet hours", () => {
  const night = { fromMinute: 22 * 60, toMinute: 7 * 60 };
  const hourly = { cron: "0 * * * *", zone: BERLIN, quiet: night };

  test("nothing starts in them, and the question is put off until they end", () => {
    expect(ask({ ...hourly, onMissed: { all: 100 } }, "2026-11-01T20:00Z", "2026-11-01T23:00Z")).toMatchObject({
      runs: [],
      next: at("2026-11-02T06:00Z"),
    });
  });

  test("runs that fell into them count as missed", () => {
    const morning = "2026-11-02T06:00Z"; // seven in Berlin, a slot of its own
    expect(iso(ask(hourly, "2026-11-01T20:00Z", morning).runs)).toEqual([morning]);
    const half = { ...hourly, cron: "30 * * * *" };
    expect(ask(half, "2026-11-01T20:30Z", morning).runs).toEqual([]);
    expect(iso(ask({ ...half, onMissed: "once" }, "2026-11-01T20:30Z", morning).runs)).toEqual(["2026-11-02T05:30Z"]);
  });

  test("they end by the local clock also on the day it changes", () => {
    expect(ask(hourly, "2026-03-28T20:00Z", "2026-03-28T22:00Z").next).toBe(at("2026-03-29T05:00Z"));
    expect(ask(hourly, "2026-10-24T19:00Z", "2026-10-24T21:00Z").next).toBe(at("2026-10-25T06:00Z"));
  });
});

describe("jitter", () => {
  const jittered = timing({ cron: "0 * * * *", jitterMs: 2 * HOUR });

  test("is the same for a slot after a restart, and differs between specialists", () => {
    const next = (name: string): number | undefined =>
      dueRuns({ timing: jittered, cursor: at("2026-11-01T00:00Z"), now: at("2026-11-01T00:30Z"), share: slotShare(name) }).next;
    expect(next("scout/digest")).toBe(next("scout/digest"));
    expect(next("scout/digest")).not.toBe(next("other/digest"));
  });

  test("never moves a run past the next slot", () => {
    const late = dueRuns({ timing: jittered, cursor: at("2026-11-01T00:00Z"), now: at("2026-11-01T00:30Z"), share: () => 0.999_999 });
    expect(late.next).toBeLessThan(at("2026-11-01T02:00Z"));
    expect(late.next).toBeGreaterThanOrEqual(at("2026-11-01T01:00Z"));
  });
});

test("every slot is run once, whenever the process looks, stops and starts", () => {
  const timings = fc.constantFrom(
    timing({ cron: "*/7 * * * *", onMissed: { all: 100 } }),
    timing({ cron: "15 2,3 * * *", zone: BERLIN, onMissed: { all: 100 }, jitterMs: 20 * MINUTE }),
    timing({ everyMs: 11 * MINUTE, onMissed: { all: 100 }, jitterMs: 5 * MINUTE }),
  );
  fc.assert(
    fc.property(timings, fc.array(fc.integer({ min: 1 * SECOND, max: 8 * HOUR }), { minLength: 1, maxLength: 12 }), (one, pauses) => {
      fc.pre(pauses.reduce((sum, pause) => sum + pause, 0) < 40 * HOUR); // within the slots one question looks at
      const start = at("2026-03-28T20:00Z");
      const share = slotShare("a/b");
      let [cursor, now] = [start, start];
      const ran: number[] = [];
      for (const pause of pauses) {
        now += pause;
        const answer = dueRuns({ timing: one, cursor, now, share });
        ran.push(...answer.runs);
        cursor = answer.cursor;
      }
      const whole = dueRuns({ timing: { ...one, onMissed: { all: 500 } }, cursor: start, now, share });
      expect(ran).toEqual(whole.runs);
    }),
    { numRuns: 60 },
  );
});

test("a day of the shortest schedules is one bounded question", () => {
  const answer = dueRuns({ timing: timing({ everyMs: SECOND, onMissed: { all: 100 } }), cursor: 0, now: 400 * DAY, share: noJitter });
  expect(answer.runs).toHaveLength(100);
  expect(answer.runs.at(-1)).toBe(400 * DAY);
});
