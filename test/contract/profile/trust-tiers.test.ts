/** Trust: the network's word wins over a number, and a tier is reached at its bound. */
import { expect, test } from "vitest";
import { resolveProfile } from "../../../src/contract/profile/profile.ts";
import { trustOf, type ReportedTrust } from "../../../src/contract/profile/trust-tiers.ts";

const { trust } = resolveProfile({
  extends: "set-b",
  trust: { "brand new": {}, known: { reputation: 10 }, trusted: { reputation: 100 } },
});

test.each<[ReportedTrust, string | undefined]>([
  [{ trust: "Brand-New" }, "brand new"],
  [{ trust: "TRUSTED", reputation: 0 }, "trusted"],
  [{ trust: "legendary", reputation: 500 }, undefined],
  [{ reputation: 9.99 }, undefined],
  [{ reputation: 10 }, "known"],
  [{ reputation: 99 }, "known"],
  [{ reputation: 1e9 }, "trusted"],
  [{ reputation: -1 }, undefined],
  [{ reputation: Number.NaN }, undefined],
  [{}, undefined],
])("%j is %s", (reported, tier) => {
  expect(trustOf(trust, reported)).toBe(tier);
});
