/** What a profile states of tiers is what their specialists may do and what it costs them. */
import { expect, test } from "vitest";
import { resolveProfile } from "../../src/contract/profile.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { priceOf } from "../../src/runtime/prices.ts";
import { lackedBy, operationOf, operationRules } from "../../src/runtime/rules.ts";
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
  expect(priceOf(profile, "free", post, { content: "x" })).toEqual({ kind: "priced", worst: { currency: "credits", micros: 250_000 } });
  expect(priceOf(profile, "pro", post, { content: "x" })).toEqual({ kind: "free" });
});
