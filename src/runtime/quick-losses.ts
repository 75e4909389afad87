/** Stores of a process that are lost soon after they were opened, as while the server refuses each commit: they are opened at growing intervals. */
import { backoffMs, type Backoff } from "../core/backoff.ts";
import type { Clock } from "../core/clock.ts";
import { Fatal, messageOf } from "../core/errors.ts";
import { SECOND } from "../core/units.ts";

/** A store that lives for longer can be used. */
export const USABLE_AFTER_MS = 10 * SECOND;
const PAUSE: Backoff = { firstMs: SECOND, longestMs: 15 * SECOND };

export class QuickLosses {
  readonly #clock: Pick<Clock, "monotonic">;
  /** The times of the last loss, and of the next store. */
  #lostAt = Number.NEGATIVE_INFINITY;
  #until = Number.NEGATIVE_INFINITY;
  #inARow = 0;
  #isFirst = true;
  #reason: Fatal | undefined;
  #notOpened: Fatal | undefined;

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
  }

  /** Notes that a store is lost that was opened then, on the monotonic clock. Stores that are lost together are one loss; a first one costs no pause. */
  lost(openedAt: number, reason: Fatal): void {
    const now = this.#clock.monotonic();
    if (openedAt < this.#lostAt) return;
    this.#isFirst = openedAt - this.#lostAt >= USABLE_AFTER_MS;
    this.#inARow = now - openedAt < USABLE_AFTER_MS ? this.#inARow + 1 : 0;
    this.#lostAt = now;
    if (this.#inARow < 2) return;
    this.#until = now + backoffMs(PAUSE, this.#inARow - 1);
    this.#reason = reason;
  }

  /** Notes if a store can be opened. */
  async noting<Held>(opening: Promise<Held | undefined>): Promise<Held | undefined> {
    try {
      const held = await opening;
      if (held !== undefined) this.#notOpened = undefined;
      return held;
    } catch (error) {
      this.#notOpened = new Fatal("store_lost", messageOf(error), { cause: error });
      throw error;
    }
  }

  /** False if the store of the last loss was opened soon after another loss. */
  get isFirst(): boolean {
    return this.#isFirst;
  }

  /** False during a pause. */
  get mayOpen(): boolean {
    return this.#clock.monotonic() >= this.#until;
  }

  /** The process has a store, or needs none: one that it could not open is no reason for anything now. */
  suffices(): void {
    this.#notOpened = undefined;
  }

  /** The reason of the last loss, until a store has lived for long enough since; else that of the last store that could not be opened. */
  get reason(): Fatal | undefined {
    return (this.#clock.monotonic() < this.#until + USABLE_AFTER_MS ? this.#reason : undefined) ?? this.#notOpened;
  }
}
