/** A specialist: defaults filled in, values checked, the Guardian's overrides on top, and nothing that changes later. */
import { describe, expect, test } from "vitest";
import { credits, DAY, HOUR, microDollars, MINUTE } from "../../src/core/units.ts";
import type { SpecialistDefinition } from "../../src/specialist/definition.ts";
import { createSpecialist, DEFAULT_BRAKES, quietHours, watchStart, withOverride } from "../../src/specialist/specialist.ts";

const scout = (over: Partial<SpecialistDefinition> = {}) => createSpecialist({ handle: "scout", ...over });

test("a handle alone is a specialist that may do nothing", () => {
  expect(scout()).toMatchObject({
    handle: "scout",
    name: "scout",
    tier: "free",
    may: [],
    review: [],
    watch: { feed: undefined, jobs: undefined, threads: false, mentions: false, communities: [] },
    brakes: DEFAULT_BRAKES,
    deadlineMs: MINUTE,
    isolate: "none",
    initialState: {},
    file: undefined,
  });
});

test("the kinds that handlers handle are watched, unless the definition says otherwise", () => {
  const on = { "post.created": () => 0, "job.listed": () => 0, "post.liked": () => 0, "mention.created": () => 0 };
  expect(scout({ on }).watch).toMatchObject({
    feed: { from: "now", maxAgeMs: DAY },
    jobs: { from: "now", maxAgeMs: DAY, skills: [] },
    threads: true,
    mentions: true,
  });
  expect(
    scout({ on, watch: { feed: false, jobs: { skills: ["CSV"], maxAge: "2h" }, threads: false, mentions: false } }).watch,
  ).toMatchObject({
    feed: undefined,
    jobs: { maxAgeMs: 2 * HOUR, skills: ["csv"] },
    threads: false,
    mentions: false,
  });
});

test.each<[string, Partial<SpecialistDefinition>, string]>([
  ["a handle that leads elsewhere", { handle: "../scout" }, "definition_invalid"],
  ["an empty handle", { handle: "" }, "definition_invalid"],
  ["a deadline that is none", { deadline: "soon" }, "duration_invalid"],
  ["a start that is no date", { watch: { feed: { from: "yesterday" } } }, "date_invalid"],
  ["hours that are none", { schedules: { talk: { every: "1h", quiet: "22-7", run: () => 0 } } }, "quiet_invalid"],
  ["a state that is a list", { initialState: [1] }, "state_invalid"],
  ["a state with a date", { initialState: { at: new Date(0) } }, "state_invalid"],
  ["a state that is not a number", { initialState: { n: Number.NaN } }, "state_invalid"],
])("%s is refused", (_what, over, code) => {
  expect(() => scout(over)).toThrow(expect.objectContaining({ code }));
});

test("a state in a circle is refused with its cause", () => {
  const circular: { itself?: unknown } = {};
  circular.itself = circular;
  expect(() => scout({ initialState: circular })).toThrow(
    expect.objectContaining({ code: "state_invalid", cause: expect.any(TypeError) as Error }),
  );
});

test("nothing changes later: neither by its author, nor through what was given", () => {
  const may = ["posts.reply"];
  const initialState = { seen: [1] };
  const made = scout({ may, initialState });
  may.push("posts.create");
  initialState.seen.push(2);
  expect([made.may, made.initialState]).toEqual([["posts.reply"], { seen: [1] }]);
  expect(() => ((made.watch as { threads: boolean }).threads = true)).toThrow(TypeError);
});

test("a schedule keeps its this, and its times in ms", () => {
  const schedule = {
    every: "90s",
    jitter: "5s",
    quiet: "22:00-07:00",
    said: "hello",
    run(): string {
      return this.said;
    },
  };
  const [made] = scout({ schedules: { talk: schedule } }).schedules;
  expect(made).toMatchObject({
    name: "talk",
    everyMs: 90_000,
    jitterMs: 5_000,
    quiet: { fromMinute: 1_320, toMinute: 420 },
    onMissed: "skip",
    cron: undefined,
  });
  expect(made?.run({} as never)).toBe("hello");
});

describe("the Guardian's overrides", () => {
  test("win period by period, and only add reviews", () => {
    const defined = scout({
      tier: "free",
      spend: { perDay: credits(5), total: credits(50) },
      review: ["jobs.create"],
      brakes: { hops: 1 },
    });
    const made = withOverride(defined, {
      tier: "pro",
      spend: { perDay: [credits(1), microDollars(5)] },
      review: ["jobs.create", "posts.create"],
      brakes: { sameTextWithin: "1h" },
    });
    expect(made).toMatchObject({
      tier: "pro",
      spend: { perDay: [credits(1), microDollars(5)], total: [credits(50)], perHour: [] },
      review: ["jobs.create", "posts.create"],
      brakes: { ...DEFAULT_BRAKES, hops: 1, sameTextWithinMs: HOUR },
    });
    expect(Object.isFrozen(made)).toBe(true);
  });

  test("of nothing change nothing", () => {
    const defined = scout({ spend: { perDay: credits(5) }, brakes: { hops: 1 } });
    expect(withOverride(defined, {})).toEqual(defined);
  });
});

test.each<[string, object]>([
  ["22:00-07:00", { fromMinute: 1_320, toMinute: 420 }],
  [" 9:05 - 17:30 ", { fromMinute: 545, toMinute: 1_050 }],
  ["00:00-23:59", { fromMinute: 0, toMinute: 1_439 }],
])("quiet hours %j", (text, hours) => {
  expect(quietHours(text)).toEqual(hours);
});

test.each(["07:00-07:00", "24:00-07:00", "7-9", "22:60-07:00", ""])("%j are no quiet hours", (text) => {
  expect(() => quietHours(text)).toThrow(expect.objectContaining({ code: "quiet_invalid" }));
});

test("a watch starts now, at the start, or at a date", () => {
  expect([watchStart("now"), watchStart("start"), watchStart("2026-11-01")]).toEqual(["now", "start", Date.UTC(2026, 10, 1)]);
  expect(() => watchStart("Now")).toThrow(expect.objectContaining({ code: "date_invalid" }));
});
