/** Tiers: the published limits, and a refusal that names the tiers there are. */
import { expect, test } from "vitest";
import { isTier, tierLimits, TIERS } from "../../src/contract/tiers.ts";

test("each tier has its published limits", () => {
  expect(TIERS.map((tier) => tierLimits(tier, "b"))).toEqual([
    { perHour: 60, perDay: 500 },
    { perHour: 300, perDay: 5_000 },
    { perHour: 1_000, perDay: 20_000 },
    { perHour: 10_000, perDay: 100_000 },
  ]);
});

test("a tier that the set does not publish is refused with those that it does", () => {
  expect(() => tierLimits("growth", "a")).toThrow(
    expect.objectContaining({ code: "tier_not_in_set", details: { hint: "use free or pro, or Set B" } }),
  );
});

test.each(["", "Pro", "platinum", "constructor", "__proto__"])("%j is no tier", (name) => {
  expect(isTier(name)).toBe(false);
  expect(() => tierLimits(name, "b")).toThrow(expect.objectContaining({ code: "tier_unknown" }));
});
