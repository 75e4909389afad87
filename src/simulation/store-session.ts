/** A simulated session on the server of a fleet's store: once it has ended, nothing of its process reaches the store. */
import type { Clock, Timer } from "../core/clock.ts";
import { Fatal } from "../core/errors.ts";

export interface StoreSession {
  /** Set once it has ended. */
  readonly lost: Fatal | undefined;
  /** Returns the error of all calls from now on. */
  end(message: string): Fatal;
  /** Rejects once it has ended, even if the call has not. */
  during<T>(call: Promise<T>): Promise<T>;
  /** Never settles once it has ended: for calls that the store itself has begun. */
  within<T>(call: Promise<T>): Promise<T>;
  /** A clock whose timers end with it: for the store itself. */
  clockOf(clock: Clock): Clock;
}

export function beginSession(): StoreSession {
  let lost: Fatal | undefined;
  const waiting = new Set<(error: Fatal) => void>();
  const unlessLost = (run: () => void) => (): void => void (lost ?? run());
  return {
    get lost() {
      return lost;
    },
    end(message) {
      lost ??= new Fatal("store_lost", message);
      for (const reject of waiting) reject(lost);
      waiting.clear();
      return lost;
    },
    during: (call) =>
      new Promise((resolve, reject) => {
        waiting.add(reject);
        const settle = (run: () => void): void => void (waiting.delete(reject) && run());
        call.then(
          (value) => settle(() => resolve(value)),
          (error: unknown) => settle(() => reject(error as Error)),
        );
      }),
    within: (call) =>
      new Promise((resolve, reject) => {
        call.then(
          (value) => lost ?? resolve(value),
          (error: unknown) => lost ?? reject(error as Error),
        );
      }),
    clockOf: (clock) => ({
      now: () => clock.now(),
      monotonic: () => clock.monotonic(),
      after: (ms, run): Timer => clock.after(ms, unlessLost(run)),
      soon: (run) => clock.soon(unlessLost(run)),
    }),
  };
}
