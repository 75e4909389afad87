/** Schemas of small values in definitions and the config file, whose errors state the expectation. */
import { z } from "zod";
import { TIERS } from "../contract/tiers.ts";
import { LANES } from "../contract/operations.ts";
import { isHandle } from "../core/ids.ts";
import { credits, durationMs, type Duration, type Money } from "../core/units.ts";
import { OWN_PREFIX } from "./environment.ts";

const MAX_TEXT = 10_000;
const MAX_LIST = 1_000;
const MAX_CURRENCIES = 20;

export const expected = (text: string): { readonly error: () => string } => ({ error: () => text });

/** Returns true if `check` does not throw: the parsers of core define validity. */
export function passes(check: () => unknown): boolean {
  try {
    check();
    return true;
  } catch {
    return false; // the reason is the schema's own error text
  }
}

export const text = z.string(expected("a text")).max(MAX_TEXT, expected(`at most ${MAX_TEXT} characters`));
export const words = z.array(text.min(1, expected("a text that is not empty")), expected("a list of texts")).max(MAX_LIST);
export const flag = z.boolean(expected("true or false"));

export const MAX_PORT = 65_535;

export const handle = z
  .string(expected('a handle, such as "scout"'))
  .refine(isHandle, expected("letters, digits, _, - or ., at most 64, not beginning with a sign"));

export const tier = z.enum(TIERS, expected(`a tier (${TIERS.join(", ")})`));

/** Expectation of a variable's name. A value that fails it may be the secret itself, so no message shows it. */
export const VARIABLE_NAME = "the name of an environment variable";

/** The name of any variable, our own ones included. */
export const anyVariableName = z
  .string(expected(VARIABLE_NAME))
  .regex(/^[A-Za-z_][A-Za-z0-9_]{0,199}$/, expected(`${VARIABLE_NAME}, such as "OPENAI_API_KEY"; never its value`));

const DURATION = 'a duration such as "90s", "15m" or "1h30m" (a number is milliseconds)';

/** A duration, kept as written. */
export const duration: z.ZodType<Duration> = z
  .union([z.string(), z.number()], expected(DURATION))
  .refine((value) => passes(() => durationMs(value)), expected(DURATION));

export const positiveDuration = duration.refine(
  (value) => !passes(() => durationMs(value)) || durationMs(value) > 0,
  expected(`${DURATION}, longer than 0`),
);

export function wholeNumber(min: number, max: number): z.ZodNumber {
  const error = expected(`a whole number from ${min} to ${max}`);
  return z.number(error).int(error).min(min, error).max(max, error);
}

export const port = wholeNumber(0, MAX_PORT);

const AMOUNT = 'an amount such as credits(25), or in data files 25 or {currency: "usd", micros: 2500000}';
const amount = { error: (issue: { readonly input?: unknown }): string => `${AMOUNT}; ${whyNoAmount(issue.input)}` };

/** Advice for a value that should be an amount. */
function whyNoAmount(value: unknown): string {
  const micros: unknown = typeof value === "object" && value !== null && "micros" in value ? value.micros : value;
  if (typeof micros !== "number") return "write a number without the currency's name";
  if (Number.isNaN(micros)) return "it is not a number";
  if (micros < 0) return "amounts are never negative";
  return Number.isSafeInteger(micros) ? "write it in one of these ways" : `${micros} is not whole: write the fraction in millionths`;
}

/** An amount: `Money`, or a whole number of credits (for files that hold no code). */
const money: z.ZodType<Money, Money | number> = z.union(
  [
    z
      .number()
      .refine((units) => passes(() => credits(units)), amount)
      .transform((units) => credits(units)),
    z.strictObject({ currency: z.string().min(1).max(20), micros: z.int(amount).min(0, amount) }),
  ],
  amount,
);

const amounts = z.union([money, z.array(money).min(1).max(MAX_CURRENCIES)], amount).optional();

export const spend = z.strictObject(
  { perAction: amounts, perHour: amounts, perDay: amounts, perMonth: amounts, total: amounts },
  expected("caps: perAction, perHour, perDay, perMonth, total"),
);

export const price = z.union([z.literal("free"), z.literal("unknown"), money], {
  error: ({ input }) => `"free", "unknown", or an amount; ${whyNoAmount(input)}`,
});

export const lanes = z
  .strictObject(Object.fromEntries(LANES.map((lane) => [lane, wholeNumber(0, 100).optional()])), expected("shares in per cent by lane"))
  .refine((shares) => sumOf(shares) <= 100, {
    error: ({ input }) => `shares that are at most 100 together; these add up to ${sumOf(input)}`,
  });

function sumOf(shares: unknown): number {
  const all: readonly unknown[] = typeof shares === "object" && shares !== null ? Object.values(shares) : [];
  return all.reduce<number>((sum, share) => sum + (typeof share === "number" ? share : 0), 0);
}

export const zone = z
  .string(expected('a time zone such as "Europe/London"'))
  .refine((name) => passes(() => new Intl.DateTimeFormat("en", { timeZone: name })), expected('a time zone such as "Europe/London"'));

/** The name of a variable that definitions, or the tools of their servers, may get. */
export const variableName = anyVariableName.refine(
  (name) => !name.startsWith(OWN_PREFIX),
  expected("a variable of your own; RETINUE_* are known as secrets, and no definition gets them"),
);

const TOOL = /^[A-Za-z0-9_-]{1,64}\/[A-Za-z0-9_./-]{1,128}$/;
/** `server/tool`. */
export const toolName = z
  .templateLiteral([z.string(), "/", z.string()], expected('a tool, such as "weather/forecast"'))
  .refine(
    (name) => TOOL.test(name),
    expected("a tool, such as \"weather/forecast\": the server's name in the config file, then the tool's"),
  );
