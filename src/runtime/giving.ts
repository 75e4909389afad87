/**
 * Ends stores whose shards others are to have, at a moment that costs their specialists little. Nothing of a store goes on while it ends, and
 * it ends once everything under way in it has: so a moment is awaited in which nothing is that began long ago, and work goes on until then.
 */
import { onAbort } from "../core/abort.ts";
import type { Clock } from "../core/clock.ts";
import { nothingSlow, type UnderWay } from "../core/under-way.ts";
import { MINUTE, SECOND } from "../core/units.ts";

/** Handlers that are younger are expected to end soon: among thousands of short ones some are always under way. */
const YOUNG_HANDLER_MS = SECOND;
/** The same for requests: a network may take its time, and one that has not answered by then may not answer for long. */
const YOUNG_REQUEST_MS = 5 * SECOND;
/** Others wait for such a moment no longer than this. */
const LONGEST_WAIT_MS = MINUTE;

export interface Working {
  /** Handlers that take time. */
  readonly handlers: UnderWay;
  readonly requests: UnderWay;
}

export class Giving<Held extends Working> {
  readonly #clock: Clock;
  readonly #give: (held: readonly Held[]) => void;
  #wanted: readonly Held[] = [];
  #wantedSince: number | undefined;
  #changed = new AbortController();

  constructor(clock: Clock, give: (held: readonly Held[]) => void) {
    this.#clock = clock;
    this.#give = give;
  }

  /** Gives these at the next such moment, all at once, in place of those of an earlier call. The wait for the moment goes on. */
  want(held: readonly Held[]): void {
    if (held.length === this.#wanted.length && held.every((one) => this.#wanted.includes(one))) return;
    this.#changed.abort();
    this.#changed = new AbortController();
    this.#wanted = held;
    this.#wantedSince = held.length === 0 ? undefined : (this.#wantedSince ?? this.#clock.monotonic());
    if (this.#wantedSince !== undefined) void this.#await(this.#wantedSince, this.#changed.signal);
  }

  async #await(since: number, changed: AbortSignal): Promise<void> {
    const held = this.#wanted;
    const over = new AbortController();
    const timer = this.#clock.after(since + LONGEST_WAIT_MS - this.#clock.monotonic(), () => over.abort());
    const forget = onAbort(changed, () => over.abort());
    const slow = held.flatMap(({ handlers, requests }) => [
      { underWay: handlers, youngMs: YOUNG_HANDLER_MS },
      { underWay: requests, youngMs: YOUNG_REQUEST_MS },
    ]);
    await nothingSlow(slow, over.signal);
    timer.cancel();
    forget();
    if (changed.aborted) return;
    this.#wanted = [];
    this.#wantedSince = undefined;
    this.#give(held);
  }
}
