/** What an action costs at most, from the profile's price and the action's own input. */
import type { ProfileOperation } from "../contract/profile-operations.ts";
import type { JsonObject } from "../core/json.ts";
import { CREDITS, MICROS_PER_UNIT } from "../core/units.ts";
import type { Price } from "../limits/spending.ts";

export function priceOf(operation: ProfileOperation, input: JsonObject): Price {
  const { price } = operation;
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
