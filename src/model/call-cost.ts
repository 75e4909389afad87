/** The price of a call: its highest cost before it is made, and its cost once the provider has told the use. */
import type { ModelSettings } from "../config/model-settings.ts";
import type { Micros, Money } from "../core/units.ts";

const CURRENCY = "usd";
/** Tokens that a provider adds to a request: marks of roles, and its own words about tools. */
const ADDED_TOKENS = 1_024;

type Prices = Pick<ModelSettings, "prices" | "outputTokens">;

/** No token is shorter than a byte, so the bytes of the request bound its tokens; the answer ends at its cap. */
export function worstCost(requestBytes: number, { prices, outputTokens }: Prices): Money {
  const input = (requestBytes + ADDED_TOKENS) * prices.inputMicros;
  return { currency: CURRENCY, micros: wholeMicros(input + outputTokens * prices.outputMicros) };
}

/** The use as a provider tells it. */
export interface TokenUse {
  readonly input: number | undefined;
  readonly output: number | undefined;
  readonly total: number | undefined;
}

/** Undefined where a part is not told. Tokens of thinking that stand in the total alone are output. */
export function tokensOf({ input, output, total }: TokenUse): { readonly input: number; readonly output: number } | undefined {
  if (!isCount(input) || !isCount(output)) return undefined;
  return { input, output: Math.max(output, isCount(total) ? total - input : 0) };
}

export function costOf(tokens: { readonly input: number; readonly output: number }, { prices }: Pick<Prices, "prices">): Micros {
  return wholeMicros(tokens.input * prices.inputMicros + tokens.output * prices.outputMicros);
}

function isCount(value: number | undefined): value is number {
  return value !== undefined && Number.isSafeInteger(value) && value >= 0;
}

/** Rounded up: 1.1 times ten is 11.000000000000002, which must not become 12. */
function wholeMicros(micros: number): Micros {
  return Math.ceil(Number(micros.toPrecision(12)));
}
