/** The state of a watched object as one row: read and written in one place. */
import { expect, test } from "vitest";
import { readWatchState, storeWatchState } from "../../src/polling/watch-state.ts";

const NOW = Date.UTC(2026, 10, 22);

/** Rows as they are stored, under the names that the first version gave. */
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
  title: "A poem",
  reward: 12.5,
  deadlineMs: NOW + 9,
};
const THREAD = { seen: ["r1"], votes: 3, newsAt: NOW - 7, looks: 1, followedAt: NOW - 9 };

test("a row is read as it was written, and written under the names that it had", () => {
  expect(storeWatchState(readWatchState({ kind: "job", data: JOB }, NOW))).toEqual(JOB);
  expect(storeWatchState(readWatchState({ kind: "thread", data: THREAD }, NOW))).toEqual(THREAD);
});

test("a field that is missing, or of another type, is as at the beginning", () => {
  expect(readWatchState({ kind: "job", data: { looks: "4", putOff: null, lookedAt: "now", title: 5, reward: "12" } }, NOW)).toEqual(
    readWatchState({ kind: "job", data: {} }, NOW),
  );
  expect(readWatchState({ kind: "thread", data: { seen: {} } }, NOW)).toMatchObject({ looks: 0, progress: { seen: [], newsAt: NOW } });
});
