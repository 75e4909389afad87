/**
 * The last tries of events that were at work when processes ended: one at a time, so that nothing is parked for another's doing. Specialists
 * whose events wait for theirs have it in turn.
 */
import type { Handle } from "../core/ids.ts";
import { isLastTry, type LiveEvent } from "./live-event.ts";

export class LastTries {
  readonly #isHandled: (event: LiveEvent) => boolean;
  readonly #waiting = new Set<Handle>();
  #now: LiveEvent | undefined;

  constructor(isHandled: (event: LiveEvent) => boolean) {
    this.#isHandled = isHandled;
  }

  begin(event: LiveEvent): void {
    this.#now = event;
  }

  /** True if an event has its last try now: one of this specialist then waits for its turn. */
  isTaken(specialist: Handle): boolean {
    if (!this.#isOn()) return false;
    this.#waiting.add(specialist);
    return true;
  }

  /** The first specialist in turn with an event that waits for its last try; undefined while another has it. */
  next(eventsOf: (specialist: Handle) => Iterable<LiveEvent>): Handle | undefined {
    if (this.#isOn()) return undefined;
    for (const specialist of this.#waiting) {
      this.#waiting.delete(specialist);
      for (const event of eventsOf(specialist)) if (event.state === "ready" && isLastTry(event)) return specialist;
    }
    return undefined;
  }

  #isOn(): boolean {
    return this.#now !== undefined && this.#isHandled(this.#now);
  }
}
