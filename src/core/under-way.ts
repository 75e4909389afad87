/** Follows what is under way, for whoever waits for a moment in which nothing slow is. */
import type { Clock } from "./clock.ts";
import { onAbort } from "./abort.ts";

export class UnderWay {
  readonly #clock: Pick<Clock, "monotonic">;
  /** Times of the begin, by number: the oldest is the first. */
  readonly #begun = new Map<number, number>();
  readonly #listeners = new Set<() => void>();
  #last = 0;

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
  }

  /** Returns the same promise. */
  follow<Value>(work: Promise<Value>): Promise<Value> {
    const number = ++this.#last;
    this.#begun.set(number, this.#clock.monotonic());
    const over = (): void => {
      this.#begun.delete(number);
      for (const hear of this.#listeners) hear();
    };
    work.then(over, over);
    return work;
  }

  /** The age of the oldest; 0 if nothing is under way. */
  get oldestMs(): number {
    const [first] = this.#begun.values();
    return first === undefined ? 0 : this.#clock.monotonic() - first;
  }

  /** Calls `hear` after each end. Returns a function that ends this. */
  onEnd(hear: () => void): () => void {
    this.#listeners.add(hear);
    return () => void this.#listeners.delete(hear);
  }
}

export interface Limited {
  readonly underWay: UnderWay;
  /** Work is slow from this age on. */
  readonly youngMs: number;
}

/** Resolves once nothing of all these is slow, or when the signal is aborted. Only the end of something makes it so. */
export function nothingSlow(all: readonly Limited[], signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const isSlow = (): boolean => all.some(({ underWay, youngMs }) => underWay.oldestMs >= youngMs);
    if (signal.aborted || !isSlow()) return resolve();
    const done = (): void => {
      for (const forget of forgets) forget();
      resolve();
    };
    const look = (): void => {
      if (!isSlow()) done();
    };
    const forgets = [...all.map(({ underWay }) => underWay.onEnd(look)), onAbort(signal, done)];
  });
}
