/** What is said of repeated measurements: the median, how far they lie apart, and percentiles of many. */

export interface Summary {
  readonly median: number;
  readonly least: number;
  readonly most: number;
}

/** Throws on no values: a median of nothing would be an invented figure. */
export function summarise(values: readonly number[]): Summary {
  return { median: percentile(values, 50), least: percentile(values, 0), most: percentile(values, 100) };
}

/** The value at or below which `percent` of all values lie (nearest rank). Throws on no values. */
export function percentile(values: ArrayLike<number>, percent: number): number {
  const sorted = Float64Array.from(values).sort();
  const value = sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1))];
  if (value === undefined) throw new Error("there is nothing to summarise");
  return value;
}

/** How far the values lie from the middle, as a share of it: (most - least) / median. */
export function spread({ median, least, most }: Summary): number {
  return median === 0 ? 0 : (most - least) / median;
}

/** `12,345`, `12.3` or `0.123`: three digits are enough to compare by. */
export function figure(value: number): string {
  if (!Number.isFinite(value)) return "–";
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : Math.abs(value) >= 1 ? 2 : 3;
  return value.toLocaleString("en", { minimumFractionDigits: 0, maximumFractionDigits: digits });
}
