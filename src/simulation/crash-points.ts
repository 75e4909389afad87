/** Decides when a simulated process dies: at a boundary drawn once per process. */
import type { Random } from "../core/random.ts";

/** Crash rates count per this many boundaries. */
const BOUNDARIES = 10_000;
/** Share of restarted processes that die within their first steps: a crash during recovery finds defects that a single crash does not. */
const SECOND_CRASH_SHARE = 0.25;
const FIRST_STEPS = 80;
/** Half of the processes end at a drawn kind of boundary, so that rare kinds are hit as often as common ones. */
const AIMED_SHARE = 0.5;
/** The crash follows its aimed boundary by at most this many boundaries, when the consequences of that step are half done. */
const AIMED_BEYOND = 4;
/** A process dies anyway when its aimed kind has not come up after this many boundaries. */
const AIMED_WAIT = 2_000;

export interface CrashPointOptions {
  readonly random: Random;
  /** The first process dies at this boundary. */
  readonly crashAt: number | undefined;
  /** Crashes per 10,000 boundaries. */
  readonly crashes: () => number;
}

export interface CrashPoints {
  /** Draws the boundary at which the next process dies. */
  arm(): void;
  /** Counts this boundary and returns true if the process dies at it. */
  diesAt(point: string): boolean;
  /** Ends all crashes. */
  disarm(): void;
  /** Boundaries so far. */
  readonly boundaries: number;
}

export function createCrashPoints({ random, crashAt, crashes }: CrashPointOptions): CrashPoints {
  const kinds = new Set<string>();
  let lives = 0;
  let boundaries = 0;
  let left = Infinity;
  /** The kind of boundary to die at once the countdown has ended. */
  let aim: string | undefined;
  const drawBoundary = (): number => {
    if (lives === 1 && crashAt !== undefined) return crashAt;
    const rate = crashes();
    if (rate <= 0) return Infinity;
    if (lives > 1 && random.next() < SECOND_CRASH_SHARE) return random.int(FIRST_STEPS);
    return Math.ceil((-Math.log(1 - random.next()) * BOUNDARIES) / rate);
  };
  return {
    arm() {
      lives++;
      left = drawBoundary();
      const aims = crashAt === undefined && left < Infinity && kinds.size > 0 && random.next() < AIMED_SHARE;
      aim = aims ? random.pick([...kinds]) : undefined;
    },
    diesAt(point) {
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
    disarm: () => void (left = Infinity),
    get boundaries() {
      return boundaries;
    },
  };
}
