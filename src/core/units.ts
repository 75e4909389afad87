/** Durations and money: named units, whole numbers. */
import { Misconfigured } from "./errors.ts";

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** A number of milliseconds, or a text such as `90s`, `15m`, `2h`, `1d`, `1h30m`. */
export type Duration = number | string;

const UNIT_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: SECOND,
  m: MINUTE,
  h: HOUR,
  d: DAY,
  w: 7 * DAY,
};

/** Milliseconds of a {@link Duration}. Throws `Misconfigured` (`duration_invalid`) on anything else. */
export function durationMs(value: Duration): number {
  if (typeof value === "number") {
    if (Number.isFinite(value) && value >= 0) return value;
  } else {
    const text = value.trim().toLowerCase();
    const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|[smhdw])/gy)];
    const length = parts.reduce((sum, part) => sum + part[0].length, 0);
    const ms = parts.reduce((sum, [, count, unit]) => sum + Number(count) * (UNIT_MS[unit ?? ""] ?? 0), 0);
    if (parts.length > 0 && length === text.length && Number.isFinite(ms)) return ms;
  }
  throw new Misconfigured("duration_invalid", `expected a duration such as "90s", "15m" or "1h30m", got ${JSON.stringify(value)}`);
}

/** Millionths of one unit of a currency: always a whole number. */
export type Micros = number & { readonly unit?: "micros" };

export const MICROS_PER_UNIT = 1_000_000;

/** The currency of the network's own credits. */
export const CREDITS = "credits";

/** An amount of one currency, in whole millionths. */
export interface Money {
  readonly currency: string;
  readonly micros: Micros;
}

/** Whole network credits. Throws `Misconfigured` (`money_invalid`) on fractions, negatives and NaN. */
export function credits(amount: number): Money {
  return wholeUnits(amount, CREDITS, `credits(${amount})`);
}

/** Money paid to a model provider, in whole millionths of a US dollar. Throws `Misconfigured` (`money_invalid`) on fractions, negatives and NaN. */
export function microDollars(amount: number): Money {
  if (!Number.isSafeInteger(amount) || amount < 0)
    throw new Misconfigured("money_invalid", `expected a whole number of millionths, 0 or more, got ${amount}`);
  return { currency: "usd", micros: amount };
}

function wholeUnits(amount: number, currency: string, shown: string): Money {
  if (!Number.isSafeInteger(amount) || amount < 0 || !Number.isSafeInteger(amount * MICROS_PER_UNIT))
    throw new Misconfigured("money_invalid", `expected a whole number of ${currency}, 0 or more, got ${shown}`);
  return { currency, micros: amount * MICROS_PER_UNIT };
}

/** An amount as a network or an input states it, rounded up to whole millionths; undefined if it is not an amount. */
export function microsOf(amount: number): Micros | undefined {
  // 1.1 times a million is 1100000.0000000002, which must not round up by a millionth.
  const micros = Math.ceil(Number((amount * MICROS_PER_UNIT).toPrecision(15)));
  return Number.isSafeInteger(micros) && amount >= 0 ? micros : undefined;
}

/** `12.5 credits`, for people. */
export function showMoney(money: Money): string {
  return `${money.micros / MICROS_PER_UNIT} ${money.currency}`;
}

/** `1h 5m`, `12s`, `250ms`: the two largest units, for people. */
export function showDuration(ms: number): string {
  const whole = Math.round(ms);
  if (whole < SECOND) return `${Math.max(0, whole)}ms`;
  const units: [string, number][] = [
    ["d", DAY],
    ["h", HOUR],
    ["m", MINUTE],
    ["s", SECOND],
  ];
  let left = Math.round(whole / SECOND) * SECOND;
  const first = units.findIndex(([, size]) => left >= size);
  const shown: string[] = [];
  for (const [name, size] of units.slice(first, first + 2)) {
    const count = Math.floor(left / size);
    left -= count * size;
    if (count > 0) shown.push(`${count}${name}`);
  }
  return shown.join(" ");
}
