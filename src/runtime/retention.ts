/** Upkeep of the store: the passing time, and the retention of each kind of rows, extended where the runtime still needs them. */
import type { Profile } from "../contract/profile/profile.ts";
import { sleep, type Clock } from "../core/clock.ts";
import { DAY, SECOND } from "../core/units.ts";
import { PRUNE_BATCH } from "../limits/row-lifetimes.ts";
import type { Store } from "../store/store.ts";
import type { Member } from "../gateway/member.ts";
import type { Retention } from "../store/history.ts";

export const DEFAULT_RETENTION: Retention = { eventsMs: 30 * DAY, intentsMs: 90 * DAY, requestsMs: 30 * DAY };

/** A crash forgets at most this much running time, by which used requests come back. */
const BEAT_MS = 30 * SECOND;
/** Every ten minutes. */
const BEATS_A_PRUNE = 20;
/** Rows may be compared with dates this much older than they seem. */
const SPARE_MS = 2 * DAY;

export interface Pruning {
  readonly store: Store;
  readonly clock: Clock;
  readonly profile: Profile;
  readonly members: () => readonly Member[];
  /** The Guardian's settings. */
  readonly retention: Retention;
}

/**
 * Deletes a bounded number of rows now and every ten minutes, and every second while there are many; stores the time, and rolls facts up, in
 * between; until the signal.
 */
export async function keepPruned({ store, clock, profile, members, retention }: Pruning, stopping: AbortSignal): Promise<void> {
  let areMore = false;
  for (let beat = 0; !stopping.aborted; beat++) {
    await store.passTime(clock.now());
    while (!stopping.aborted && (await store.rollUp())) continue;
    if (areMore || beat % BEATS_A_PRUNE === 0)
      areMore = (await store.prune(clock.now(), neededRetention(retention, members(), profile))) >= PRUNE_BATCH;
    await sleep(clock, areMore ? SECOND : BEAT_MS, stopping);
  }
}

/**
 * Extends retention to cover every decision: an event is recognised as long as a list may show it, a text as long as it must not be
 * repeated, a request as long as one of the network's own limits counts it.
 */
export function neededRetention({ eventsMs, intentsMs, requestsMs }: Retention, members: readonly Member[], profile: Profile): Retention {
  const watches = members.flatMap(({ specialist: { watch } }) => [watch.feed?.maxAgeMs ?? 0, watch.jobs?.maxAgeMs ?? 0]);
  const brakes = members.map(({ specialist }) => specialist.brakes.sameTextWithinMs);
  const own = profile.limits.map(({ per }) => per);
  const longest = (given: number, needed: readonly number[]): number => needed.reduce((most, one) => Math.max(most, one + SPARE_MS), given);
  return { eventsMs: longest(eventsMs, watches), intentsMs: longest(intentsMs, brakes), requestsMs: longest(requestsMs, own) };
}
