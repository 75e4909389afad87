/**
 * Slows guesses of a token: after a few wrong ones, the attempts of a source are checked one after the other, with a pause between.
 *
 * An attempt with the right token is let in when its turn comes, and other sources do not wait. Of one source so many wait, and no more.
 */
import { sleep, type Clock } from "./clock.ts";
import { MINUTE } from "./units.ts";

/** `busy`: too many attempts of this source wait, and this one was not checked. */
export type Guess = "right" | "wrong" | "busy";

export interface GuessLimit {
  check(source: string, isRight: () => boolean): Promise<Guess>;
}

/** Wrong attempts of a source that are answered at once. */
export const FREE_GUESSES = 5;
export const GUESS_PAUSE_MS = 250;
/** Attempts of a source that wait at once: the last one waits 15 s. */
export const MAX_WAITING_GUESSES = 60;
const FORGOTTEN_MS = 15 * MINUTE;
/** Sources stored; the one that was least recently wrong is dropped first. */
const MAX_SOURCES = 4_096;

interface Source {
  wrong: number;
  wrongAt: number;
  nextAt: number;
  waiting: number;
}

export function createGuessLimit(clock: Clock): GuessLimit {
  /** The least recently wrong first. */
  const sources = new Map<string, Source>();
  const noteWrong = (name: string): void => {
    const now = clock.monotonic();
    const source = sources.get(name) ?? { wrong: 0, wrongAt: now, nextAt: now, waiting: 0 };
    sources.delete(name);
    sources.set(name, source);
    source.wrong++;
    source.wrongAt = now;
    source.nextAt = Math.max(source.nextAt, now + GUESS_PAUSE_MS);
    const [oldest] = sources.keys();
    if (sources.size > MAX_SOURCES && oldest !== undefined) sources.delete(oldest);
  };
  /** False if no place is left in the line. */
  const waitTurn = async (name: string): Promise<boolean> => {
    const source = sources.get(name);
    const now = clock.monotonic();
    if (source === undefined || source.wrong < FREE_GUESSES || now - source.wrongAt > FORGOTTEN_MS) return true;
    if (source.waiting >= MAX_WAITING_GUESSES) return false;
    const at = Math.max(now, source.nextAt);
    source.nextAt = at + GUESS_PAUSE_MS;
    source.waiting++;
    await sleep(clock, at - now);
    source.waiting--;
    return true;
  };
  return {
    async check(name, isRight) {
      if (!(await waitTurn(name))) return "busy";
      if (!isRight()) {
        noteWrong(name);
        return "wrong";
      }
      return "right";
    },
  };
}
