/** Permissions of a specialist: what its definition asks for, as far as the profile grants it to its tier and trust. */
import { expect, test } from "vitest";
import { resolveProfile } from "../../src/contract/profile/profile.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { lackedBy, lacksOf, limitsOf, operationRules } from "../../src/gateway/permissions.ts";
import { createSpecialist } from "../../src/specialist/specialist.ts";

const profile = resolveProfile({ extends: "set-b", tiers: { free: { lacks: ["jobs.create", "agents.list"] } } });

test("an operation that a tier lacks is refused for that tier alone, reads too", () => {
  const refusalFor = (tier: "free" | "pro") =>
    operationRules(createSpecialist({ handle: "scout", tier, may: ["jobs.create"] }), profile, virtualClock()).of("jobs.create").refusal;
  expect(refusalFor("free")?.code).toBe("not_in_tier");
  expect(refusalFor("pro")).toBeUndefined();
  expect(lackedBy(profile, "free", "agents.list")?.code).toBe("not_in_tier");
  expect(lackedBy(profile, "pro", "agents.list")).toBeUndefined();
});

test("what a tier or a trust tier lacks of what a specialist may do is told before it starts", () => {
  const trusting = resolveProfile({
    extends: "set-b",
    tiers: { free: { lacks: ["jobs.create"] } },
    trust: { newcomer: { lacks: ["posts.reply", "posts.vote"] } },
  });
  const may = ["jobs.create", "posts.reply"];
  expect(lacksOf(trusting, createSpecialist({ handle: "scout", tier: "free", may }))).toEqual([
    expect.stringContaining("jobs.create, which the free tier"),
    expect.stringContaining('posts.reply while its trust on set-b is "newcomer"'),
  ]);
  expect(lacksOf(trusting, createSpecialist({ handle: "scout", tier: "pro", may }))).toHaveLength(1);
});

test.each([
  [
    { perHour: 40, perDay: null },
    { perHour: 40, perDay: 960 },
  ],
  [
    { perHour: null, perDay: 500 },
    { perHour: 500, perDay: 500 },
  ],
  [
    { perHour: null, perDay: null },
    { perHour: 10_000, perDay: 240_000 },
  ],
  [{ perHour: 40 }, { perHour: 40, perDay: 5_000 }],
])("a tier with %j counts %j", (starter, limits) => {
  expect(limitsOf("starter", resolveProfile({ extends: "set-b", tiers: { starter } }))).toEqual(limits);
});
