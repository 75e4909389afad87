/** Exponential backoff: what fails again and again is tried ever more rarely. */
export interface Backoff {
  readonly firstMs: number;
  readonly longestMs: number;
}

/** The pause after that many failures in a row: doubled with each, up to the longest. Fewer than one count as one. */
export function backoffMs({ firstMs, longestMs }: Backoff, failures: number): number {
  return Math.min(longestMs, firstMs * 2 ** (Math.max(1, failures) - 1));
}

/** The pause after one of `waitMs` that was in vain; the first one where there was none. */
export function longerMs({ firstMs, longestMs }: Backoff, waitMs: number | undefined): number {
  return waitMs === undefined ? firstMs : Math.min(longestMs, waitMs * 2);
}
