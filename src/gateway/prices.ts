/** Highest price of an action, from the profile's price (for a tier or a trust tier, if it has its own) and the action's input. */
import type { Outcome } from "../contract/call.ts";
import type { Profile } from "../contract/profile/profile.ts";
import type { Price as Stated } from "../contract/profile/source.ts";
import type { ProfileOperation } from "../contract/profile/network-operations.ts";
import type { JsonObject } from "../core/json.ts";
import { CREDITS, microsOf, type Money } from "../core/units.ts";
import type { Price } from "../limits/spending.ts";

/** Facts beside the operation that prices depend on. */
export interface Account {
  readonly tier: string;
  /** The network's last report; undefined before the first. */
  readonly trust: string | undefined;
}

export function priceOf(profile: Profile, { tier, trust }: Account, operation: ProfileOperation, input: JsonObject): Price {
  const usual = profile.tiers[tier]?.prices?.[operation.name] ?? operation.price;
  if (trust !== undefined) return worstOf(profile.trust[trust]?.prices?.[operation.name] ?? usual, input);
  // Until the network has stated the tier, the highest price may apply.
  let worst = worstOf(usual, input);
  for (const name in profile.trust) {
    const earned = profile.trust[name]?.prices?.[operation.name];
    if (earned !== undefined) worst = dearer(worst, worstOf(earned, input));
  }
  return worst;
}

function dearer(one: Price, other: Price): Price {
  if (one.kind === "unknown" || other.kind === "free") return one;
  if (other.kind === "unknown" || one.kind === "free") return other;
  if (one.worst.currency !== other.worst.currency) return { kind: "unknown" };
  return one.worst.micros >= other.worst.micros ? one : other;
}

/** The amount that the network's answer states as charged. */
export function chargedBy(outcome: Outcome, price: Stated): Money | undefined {
  if (outcome.class !== "confirmed" || outcome.chargedMicros === undefined) return undefined;
  return { currency: currencyOf(price), micros: outcome.chargedMicros };
}

/** The currency of a price; credits if it states none. */
function currencyOf(price: Stated): string {
  return typeof price === "object" ? (price.currency ?? CREDITS) : CREDITS;
}

function worstOf(price: Stated, input: JsonObject): Price {
  if (price === "free") return { kind: "free" };
  if (price === "unknown") return { kind: "unknown" };
  const currency = currencyOf(price);
  if ("micros" in price) return { kind: "priced", worst: { currency, micros: price.micros } };
  const amount = input[price.input];
  if (amount === undefined || amount === 0) return { kind: "free" };
  const micros = typeof amount === "number" ? microsOf(amount) : undefined;
  return micros === undefined ? { kind: "unknown" } : { kind: "priced", worst: { currency, micros } };
}
