/** The changes among the processes of a fleet: nobody gives anything just after one, because more may follow. */
import type { Clock } from "../core/clock.ts";
import { SECOND } from "../core/units.ts";

/** Processes that begin or end together are one change. */
const SETTLE_MS = 1.5 * SECOND;

export class Settling {
  readonly #clock: Pick<Clock, "monotonic">;
  #members = "";
  #changedAt = 0;

  constructor(clock: Pick<Clock, "monotonic">) {
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
}
