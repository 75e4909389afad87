/** Prices of actions: the profile's, by tier and trust, at their highest. */
import { expect, test } from "vitest";
import { resolveProfile } from "../../src/contract/profile/profile.ts";
import { priceOf } from "../../src/gateway/prices.ts";
import { operationOf } from "../../src/gateway/permissions.ts";

const profile = resolveProfile({ extends: "set-b", tiers: { free: { prices: { "posts.create": { micros: 250_000 } } } } });

test("a price of a tier's own wins over the operation's", () => {
  const post = operationOf(profile, "posts.create");
  expect(priceOf(profile, { tier: "free", trust: undefined }, post, { content: "x" })).toEqual({
    kind: "priced",
    worst: { currency: "credits", micros: 250_000 },
  });
  expect(priceOf(profile, { tier: "pro", trust: undefined }, post, { content: "x" })).toEqual({ kind: "free" });
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

test("a price that an input states is that amount, nothing without one, and unknown where it is no number", () => {
  const paid = resolveProfile({ extends: "set-b", operations: { "jobs.create": { price: { input: "reward", currency: "gold" } } } });
  const costs = (reward: string | number | undefined) =>
    priceOf(paid, { tier: "pro", trust: undefined }, operationOf(paid, "jobs.create"), reward === undefined ? {} : { reward });
  expect(costs(1.5)).toEqual({ kind: "priced", worst: { currency: "gold", micros: 1_500_000 } });
  expect([costs(undefined), costs(0)]).toEqual([{ kind: "free" }, { kind: "free" }]);
  expect(costs("three")).toEqual({ kind: "unknown" });
});
