/** Decides by a look which shards this process takes, and how many it has too many, among processes whose definitions may differ. */
import type { Clock } from "../core/clock.ts";
import type { Handle } from "../core/ids.ts";
import type { FleetView } from "../store/postgres/fleet-view.ts";
import type { Membership } from "../store/postgres/membership.ts";
import { SHARDS } from "../store/postgres/ownership.ts";
import { aimOf, fairShare, neededBefore, type Aim } from "./fair-share.ts";
import { sayHello } from "./hello.ts";
import { Takers } from "./takers.ts";

export interface Sharing {
  readonly membership: Pick<Membership, "ask" | "number" | "unevenShards" | "definedElsewhere">;
  readonly view: Pick<FleetView, "processes" | "free">;
  /** The shards of this process, which may change after the look. */
  readonly owned: () => readonly number[];
  /** Nobody has come or gone of late. */
  readonly isSettled: boolean;
}

export class SharingOut {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #takers = new Takers();
  #elsewhere: ReadonlySet<Handle> = new Set();

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
  }

  /** True while it is about to show who takes what is free. */
  get areTakersAwaited(): boolean {
    return this.#takers.areAwaited(this.#clock.monotonic());
  }

  /** True for a specialist that another process has a definition of, and this one has not. */
  isElsewhere(handle: Handle): boolean {
    return this.#elsewhere.has(handle);
  }

  async aim({ membership, view: { processes, free }, owned, isSettled }: Sharing): Promise<Aim> {
    const now = this.#clock.monotonic();
    const takers = this.#takers.among(processes, free.length, membership.number, now);
    for (const number of this.#takers.toAsk(now)) sayHello(membership, processes, number, () => this.#takers.answered(number));
    const working = takers.filter(({ draining }) => !draining);
    const isSharingOut = free.length > 0 || isSettled;
    const uneven = isSharingOut ? await membership.unevenShards(working.map(({ number }) => number)) : [];
    if (isSharingOut)
      this.#elsewhere = new Set(uneven.length === 0 ? [] : await membership.definedElsewhere(processes.map(({ number }) => number)));
    return aimOf({
      share: fairShare(takers, membership.number, SHARDS),
      before: neededBefore(takers, membership.number, SHARDS),
      owned: owned(),
      free,
      fewest: Math.min(...working.map(({ shards }) => shards.length)),
      uneven,
    });
  }
}
