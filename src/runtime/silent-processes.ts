/** The living processes that lost shards and have said nothing since: they are stopped, and may still send what they had begun. */
import type { Clock } from "../core/clock.ts";

export class SilentProcesses {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #numbers: Set<number>;
  #heardAt = Number.NEGATIVE_INFINITY;

  constructor(clock: Pick<Clock, "monotonic">, numbers: readonly number[], own: number) {
    this.#clock = clock;
    this.#numbers = new Set(numbers.filter((number) => number !== own));
  }

  get numbers(): readonly number[] {
    return [...this.#numbers];
  }

  /** Call it when a process answers or is gone: it knows that it has lost the shards, and sends nothing more of them. */
  heard(number: number): void {
    if (this.#numbers.delete(number)) this.#heardAt = this.#clock.monotonic();
  }

  /** Until this time, on the monotonic clock, they may have sent something; infinite while one of them is silent. */
  get maySendUntil(): number {
    return this.#numbers.size > 0 ? Number.POSITIVE_INFINITY : this.#heardAt;
  }
}
