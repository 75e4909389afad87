/** A server that refuses what is over its sliding windows, and says when there is room again: for clients that go by its answers. */

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

export interface Answer {
  readonly status: 200 | 429;
  readonly retryAfterMs?: number;
  /** Of the window with the least left. */
  readonly limit: number;
  readonly remaining: number;
  readonly resetAt: number;
}

export const ACCEPTED: Answer = { status: 200, limit: 0, remaining: 0, resetAt: 0 };

interface Window {
  readonly lengthMs: number;
  readonly limit: number;
  /** Requests accepted and still in the window, oldest first. */
  readonly accepted: number[];
}

export class RefusingServer {
  refused = 0;
  readonly #windows: readonly [Window, Window];

  constructor({ perHour, perDay }: { readonly perHour: number; readonly perDay: number }) {
    this.#windows = [
      { lengthMs: HOUR_MS, limit: perHour, accepted: [] },
      { lengthMs: DAY_MS, limit: perDay, accepted: [] },
    ];
  }

  /** Times come in order. */
  answer(now: number): Answer {
    for (const { accepted, lengthMs } of this.#windows) while ((accepted[0] ?? now) < now - lengthMs) accepted.shift();
    const [hour, day] = this.#windows;
    const full = this.#windows.filter(({ accepted, limit }) => accepted.length >= limit);
    const tightest = full.at(-1) ?? (hour.limit - hour.accepted.length <= day.limit - day.accepted.length ? hour : day);
    if (full.length > 0) this.refused++;
    else for (const { accepted } of this.#windows) accepted.push(now);
    const resetAt = (tightest.accepted[0] ?? now) + tightest.lengthMs + 1;
    const { limit, accepted } = tightest;
    const told = { limit, remaining: Math.max(0, limit - accepted.length), resetAt };
    return full.length > 0 ? { ...told, status: 429, retryAfterMs: resetAt - now } : { ...told, status: 200 };
  }
}
