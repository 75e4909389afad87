/** Small values of settings: each has bounds, and each refusal says what is expected and why the value is none. */
import { describe, expect, test } from "vitest";
import type { z } from "zod";
import {
  duration,
  handle,
  lanes,
  positiveDuration,
  price,
  spend,
  text,
  tier,
  wholeNumber,
  words,
  zone,
} from "../../src/config/value-schemas.ts";

const refusal = (schema: z.ZodType, value: unknown): string | undefined => schema.safeParse(value).error?.issues[0]?.message;

test.each<[string, z.ZodType, unknown]>([
  ["a text", text, "x".repeat(10_000)],
  ["a list of texts", words, ["a"]],
  ["a handle", handle, "scout_2.x-y"],
  ["a tier", tier, "growth"],
  ["a duration", duration, "1h30m"],
  ["no time", duration, 0],
  ["a time zone", zone, "Europe/London"],
  ["a port", wholeNumber(0, 65_535), 65_535],
  ["shares", lanes, { reply: 60, act: 40 }],
  ["a price", price, "unknown"],
])("%s is taken", (_what, schema, value) => {
  expect(refusal(schema, value)).toBeUndefined();
});

test.each<[string, z.ZodType, unknown]>([
  ["at most 10000 characters", text, "x".repeat(10_001)],
  ["a text that is not empty", words, [""]],
  ["letters, digits, _, - or ., at most 64", handle, "../scout"],
  ["letters, digits, _, - or ., at most 64", handle, "x".repeat(65)],
  ["a tier (free, starter, growth, pro)", tier, "gold"],
  ["a duration such as", duration, "soon"],
  ["longer than 0", positiveDuration, "0s"],
  ["a time zone such as", zone, "Europe/Atlantis"],
  ["a time zone such as", zone, ""],
  ["a whole number from 0 to 5", wholeNumber(0, 5), 6],
  ["a whole number from 0 to 5", wholeNumber(0, 5), 1.5],
  ["a whole number from 0 to 5", wholeNumber(0, 5), "1"],
  ["these add up to 101", lanes, { reply: 60, act: 41 }],
  ["caps: perAction", spend, 5],
])("expected %s: %#", (says, schema, value) => {
  expect(refusal(schema, value)).toContain(says);
});

describe("an amount", () => {
  test("is credits, or money of one or several currencies", () => {
    const dollars = { currency: "usd", micros: 2_500_000 };
    expect(spend.parse({ perDay: 25, total: [25, dollars] })).toEqual({
      perDay: { currency: "credits", micros: 25_000_000 },
      total: [{ currency: "credits", micros: 25_000_000 }, dollars],
    });
  });

  test.each<[unknown, string]>([
    ["25", "write a number without the currency's name"],
    [Number.NaN, "it is not a number"],
    [-1, "amounts are never negative"],
    [0.5, "0.5 is not whole: write the fraction in millionths"],
    [{ currency: "usd", micros: 0.5 }, "0.5 is not whole"],
    [{ currency: "usd", micros: -1 }, "amounts are never negative"],
  ])("%j is none", (value, why) => {
    expect(refusal(price, value)).toContain(why);
    expect(refusal(spend, { perDay: value })).toContain(why);
  });
});
