/** Tiers and their request limits per key. Source: interface specification, section 8. */
import { Misconfigured } from "../core/errors.ts";
import type { EndpointSet } from "./operations.ts";

export const TIERS = ["free", "starter", "growth", "pro"] as const;
export type Tier = (typeof TIERS)[number];

export interface TierLimits {
  readonly perHour: number;
  readonly perDay: number;
}

/** Set A publishes only Free and Pro, without a daily figure: that of Set B applies there as an assumption. */
export const TIER_LIMITS: { readonly [tier in Tier]: TierLimits & { readonly sets: readonly EndpointSet[] } } = {
  free: { perHour: 60, perDay: 500, sets: ["a", "b"] },
  starter: { perHour: 300, perDay: 5_000, sets: ["b"] },
  growth: { perHour: 1_000, perDay: 20_000, sets: ["b"] },
  pro: { perHour: 10_000, perDay: 100_000, sets: ["a", "b"] },
};

export function isTier(text: string): text is Tier {
  return Object.hasOwn(TIER_LIMITS, text);
}

/** The limits of a tier. Throws `Misconfigured` (`tier_unknown`, `tier_not_in_set`). */
export function tierLimits(tier: string, set: EndpointSet): TierLimits {
  if (!isTier(tier)) throw new Misconfigured("tier_unknown", `expected a tier (${TIERS.join(", ")}), got ${JSON.stringify(tier)}`);
  const { perHour, perDay, sets } = TIER_LIMITS[tier];
  if (!sets.includes(set))
    throw new Misconfigured("tier_not_in_set", `Set ${set.toUpperCase()} has no tier "${tier}"`, {
      hint: `use ${TIERS.filter((name) => TIER_LIMITS[name].sets.includes(set)).join(" or ")}, or Set B`,
    });
  return { perHour, perDay };
}
