/** The browser as a port: clock, timers, chance and requests. No other file of the page touches them. */

export const now = (): number => Date.now();

/** Runs `run` once after `delayMs`; the returned function cancels it. */
export function after(delayMs: number, run: () => void): () => void {
  const timer = setTimeout(run, delayMs);
  return () => clearTimeout(timer);
}

/** A number from 0 to 1. */
export const chance = (): number => Math.random();

/** Sends a request to the page's own origin. */
export const send = (path: string, init: RequestInit): Promise<Response> =>
  fetch(path, { ...init, cache: "no-store", credentials: "same-origin" });
