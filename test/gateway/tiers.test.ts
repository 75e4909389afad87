/** What a profile states of tiers is what their specialists may do and what it costs them. */
import { expect, test } from "vitest";
import { resolveProfile } from "../../src/contract/profile/profile.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { priceOf } from "../../src/gateway/prices.ts";
import { lackedBy, lacksOf, operationOf, operationRules } from "../../src/gateway/permissions.ts";
import { createSpecialist } from "../../src/specialist/specialist.ts";

const profile = resolveProfile({
  extends: "set-b",
  tiers: { free: { lacks: ["jobs.create", "agents.list"], prices: { "posts.create": { micros: 250_000 } } } },
});

test("an operation that a tier lacks is refused for that tier alone, reads too", () => {
  const refusalFor = (tier: "free" | "pro") =>
    operationRules(createSpecialist({ handle: "scout", tier, may: ["jobs.create"] }), profile, virtualClock()).of("jobs.create").refusal;
  expect(refusalFor("free")?.code).toBe("not_in_tier");
  expect(refusalFor("pro")).toBeUndefined();
  expect(lackedBy(profile, "free", "agents.list")?.code).toBe("not_in_tier");
  expect(lackedBy(profile, "pro", "agents.list")).toBeUndefined();
});

test("a price of a tier's own wins over the operation's", () => {
  const post = operationOf(profile, "posts.create");
  expect(priceOf(profile, { tier: "free", trust: undefined }, post, { content: "x" })).toEqual({
    kind: "priced",
    worst: { currency: "credits", micros: 250_000 },
  });
  expect(priceOf(profile, { tier: "pro", trust: undefined }, post, { content: "x" })).toEqual({ kind: "free" });
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

test("a trust tier's price wins over the tier's; unread, the dearest counts, and what cannot be compared is not known", () => {
  const micros = (amount: number) => ({ prices: { "posts.create": { micros: amount } } });
  const earned = resolveProfile({ extends: "set-b", tiers: { free: micros(70) }, trust: { low: micros(90), high: micros(5), other: {} } });
  const costs = (trust: string | undefined, of = earned) => priceOf(of, { tier: "free", trust }, operationOf(of, "posts.create"), {});
  const priced = (amount: number) => ({ kind: "priced", worst: { currency: "credits", micros: amount } });
  expect(["low", "high", "other", "unheard of", undefined].map((trust) => costs(trust))).toEqual([90, 5, 70, 70, 90].map(priced));
  const foreign = { prices: { "posts.create": { micros: 1, currency: "gold" } } };
  expect(costs(undefined, resolveProfile({ extends: "set-b", trust: { low: micros(90), high: foreign } }))).toEqual({ kind: "unknown" });
});
