/** The progress of a schedule as one row: read and written in one place. */
import { expect, test } from "vitest";
import { readScheduleState, storeScheduleState } from "../../src/schedule/schedule-state.ts";

const NOW = Date.UTC(2026, 10, 22);
/** A row as it is stored, under the names that the first version gave. */
const SCHEDULE = { cursor: NOW, timing: "[]", skipped: 2, lastStarted: NOW - 1, resting: true };

test("a row is read as it was written, and written under the names that it had", () => {
  expect(storeScheduleState(readScheduleState(SCHEDULE))).toEqual(SCHEDULE);
  expect(readScheduleState(SCHEDULE)).toEqual({ doneUntil: NOW, timing: "[]", skipped: 2, lastStarted: NOW - 1, dormant: true });
});

test("a field that is missing, or of another type, is as at the beginning", () => {
  expect(readScheduleState({ cursor: "now", timing: 1, skipped: "2" })).toEqual(readScheduleState(undefined));
});
