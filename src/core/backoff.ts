/** Exponential backoff: repeated failures are retried at growing intervals. */
export interface Backoff {
  readonly firstMs: number;
  readonly longestMs: number;
}

/** The delay after this many failures in a row: doubled with each, up to the longest. Fewer than one count as one. */
export function backoffMs({ firstMs, longestMs }: Backoff, failures: number): number {
  return Math.min(longestMs, firstMs * 2 ** (Math.max(1, failures) - 1));
}

/** The delay after a failed wait of `waitMs`; the first one if there was none. */
export function longerMs({ firstMs, longestMs }: Backoff, waitMs: number | undefined): number {
  return waitMs === undefined ? firstMs : Math.min(longestMs, waitMs * 2);
}
