/** What an action costs at most, from the profile's price (for a tier, where it has one of its own) and the action's input. */
import type { Profile } from "../contract/profile.ts";
import type { ProfileOperation } from "../contract/profile-operations.ts";
import type { JsonObject } from "../core/json.ts";
import { CREDITS, MICROS_PER_UNIT } from "../core/units.ts";
import type { Price } from "../limits/spending.ts";

export function priceOf(profile: Profile, tier: string, operation: ProfileOperation, input: JsonObject): Price {
  const price = profile.tiers[tier]?.prices?.[operation.name] ?? operation.price;
  if (price === "free") return { kind: "free" };
  if (price === "unknown") return { kind: "unknown" };
  const currency = price.currency ?? CREDITS;
  if ("micros" in price) return { kind: "priced", worst: { currency, micros: price.micros } };
  const amount = input[price.input];
  if (amount === undefined || amount === 0) return { kind: "free" };
  // A fraction of a millionth is rounded up: never spend more than was held.
  const micros = typeof amount === "number" && amount >= 0 ? Math.ceil(amount * MICROS_PER_UNIT) : Number.NaN;
  return Number.isSafeInteger(micros) ? { kind: "priced", worst: { currency, micros } } : { kind: "unknown" };
}
