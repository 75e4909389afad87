/** Calendar windows in every zone: days of 23 and 25 hours, no gaps, no overlaps. */
import { describe, expect, test } from "vitest";
import { DAY, HOUR, MINUTE } from "../../src/core/units.ts";
import { calendarSpan } from "../../src/limits/zone.ts";

const hours = (zone: string, at: string): number => {
  const { start, end } = calendarSpan("day", zone, Date.parse(at));
  return (end - start) / HOUR;
};

describe("days", () => {
  test.each([
    ["Europe/Berlin", "2026-03-29T12:00Z", 23],
    ["Europe/Berlin", "2026-10-25T12:00Z", 25],
    ["Europe/Berlin", "2026-06-01T12:00Z", 24],
    ["America/New_York", "2026-03-08T12:00Z", 23],
    ["America/New_York", "2026-11-01T12:00Z", 25],
    ["Australia/Lord_Howe", "2026-04-05T03:00Z", 24.5],
    ["Australia/Lord_Howe", "2026-10-04T03:00Z", 23.5],
    ["America/Sao_Paulo", "2018-11-04T12:00Z", 23],
    ["America/Sao_Paulo", "2018-02-17T12:00Z", 25],
    ["America/Havana", "2026-03-08T12:00Z", 23],
    ["America/Havana", "2026-11-01T12:00Z", 25],
    ["Asia/Kathmandu", "2026-05-05T12:00Z", 24],
    ["UTC", "2026-12-31T23:59Z", 24],
  ])("%s on %s has %d hours", (zone, at, expected) => {
    expect(hours(zone, at)).toBe(expected);
  });

  test("a day begins at local midnight, also where the clock skips midnight", () => {
    expect(calendarSpan("day", "Asia/Tokyo", Date.parse("2026-05-05T03:00Z")).start).toBe(Date.parse("2026-05-04T15:00Z"));
    expect(calendarSpan("day", "America/Sao_Paulo", Date.parse("2018-11-04T12:00Z")).start).toBe(Date.parse("2018-11-04T03:00Z"));
  });

  test("a day that never was (Samoa, 30 December 2011) has no window", () => {
    const before = calendarSpan("day", "Pacific/Apia", Date.parse("2011-12-30T09:00Z"));
    const after = calendarSpan("day", "Pacific/Apia", Date.parse("2011-12-30T11:00Z"));
    expect(before.end).toBe(after.start);
    expect(after.end - after.start).toBe(24 * HOUR);
  });

  test("if the clock goes back across midnight, the date counts from its first beginning", () => {
    const first = Date.parse("2010-11-07T02:30Z");
    const { start, end } = calendarSpan("day", "America/St_Johns", first + 10 * HOUR);
    expect(calendarSpan("day", "America/St_Johns", start)).toEqual({ start, end });
    expect(calendarSpan("day", "America/St_Johns", start - 1).end).toBe(start);
  });
});

test("months run from first to first, across changes of the clock", () => {
  const { start, end } = calendarSpan("month", "Europe/Berlin", Date.parse("2026-03-15T00:00Z"));
  expect([start, end]).toEqual([Date.parse("2026-02-28T23:00Z"), Date.parse("2026-03-31T22:00Z")]);
  expect(calendarSpan("month", "Europe/Berlin", Date.parse("2026-12-31T23:30Z")).start).toBe(Date.parse("2026-12-31T23:00Z"));
});

test("in every zone the windows of a year meet exactly and contain the moment they were asked for", () => {
  const zones = Intl.supportedValuesOf("timeZone").filter((_zone, i) => i % 9 === 0);
  expect(zones.length).toBeGreaterThan(40);
  for (const zone of zones)
    for (const unit of ["day", "month"] as const) {
      let at = Date.parse("2026-01-01T00:00Z");
      const end = at + 365 * DAY;
      while (at < end) {
        const span = calendarSpan(unit, zone, at);
        expect(span.start <= at && at < span.end).toBe(true);
        expect(calendarSpan(unit, zone, span.end - 1)).toEqual(span);
        expect(calendarSpan(unit, zone, span.end).start).toBe(span.end);
        at = unit === "day" ? span.end + 13 * DAY + 7 * HOUR : span.end;
      }
    }
});

test("hours never overlap, also where the clock moves by half an hour", () => {
  for (const zone of ["Australia/Lord_Howe", "Asia/Kolkata", "Europe/Berlin", "America/St_Johns"]) {
    let at = Date.parse("2026-04-04T00:00Z");
    while (at < Date.parse("2026-04-06T00:00Z")) {
      const { start, end } = calendarSpan("hour", zone, at);
      expect(start <= at && at < end && end - start <= 1.5 * HOUR && end - start >= 30 * MINUTE).toBe(true);
      at = end;
    }
  }
});

test("an unknown zone is refused", () => {
  expect(() => calendarSpan("day", "Mars/Olympus", 0)).toThrow(expect.objectContaining({ code: "zone_unknown" }));
});
