/** When a simulated process dies: at a boundary that is drawn anew for each life. */
import type { Random } from "../core/random.ts";

/** A rate of crashes counts in so many boundaries. */
const BOUNDARIES = 10_000;
/** A crash during recovery finds what a single one does not: so often a fresh process dies within its first steps. */
const SECOND_CRASH_SHARE = 0.25;
const FIRST_STEPS = 80;
/** Half of the lives end at a kind of boundary that is drawn, so that the rare kinds are died at as often as the common ones. */
const AIMED_SHARE = 0.5;
/** So many boundaries after it at most: what follows from a step is half done then. */
const AIMED_BEYOND = 4;
/** A kind that has not come up after so many boundaries is not waited for. */
const AIMED_WAIT = 2_000;

export interface CrashPointOptions {
  readonly random: Random;
  /** The first process dies at this boundary. */
  readonly crashAt: number | undefined;
  /** Crashes per 10,000 boundaries. */
  readonly crashes: () => number;
}

export interface CrashPoints {
  /** Draws when the next life ends. */
  light(): void;
  /** Whether the process dies at this boundary. */
  burns(point: string): boolean;
  /** Nothing ends it any more. */
  out(): void;
  /** Boundaries so far. */
  readonly boundaries: number;
}

export function createCrashPoints({ random, crashAt, crashes }: CrashPointOptions): CrashPoints {
  const kinds = new Set<string>();
  let lives = 0;
  let boundaries = 0;
  let left = Infinity;
  /** The kind of boundary that is waited for once the fuse has burnt down. */
  let aim: string | undefined;
  const length = (): number => {
    if (lives === 1 && crashAt !== undefined) return crashAt;
    const rate = crashes();
    if (rate <= 0) return Infinity;
    if (lives > 1 && random.next() < SECOND_CRASH_SHARE) return random.int(FIRST_STEPS);
    return Math.ceil((-Math.log(1 - random.next()) * BOUNDARIES) / rate);
  };
  return {
    light() {
      lives++;
      left = length();
      const aims = crashAt === undefined && left < Infinity && kinds.size > 0 && random.next() < AIMED_SHARE;
      aim = aims ? random.pick([...kinds]) : undefined;
    },
    burns(point) {
      boundaries++;
      kinds.add(point);
      if (left-- > 0) return false;
      if (aim === undefined || left < -AIMED_WAIT) return true;
      if (point === aim) {
        aim = undefined;
        left = random.int(AIMED_BEYOND + 1);
      }
      return left === 0;
    },
    out: () => void (left = Infinity),
    get boundaries() {
      return boundaries;
    },
  };
}
