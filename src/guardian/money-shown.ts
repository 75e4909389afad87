/** Money of a specialist, and of all together, beside the caps of a day. */
import { defined } from "../core/defined.ts";
import type { Micros, Money } from "../core/units.ts";

export interface MoneyShown {
  readonly currency: string;
  /** Spent in total, since the store began. */
  readonly postedMicros: Micros;
  /** Held for actions without an outcome. */
  readonly heldMicros: Micros;
  /** The sum of both in the Guardian's present day. */
  readonly dayMicros: Micros;
  /** The daily cap of the definition, or the Guardian's own. */
  readonly dayCapMicros?: Micros;
}

/** The share of a daily cap from which on a person is told. */
export const BUDGET_SHARE = 0.8;

/** Every action is paid by its specialist and counts for the Guardian. */
export function together(
  specialists: readonly { readonly money: readonly MoneyShown[] }[],
  caps: readonly Money[] | undefined,
): readonly MoneyShown[] {
  const sums = new Map<string, MoneyShown>();
  for (const { currency, postedMicros, heldMicros, dayMicros } of specialists.flatMap(({ money }) => money)) {
    const sum = sums.get(currency) ?? { postedMicros: 0, heldMicros: 0, dayMicros: 0 };
    sums.set(currency, {
      currency,
      postedMicros: sum.postedMicros + postedMicros,
      heldMicros: sum.heldMicros + heldMicros,
      dayMicros: sum.dayMicros + dayMicros,
    });
  }
  return moneyOf([...sums.values()], caps);
}

/** Spent amounts and caps, including currencies without spending. */
export function moneyOf(spent: readonly MoneyShown[], dayCaps: readonly Money[] = []): readonly MoneyShown[] {
  const caps = new Map(dayCaps.map(({ currency, micros }) => [currency, micros]));
  const currencies = new Set([...spent.map(({ currency }) => currency), ...caps.keys()]);
  return [...currencies].map((currency) => {
    const row = spent.find((one) => one.currency === currency) ?? { currency, postedMicros: 0, heldMicros: 0, dayMicros: 0 };
    const cap = caps.get(currency);
    return { ...row, ...defined({ dayCapMicros: cap }) };
  });
}
