/** Time as a port: the only place that reads a clock or sets a timer. */

/** The longest delay Node's timers take; a longer one would fire after 1 ms. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

export interface Timer {
  cancel(): void;
}

/** Source of time. `systemClock()` is the real one; simulation brings its own. */
export interface Clock {
  /** Wall time in milliseconds since the epoch. May jump either way. */
  now(): number;
  /** Milliseconds from an arbitrary start. Never goes back. */
  monotonic(): number;
  /** Runs `run` once after `delayMs` (any length, `Infinity` included; negative counts as 0). */
  after(delayMs: number, run: () => void): Timer;
  /** Runs `run` at the end of the present turn of the event loop. */
  soon(run: () => void): void;
}

/** The clock of this machine. */
export function systemClock(): Clock {
  return {
    now: () => Date.now(),
    monotonic: () => performance.now(),
    soon: (run) => void setImmediate(run),
    after(delayMs, run) {
      if (delayMs >= 0 && delayMs <= MAX_TIMER_MS) {
        const timer = setTimeout(run, delayMs);
        return { cancel: () => clearTimeout(timer) };
      }
      let left = Number.isNaN(delayMs) ? 0 : Math.max(0, delayMs);
      let handle: NodeJS.Timeout;
      const arm = (): void => {
        const leg = Math.min(left, MAX_TIMER_MS);
        left -= leg;
        handle = setTimeout(() => (left > 0 ? arm() : run()), leg);
      };
      arm();
      return { cancel: () => clearTimeout(handle) };
    },
  };
}

/** Resolves after `delayMs`, or as soon as `signal` is aborted (it never rejects). */
export function sleep(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) return resolve();
    const done = (): void => {
      timer.cancel();
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = clock.after(delayMs, done);
    signal?.addEventListener("abort", done, { once: true });
  });
}

/** Resolves in the next turn of the event loop: what waits for one goes first. */
export function nextTurn(clock: Pick<Clock, "soon">): Promise<void> {
  return new Promise((resolve) => clock.soon(resolve));
}
