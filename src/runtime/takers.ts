/**
 * The processes that take shards. One that takes nothing while some are free is stopped, or cannot work: the others do not wait for it, and
 * take its share too.
 */
import { backoffMs, type Backoff } from "../core/backoff.ts";
import { MINUTE, SECOND } from "../core/units.ts";
import { SHARDS } from "../store/postgres/ownership.ts";
import { fairShare } from "./fair-share.ts";

/** Shards that are free for this long are left by whoever should take them: by one that has none, and by one that has less than its share. */
const LEFT_MS = SECOND;
const LEFT_BY_HOLDERS_MS = 15 * SECOND;
/** Looks follow one another quickly until it is known who takes them. */
const DECIDED_MS = LEFT_MS + SECOND;
/** Until one that took nothing is asked if it works, longer after each time: those that answer and take nothing would be waited for again. */
const ASKED_AFTER: Backoff = { firstMs: 2 * SECOND, longestMs: 5 * MINUTE };
/** Between questions that one does not answer. */
const ASKED_AGAIN_MS = 5 * SECOND;

export interface Taker {
  readonly number: number;
  readonly draining: boolean;
  readonly shards: readonly number[];
}

interface Absent {
  readonly times: number;
  /** Shards that it had then. */
  readonly had: number;
  askAt: number;
  isOut: boolean;
}

export class Takers {
  readonly #absent = new Map<number, Absent>();
  #freeSince: number | undefined;

  /** The processes among which shards are shared out. `now` is of a monotonic clock. */
  among<Process extends Taker>(processes: readonly Process[], free: number, own: number, now: number): readonly Process[] {
    for (const [number, { had }] of this.#absent)
      if (!processes.some((one) => one.number === number && one.shards.length <= had)) this.#absent.delete(number);
    if (free === 0) this.#freeSince = undefined;
    else this.#freeSince ??= now;
    const leftMs = this.#freeSince === undefined ? 0 : now - this.#freeSince;
    const present = this.#present(processes);
    for (const { number, draining, shards } of leftMs < LEFT_MS ? [] : processes) {
      const known = this.#absent.get(number);
      const had = shards.length;
      // One that has left some before is known.
      const patienceMs = had === 0 || known !== undefined ? LEFT_MS : LEFT_BY_HOLDERS_MS;
      const isLeaving = leftMs >= patienceMs && (had === 0 || had < fairShare(present, number, SHARDS));
      if (number === own || draining || !isLeaving || known?.isOut === true) continue;
      const times = (known?.times ?? 0) + 1;
      this.#absent.set(number, { times, had, askAt: now + backoffMs(ASKED_AFTER, times), isOut: true });
      this.#freeSince = now; // the others take more now
    }
    return this.#present(processes);
  }

  #present<Process extends Taker>(processes: readonly Process[]): readonly Process[] {
    return processes.filter(({ number }) => this.#absent.get(number)?.isOut !== true);
  }

  /** True while it is about to show who takes what is free. */
  areAwaited(now: number): boolean {
    return this.#freeSince !== undefined && now - this.#freeSince < DECIDED_MS;
  }

  /** Numbers of processes to be asked now if they work. */
  toAsk(now: number): readonly number[] {
    const due = [...this.#absent].filter(([, { isOut, askAt }]) => isOut && askAt <= now);
    for (const [, one] of due) one.askAt = now + ASKED_AGAIN_MS;
    return due.map(([number]) => number);
  }

  /** It works: shards are shared with it again, and it is left out for longer if it takes none. */
  answered(number: number): void {
    const known = this.#absent.get(number);
    if (known !== undefined) known.isOut = false;
  }
}
