/** The words for the page's connection: live, reconnecting, or the time since which its figures are old. */

/** Without a byte for this long a connection counts as lost: the server sends one at least every 10 s. */
export const SILENT_MS = 25_000;
/** A lost connection is called stale after this long. */
const STALE_MS = 15_000;
const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 10_000;

export interface Contact {
  readonly open: boolean;
  /** Time of the last byte, or of the page's opening. */
  readonly heardAt: number;
}

export type Connection =
  | { readonly state: "live" }
  | { readonly state: "reconnecting" }
  | { readonly state: "stale"; readonly since: number };

export function connectionOf({ open, heardAt }: Contact, now: number): Connection {
  const silence = now - heardAt;
  if (open && silence < SILENT_MS) return { state: "live" };
  return silence < STALE_MS ? { state: "reconnecting" } : { state: "stale", since: heardAt };
}

/** The pause before the next try, drawn from the upper half: tabs of many people do not come back at one instant. */
export function retryPause(failures: number, chance: number): number {
  const longest = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(failures, 10));
  return longest * (0.5 + chance / 2);
}

/** The pause between two loads of a list: loading takes at most a fifth of the time, and a slow server is asked less. */
export function loadPause(tookMs: number): number {
  return Math.min(5_000, Math.max(100, 4 * tookMs));
}
