/** The turns of commands on a store that one of them can have at a time: on a server without a process at work, the next one waits. */
import { sleep, type Clock } from "../core/clock.ts";
import { SECOND } from "../core/units.ts";
import { BrieflyTaken } from "../store/briefly-taken.ts";

/** A command waits so long for the others: a service manager, or a person, then hears why. */
export const TURN_MS = 10 * SECOND;
/** Time between two looks or tries. A try opens connections, which takes longer. */
export const PAUSE_MS = SECOND / 20;

interface Turn {
  /** The end of the wait, by the monotonic clock. */
  readonly until: number;
  /** False for a repeated try. */
  readonly isFirst: boolean;
}

/** Tries again while another command has the store. Throws the last refusal after `TURN_MS`, and every other error at once. */
export async function inTurn<Result>(clock: Clock, attempt: (turn: Turn) => Promise<Result>): Promise<Result> {
  const until = clock.monotonic() + TURN_MS;
  for (let isFirst = true; ; isFirst = false) {
    try {
      return await attempt({ until, isFirst });
    } catch (error) {
      if (!(error instanceof BrieflyTaken) || clock.monotonic() >= until) throw error;
    }
    await sleep(clock, PAUSE_MS);
  }
}
