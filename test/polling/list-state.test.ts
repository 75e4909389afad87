/** The state of a list as one row: read and written in one place. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { DAY } from "../../src/core/units.ts";
import {
  failedAgain,
  makeListDormant,
  readListState,
  reportedReadFailure,
  storeListState,
  withGap,
  type Gap,
} from "../../src/polling/list-state.ts";

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
  lastPageItems: 12,
  unreadPage: 2,
  resting: true,
};

test("a row is read as it was written, and written under the names that it had", () => {
  expect(readListState(LIST, NOW)).toEqual({
    cursor: { seen: ["p2", "p1"], startedAt: NOW - 5, lookedAt: NOW - 1 },
    pace: { pace: 2, yield: 0.25, acts: 1.5, actsAt: NOW - 6 },
    gaps: LIST.gaps,
    failure: { times: 3, since: NOW - 2, message: "no answer" },
    failedPages: 1,
    lastPageItems: 12,
    unreadPage: 2,
    dormant: true,
  });
  expect(storeListState(readListState(LIST, NOW))).toEqual(LIST);
});

test("a field that is missing, or of another type, is as at the beginning", () => {
  const begun = readListState(undefined, NOW);
  expect(begun).toMatchObject({
    cursor: { seen: undefined, startedAt: NOW },
    gaps: [],
    failure: undefined,
    failedPages: 0,
    dormant: false,
  });
  const strange = {
    seen: "p1",
    startedAt: "now",
    pace: [],
    yield: null,
    gaps: ["?", { after: "a" }],
    failed: 2,
    torn: true,
    lastPageItems: "9",
    resting: 1,
  };
  expect(readListState(strange, NOW)).toEqual(begun);
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

test("a list keeps what was passed over with its cursor for a week, the latest twenty of it", () => {
  const gap = (n: number): Gap => ({ after: `a${n}`, before: `b${n}`, since: NOW + n, until: NOW + n + 1 });
  const many = Array.from({ length: 25 }, (_, n) => gap(n));
  expect(many.reduce<readonly Gap[]>((gaps, one) => withGap(gaps, one, NOW + DAY), [])).toEqual(many.slice(5));
  expect(withGap(many, undefined, NOW + 8 * DAY)).toEqual([]);
});

test("nobody else reads or writes what a row keeps", () => {
  const root = join(import.meta.dirname, "../../src");
  const files = globSync("{polling,schedule,outbox,webhooks,guardian,runtime}/**/*.ts", { cwd: root });
  const names = /\b(?:failedSince|failedBy|resting:|putOff:|lastStarted:)|cursor\??\.?\["|\.data\["/;
  const states = ["polling/list-state.ts", "polling/watch-state.ts", "schedule/fire.ts", "schedule/schedule-state.ts"];
  expect(files.filter((file) => names.test(readFileSync(join(root, file), "utf8"))).filter((file) => !states.includes(file))).toEqual([]);
});
