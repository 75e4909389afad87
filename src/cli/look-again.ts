/** Looks at the same thing again and again, until Ctrl-C: the runtime that is asked may end, and another may take its place. */
import { sleep } from "../core/clock.ts";
import { messageOf } from "../core/errors.ts";
import { SECOND } from "../core/units.ts";
import type { Context } from "./command.ts";
import { openLifetime } from "./lifetime.ts";

/** A look at a large store takes time: it takes at most one part in so many. */
const LOOKING_SHARE = 0.1;
/** The longest pause for that reason. A look that needs a longer one mostly waits for an answer, which is no work of the processor. */
const MAX_PAUSE_MS = 5 * SECOND;

export interface Looks<Seen> {
  /** Time between two of them, in ms. */
  readonly everyMs: number;
  readonly look: (within: Context) => Promise<Seen>;
  readonly take: (seen: Seen) => void;
  /** Called for each later look that failed. */
  readonly failed: (message: string) => void;
}

/** Returns what was seen last. Throws as a single look does if the first one fails. */
export async function lookAgain<Seen>(context: Context, { everyMs, look, take, failed }: Looks<Seen>): Promise<Seen> {
  const { clock, out } = context;
  const lifetime = openLifetime(clock);
  const closing = new AbortController();
  void lifetime.over.then(() => closing.abort());
  try {
    let lookedAt = clock.monotonic();
    let seen = await look(context);
    const again = { ...context, out: { ...out, problems: () => undefined, paragraph: () => undefined } }; // told once, and not across the screen
    for (;;) {
      take(seen);
      let pauseMs = Math.max(everyMs, Math.min((clock.monotonic() - lookedAt) / LOOKING_SHARE, MAX_PAUSE_MS));
      for (let isSeen = false; !isSeen; pauseMs = everyMs) {
        await sleep(clock, pauseMs, closing.signal);
        if (closing.signal.aborted) return seen;
        lookedAt = clock.monotonic();
        try {
          seen = await look(again);
          isSeen = true;
        } catch (error) {
          failed(messageOf(error));
        }
      }
    }
  } finally {
    lifetime.close();
  }
}
