/** Filters of the log by time, and the tone of its states. */
import { expect, test } from "vitest";
import { sinceTime, toneOfState } from "../../../src/console/page/log-filters.ts";

const AT = 1_700_000_030_000;

test("a span begins at a whole minute, a time is itself, and anything else is no filter", () => {
  expect(sinceTime("hour", AT)).toBe(Math.floor((AT - 3_600_000) / 60_000) * 60_000);
  expect(sinceTime("1700000000000", AT)).toBe(1_700_000_000_000);
  expect(["", "toString", "-1", "soon"].map((text) => sinceTime(text, AT))).toEqual([undefined, undefined, undefined, undefined]);
});

test("a state without a tone of its own is calm", () => expect([toneOfState("parked"), toneOfState("cancelled")]).toEqual(["bad", "calm"]));
