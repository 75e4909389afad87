/** The standing of a specialist: the profile's data and the network's report, and nothing that neither of them says. */
import { expect, test } from "vitest";
import { resolveProfile, shippedProfile } from "../../src/contract/profile/profile.ts";
import { showStanding } from "../../src/guardian/shown-standing.ts";

const UNREAD = { tier: "starter", trust: undefined, report: undefined } as const;

test("a network without trust tiers shows its tiers in their order, with the present one, and no trust", () => {
  const { tiers, trust } = showStanding(shippedProfile("b"), UNREAD);
  expect(tiers.map(({ name, isPresent, perHour, perDay }) => [name, isPresent, perHour, perDay])).toEqual([
    ["free", false, 60, 500],
    ["starter", true, 300, 5_000],
    ["growth", false, 1_000, 20_000],
    ["pro", false, 10_000, 100_000],
  ]);
  expect(trust).toBeUndefined();
  expect(showStanding(shippedProfile("a"), { ...UNREAD, tier: "free" }).tiers.map(({ name }) => name)).toEqual(["free", "pro"]);
});

test("what a profile states of a tier counts, and a limit that it takes away is none", () => {
  const profile = resolveProfile({ extends: "set-b", tiers: { starter: { perHour: 400, perDay: null, lacks: ["jobs.create"] } } });
  expect(showStanding(profile, UNREAD).tiers[1]).toEqual({
    name: "starter",
    isPresent: true,
    perHour: 400,
    lacks: ["jobs.create"],
    unlocks: [],
  });
  expect(showStanding(profile, UNREAD).tiers.map(({ unlocks }) => unlocks)).toEqual([
    ["jobs.create"],
    [],
    ["jobs.create"],
    ["jobs.create"],
  ]);
});

test("trust is what the network reported, beside each tier's least reputation; before the first report it is not known", () => {
  const profile = resolveProfile({ extends: "set-b", trust: { newcomer: { lacks: ["jobs.create"] }, member: { reputation: 10 } } });
  const tiers = (present?: string) => [
    { name: "newcomer", isPresent: present === "newcomer", lacks: ["jobs.create"], unlocks: [] },
    { name: "member", isPresent: present === "member", reputation: 10, lacks: [], unlocks: present === "newcomer" ? ["jobs.create"] : [] },
  ];
  expect(showStanding(profile, UNREAD).trust).toEqual({ tiers: tiers() });
  const report = { handle: "ann", trust: undefined, reputation: 12, since: 5, lookAt: 9, lacks: [] };
  expect(showStanding(profile, { tier: "free", trust: "member", report }).trust).toEqual({
    reported: { trust: "member", reputation: 12, since: 5, lookAt: 9 },
    tiers: tiers("member"),
  });
  const low = { ...report, reputation: 3 };
  expect(showStanding(profile, { tier: "free", trust: "newcomer", report: low }).trust?.tiers).toEqual(tiers("newcomer"));
});
