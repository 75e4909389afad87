/** Caps as people state them: checked against each other before anything runs, and converted for the ledger. */
import { CREDITS, showMoney, type Money } from "../core/units.ts";
import type { Cap, Scope } from "./spending.ts";

/** Currencies of the ledger: the network's own, and that of model providers. */
const CURRENCIES: readonly string[] = [CREDITS, "usd"];

/** Caps as stated by a definition or the Guardian's configuration; several currencies as a list. */
export interface SpendLimits {
  readonly perAction?: Money | readonly Money[] | undefined;
  readonly perHour?: Money | readonly Money[] | undefined;
  readonly perDay?: Money | readonly Money[] | undefined;
  readonly perMonth?: Money | readonly Money[] | undefined;
  readonly total?: Money | readonly Money[] | undefined;
}

/** Narrow to wide: a cap above one after it could never be reached. */
const PERIODS = ["perAction", "perHour", "perDay", "perMonth", "total"] as const;
type Period = (typeof PERIODS)[number];

/**
 * A cap of an hour or a day also holds over any span of that length: calendar windows alone would permit twice the amount around midnight.
 */
const WINDOWS: { readonly [period in Period]: readonly Cap["window"][] } = {
  perAction: ["action"],
  perHour: ["hour", "rolling-hour"],
  perDay: ["day", "rolling-day"],
  perMonth: ["month"],
  total: ["total"],
};

/** A mistake in caps, with its place, such as `spend.perDay`. */
export interface CapProblem {
  readonly path: string;
  readonly message: string;
  readonly expected?: string;
}

/** Mistakes between amounts that are each valid. In reading order; empty if there are none. */
export function checkCaps(spend: SpendLimits): CapProblem[] {
  return [...PERIODS.flatMap((period) => currencyProblems(period, moneyList(spend[period]))), ...contradictions(spend)];
}

/** Caps of one scope. */
export function capsOf(scope: Scope, spend: SpendLimits): Cap[] {
  return PERIODS.flatMap((period) =>
    WINDOWS[period].flatMap((window) => moneyList(spend[period]).map((money): Cap => ({ scope, window, money }))),
  );
}

/** The currencies that some cap bounds over more than one action. */
export function cappedCurrencies(all: readonly SpendLimits[]): readonly string[] {
  const spans = PERIODS.filter((period) => period !== "perAction");
  return [...new Set(all.flatMap((spend) => spans.flatMap((period) => moneyList(spend[period]).map(({ currency }) => currency))))];
}

function currencyProblems(period: Period, amounts: readonly Money[]): CapProblem[] {
  const path = `spend.${period}`;
  const problems: CapProblem[] = amounts
    .filter(({ currency }) => !CURRENCIES.includes(currency))
    .map(({ currency }) => ({ path, message: `there is no currency ${JSON.stringify(currency)}`, expected: CURRENCIES.join(" or ") }));
  if (new Set(amounts.map(({ currency }) => currency)).size < amounts.length)
    problems.push({ path, message: "states one currency twice", expected: "one amount for each currency" });
  return problems;
}

function contradictions(spend: SpendLimits): CapProblem[] {
  return PERIODS.flatMap((narrow, i) =>
    PERIODS.slice(i + 1).flatMap((wide) =>
      moneyList(spend[narrow]).flatMap((small): CapProblem[] => {
        const large = moneyList(spend[wide]).find(({ currency }) => currency === small.currency);
        if (large === undefined || small.micros <= large.micros) return [];
        const message = `${showMoney(small)} is above spend.${wide} (${showMoney(large)}), so it could never be reached`;
        return [{ path: `spend.${narrow}`, message }];
      }),
    ),
  );
}

function moneyList(value: Money | readonly Money[] | undefined): readonly Money[] {
  if (value === undefined) return [];
  return "currency" in value ? [value] : value;
}
