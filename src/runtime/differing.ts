/** Shards of this process of which another can run more, because the definitions of the two differ. They are given away if that lasts. */
import type { Clock } from "../core/clock.ts";
import { SECOND } from "../core/units.ts";

/** A new version comes to one process after the other. */
const LASTING_MS = 5 * SECOND;

export class Differing {
  readonly #clock: Pick<Clock, "monotonic">;
  /** Since then the shard is foreign. */
  readonly #since = new Map<number, number>();

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
  }

  /** Notes the shards of which another process can run more now. */
  note(foreign: ReadonlySet<number>): void {
    for (const shard of this.#since.keys()) if (!foreign.has(shard)) this.#since.delete(shard);
    for (const shard of foreign) if (!this.#since.has(shard)) this.#since.set(shard, this.#clock.monotonic());
  }

  /** True if some of these shards are foreign for so long that they should move. */
  isLasting({ shards }: { readonly shards: readonly number[] }): boolean {
    const before = this.#clock.monotonic() - LASTING_MS;
    return shards.some((shard) => (this.#since.get(shard) ?? Infinity) <= before);
  }
}
