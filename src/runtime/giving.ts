/**
 * Ends stores whose shards others are to have, at a moment that costs their specialists little. Nothing of a store goes on while it ends, and
 * it ends once everything under way in it has: so a moment is awaited in which nothing is that began long ago, and work goes on until then.
 */
import { onAbort } from "../core/abort.ts";
import type { Clock } from "../core/clock.ts";
import { nothingSlow, type UnderWay } from "../core/under-way.ts";
import { MINUTE, SECOND } from "../core/units.ts";

/** Work that is younger than this is expected to end soon: among thousands of short handlers some are always under way. */
const YOUNG_MS = SECOND;
/** Others wait for such a moment no longer than this. */
const LONGEST_WAIT_MS = MINUTE;

export class Giving<Held extends { readonly underWay: UnderWay }> {
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
    await nothingSlow(
      held.map(({ underWay }) => underWay),
      YOUNG_MS,
      over.signal,
    );
    timer.cancel();
    forget();
    if (changed.aborted) return;
    this.#wanted = [];
    this.#wantedSince = undefined;
    this.#give(held);
  }
}
