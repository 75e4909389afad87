/** The condition of a specialist in words: a retry is no running, and nothing wrong is left out. */
import { expect, test } from "vitest";
import { conditionsOf, healthOf, nextLook } from "../../../src/console/page/condition.ts";

const WORKS = { tier: "pro", retired: false, parked: undefined, open: {}, sources: [], waits: [], held: [], cooldown: undefined } as const;
const wordsOf = (shown: Parameters<typeof conditionsOf>[0]): readonly string[] => conditionsOf(shown).map(({ word }) => word);

test("one that works, one that does not run, and one whose definition is gone are told apart", () => {
  expect(wordsOf(WORKS)).toEqual(["works"]);
  expect(wordsOf({ ...WORKS, tier: undefined })).toEqual(["not running"]);
  expect(wordsOf({ ...WORKS, retired: true })).toEqual(["retired"]);
});

test("everything that holds is shown, worst first", () => {
  const wait = { lane: "reply", rule: "quota_window", message: "the hour is full", since: 1, until: 2 } as const;
  const failing = { tries: 3, since: 1, kind: "post.created", message: "boom" };
  const parked = { code: "key_refused", message: "the key is refused", since: 1 } as const;
  expect(wordsOf({ ...WORKS, waits: [wait], failing, parked })).toEqual(["parked", "retries", "waits"]);
  expect(conditionsOf({ ...WORKS, cooldown: { until: 9, reason: "429" } })).toEqual([{ word: "waits", tone: "warn", because: "429" }]);
  expect(conditionsOf({ ...WORKS, awaitsPast: { message: "its past is read" } })).toEqual([
    { word: "waits", tone: "warn", because: "its past is read" },
  ]);
  expect(conditionsOf({ ...WORKS, failing })[0]?.because).toBe("3 failed in a row: boom");
  expect(conditionsOf({ ...WORKS, open: { parked: 1 } })[0]?.because).toBe("1 action, until a person decides");
  expect(wordsOf({ ...WORKS, held: [{ operation: "posts.reply", rule: "order", message: "goes second", count: 2 }] })).toEqual(["waits"]);
  const unread = { name: "feed", dueAt: 1, gaps: [], readFailure: { times: 1, since: 1, message: "503" } };
  expect(wordsOf({ ...WORKS, sources: [unread] })).toEqual(["retries"]);
});

test("the next look is the source that is due first", () => {
  const source = { gaps: [], readFailure: undefined };
  expect(
    nextLook([
      { name: "feed", dueAt: 20, ...source },
      { name: "jobs", dueAt: 10, ...source },
      { name: "x", dueAt: null, ...source },
    ]),
  ).toEqual({
    name: "jobs",
    at: 10,
  });
  expect(nextLook([])).toBeUndefined();
});

test("gaps and failing reads are told", () => {
  const gap = { after: undefined, before: "p", since: 1, until: 2 };
  const feed = { name: "feed", dueAt: 1, gaps: [gap, gap], readFailure: { times: 2, since: 1, message: "503" } };
  expect(healthOf({ sources: [feed] })).toEqual(["feed cannot be read: 503", "2 unread gaps in feed"]);
  expect(healthOf({ sources: [{ ...feed, gaps: [gap], readFailure: undefined }] })).toEqual(["1 unread gap in feed"]);
});
