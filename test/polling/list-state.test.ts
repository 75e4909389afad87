import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { failedAgain, makeListDormant, readListState, reportedReadFailure, storeListState } from "../../src/polling/list-state.ts";
import { readWatchState, storeWatchState } from "../../src/polling/watch-state.ts";
import { readScheduleState, storeScheduleState } from "../../src/schedule/schedule-state.ts";

const NOW = Date.UTC(2026, 10, 22);

/** Rows as they are stored, under the names that the first version gave. */
const LIST = {
  seen: ["p2", "p1"],
  startedAt: NOW - 5,
  lookedAt: NOW - 1,
  pace: 2,
  yield: 0.25,
  acts: 1.5,
  actsAt: NOW - 6,
  gaps: [{ after: "p0", before: "p1", since: NOW - 4, until: NOW - 3 }],
  failed: 3,
  failedSince: NOW - 2,
  failedBy: "no answer",
  torn: 1,
  resting: true,
};
const SCHEDULE = { cursor: NOW, timing: "[]", skipped: 2, lastStarted: NOW - 1, resting: true };
const JOB = {
  status: "assigned",
  assigned: 1,
  accepted: 0,
  rejected: 0,
  paid: 0,
  looks: 4,
  followedAt: NOW - 9,
  lookedAt: NOW - 1,
  putOff: 2,
  planned: true,
};
const THREAD = { seen: ["r1"], votes: 3, newsAt: NOW - 7, looks: 1, followedAt: NOW - 9 };

test("a row is read as it was written, and written under the names that it had", () => {
  expect(readListState(LIST, NOW)).toEqual({
    cursor: { seen: ["p2", "p1"], startedAt: NOW - 5, lookedAt: NOW - 1 },
    pace: { pace: 2, yield: 0.25, acts: 1.5, actsAt: NOW - 6 },
    gaps: LIST.gaps,
    failure: { times: 3, since: NOW - 2, message: "no answer" },
    failedPages: 1,
    dormant: true,
  });
  expect(storeListState(readListState(LIST, NOW))).toEqual(LIST);
  expect(storeScheduleState(readScheduleState(SCHEDULE))).toEqual(SCHEDULE);
  expect(storeWatchState(readWatchState({ kind: "job", data: JOB }, NOW))).toEqual(JOB);
  expect(storeWatchState(readWatchState({ kind: "thread", data: THREAD }, NOW))).toEqual(THREAD);
});

test("what is not there, or of another type, is as at the beginning", () => {
  const begun = readListState(undefined, NOW);
  expect(begun).toMatchObject({
    cursor: { seen: undefined, startedAt: NOW },
    gaps: [],
    failure: undefined,
    failedPages: 0,
    dormant: false,
  });
  const strange = { seen: "p1", startedAt: "now", pace: [], yield: null, gaps: ["?", { after: "a" }], failed: 2, torn: true, resting: 1 };
  expect(readListState(strange, NOW)).toEqual(begun);
  expect(readScheduleState({ cursor: "now", timing: 1, skipped: "2" })).toEqual(readScheduleState(undefined));
  expect(readWatchState({ kind: "job", data: { looks: "4", putOff: null, lookedAt: "now" } }, NOW)).toEqual(
    readWatchState({ kind: "job", data: {} }, NOW),
  );
  expect(readWatchState({ kind: "thread", data: { seen: {} } }, NOW)).toMatchObject({ looks: 0, progress: { seen: [], newsAt: NOW } });
});

test("a list that cannot be read is reported from the second look on, and never while it is dormant", () => {
  const state = readListState(undefined, NOW);
  const once = { ...state, failure: failedAgain(undefined, "no answer", NOW) };
  expect(reportedReadFailure(once)).toBeUndefined();
  const twice = { ...state, failure: failedAgain(once.failure, "x".repeat(1_000), NOW + 9) };
  expect(reportedReadFailure(twice)).toEqual({ times: 2, since: NOW, message: "x".repeat(300) });
  expect(reportedReadFailure(makeListDormant(twice))).toBeUndefined();
  expect(storeListState(makeListDormant(twice))).toMatchObject({ resting: true, startedAt: NOW });
});

test("nobody else reads or writes what a row keeps", () => {
  const root = join(import.meta.dirname, "../../src");
  const files = globSync("{polling,schedule,outbox,webhooks,guardian,runtime}/**/*.ts", { cwd: root });
  const names = /\b(?:failedSince|failedBy|resting:|putOff:|lastStarted:)|cursor\??\.?\["|\.data\["/;
  const states = ["polling/list-state.ts", "polling/watch-state.ts", "schedule/fire.ts", "schedule/schedule-state.ts"];
  expect(files.filter((file) => names.test(readFileSync(join(root, file), "utf8"))).filter((file) => !states.includes(file))).toEqual([]);
});
