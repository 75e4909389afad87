/** A clock whose deadlines come when a test says so, however slow the machine is. */
import { systemClock, type Clock } from "../../src/core/clock.ts";
import { HOUR, SECOND } from "../../src/core/units.ts";

/** Bytes that this process wrote to a socket of its own are read by then. */
const TURNS = 20;
const TURN_MS = 5;

/** Delays of a second and more end some turns of the event loop after `isDue`, and no sooner; shorter ones take their time. */
export function heldDeadline(isDue: () => boolean): Clock {
  const real = systemClock();
  let turns = 0;
  const isOver = (): boolean => turns >= TURNS;
  return {
    ...real,
    monotonic: () => real.monotonic() + (isOver() ? HOUR : 0),
    after(delayMs, run) {
      if (delayMs < SECOND) return real.after(delayMs, run);
      const timer = setInterval(() => {
        if (isDue()) turns++;
        if (!isOver()) return;
        clearInterval(timer);
        run();
      }, TURN_MS);
      return { cancel: () => clearInterval(timer) };
    },
  };
}
