/** Deadlines of requests. Those of one length end in the order in which they began, so one timer serves all that are under way. */
import type { Clock, Timer } from "../core/clock.ts";

export interface Timed {
  /** Called at the deadline. */
  expire(): void;
}

interface Line {
  /** The time of each deadline on the monotonic clock, the earliest first. */
  readonly ends: Map<Timed, number>;
  timer: Timer;
}

export class Deadlines {
  readonly #clock: Clock;
  /** By length. A line without requests has no timer and is dropped. */
  readonly #lines = new Map<number, Line>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(timed: Timed, lengthMs: number): void {
    const line = this.#lines.get(lengthMs) ?? this.#begin(lengthMs);
    line.ends.set(timed, this.#clock.monotonic() + lengthMs);
  }

  remove(timed: Timed, lengthMs: number): void {
    const line = this.#lines.get(lengthMs);
    if (line?.ends.delete(timed) !== true || line.ends.size > 0) return;
    line.timer.cancel();
    this.#lines.delete(lengthMs);
  }

  #begin(lengthMs: number): Line {
    const line: Line = { ends: new Map(), timer: this.#clock.after(lengthMs, () => this.#ring(line, lengthMs)) };
    this.#lines.set(lengthMs, line);
    return line;
  }

  #ring(line: Line, lengthMs: number): void {
    const now = this.#clock.monotonic();
    for (const [timed, at] of line.ends) {
      if (at > now) {
        line.timer = this.#clock.after(at - now, () => this.#ring(line, lengthMs));
        return;
      }
      line.ends.delete(timed);
      timed.expire();
    }
    if (this.#lines.get(lengthMs) === line) this.#lines.delete(lengthMs);
  }
}
