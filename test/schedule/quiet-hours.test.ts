/** Quiet hours: a span of the local day, over midnight and over clock changes. */
import { expect, test } from "vitest";
import { isQuiet, quietEnd } from "../../src/schedule/quiet-hours.ts";

const BERLIN = "Europe/Berlin";
const at = Date.parse;
const night = { fromMinute: 22 * 60, toMinute: 7 * 60 };
const noon = { fromMinute: 12 * 60, toMinute: 13 * 60 };

test.each([
  ["2026-11-01T20:59Z", night, false],
  ["2026-11-01T21:00Z", night, true],
  ["2026-11-02T05:59Z", night, true],
  ["2026-11-02T06:00Z", night, false],
  ["2026-11-01T11:00Z", noon, true],
  ["2026-11-01T12:00Z", noon, false],
] as const)("%s is in them in Berlin: %#", (time, span, is) => {
  expect(isQuiet(span, BERLIN, at(time))).toBe(is);
});

test("a span is of the local day: the same time is quiet in one zone and not in another", () => {
  expect([isQuiet(noon, "UTC", at("2026-11-01T12:30Z")), isQuiet(noon, BERLIN, at("2026-11-01T12:30Z"))]).toEqual([true, false]);
});

test("they end at the next local time of their end, also where the clock changes between", () => {
  expect(quietEnd(night, BERLIN, at("2026-11-01T22:00Z"))).toBe(at("2026-11-02T06:00Z"));
  expect(quietEnd(night, BERLIN, at("2026-03-28T22:00Z"))).toBe(at("2026-03-29T05:00Z"));
});

test("an end that the local clock skips is the first minute after it", () => {
  const skipped = { fromMinute: 22 * 60, toMinute: 2 * 60 + 30 };
  expect(quietEnd(skipped, BERLIN, at("2026-03-28T22:00Z"))).toBe(at("2026-03-29T01:00Z"));
});
