/** The changes among the processes of a fleet: nobody gives anything just after one, because more may follow. */
import { sleep, type Clock } from "../core/clock.ts";
import { SECOND } from "../core/units.ts";

/** Processes that begin or end together are one change. */
const SETTLE_MS = 1.5 * SECOND;
/** Between two looks. */
const PAUSE_MS = SECOND;
/** Just after a process came, went or began to drain, or while shards are about to be taken. */
const UNSETTLED_MS = SECOND / 4;

export class Settling {
  readonly #clock: Clock;
  #members = "";
  #changedAt = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Notes who is there, and who drains. */
  note(processes: readonly { readonly number: number; readonly draining: boolean }[]): void {
    const members = processes.map(({ number, draining }) => `${number}${draining ? "-" : ""}`).join(" ");
    if (members !== this.#members) this.#changedAt = this.#clock.monotonic();
    this.#members = members;
  }

  get isOver(): boolean {
    return this.#clock.monotonic() - this.#changedAt >= SETTLE_MS;
  }

  /** The time between two looks; `signal` ends it. Resolves with the time by which it was longer: this process ran nothing meanwhile. */
  async pause(areTakersAwaited: boolean, signal: AbortSignal): Promise<number> {
    const [beganAt, pauseMs] = [this.#clock.monotonic(), this.isOver && !areTakersAwaited ? PAUSE_MS : UNSETTLED_MS];
    await sleep(this.#clock, pauseMs, signal);
    return Math.max(0, this.#clock.monotonic() - beganAt - pauseMs);
  }
}
