/** Limits repetition: the first few of a kind within a minute pass, the others are counted and summed up afterwards. */
import { MINUTE, SECOND, showDuration } from "./units.ts";

/** Kinds stored at once; the oldest is summed up and dropped first. */
const MAX_KINDS = 2_000;

export interface Repeats<T> {
  /** Returns the sums that are due, then the result of `make`, which is called only if it passes. */
  take(kind: KindOf, now: number, make: () => T): readonly T[];
  /** Returns the sums of everything left out so far. */
  rest(now: number): readonly T[];
}

export interface KindOf {
  readonly key: string;
  /** Repetitions that pass within a minute. */
  readonly passing: number;
}

interface Kind<T> {
  readonly first: T;
  readonly since: number;
  readonly passing: number;
  count: number;
  lastAt: number;
}

/** The repetitions left out: their number, and the sentence that states it. */
export interface LeftOut {
  readonly more: number;
  /** For example "37 more within a minute, the last 20 s ago". */
  readonly text: string;
}

/** `sum` makes the line that counts the repetitions of `first`. */
export function createRepeats<T>(sum: (first: T, leftOut: LeftOut, now: number) => T): Repeats<T> {
  /** The oldest first. */
  const kinds = new Map<string, Kind<T>>();

  const end = (key: string, now: number): readonly T[] => {
    const kind = kinds.get(key);
    kinds.delete(key);
    return kind === undefined || kind.count <= kind.passing ? [] : [sum(kind.first, leftOut(kind, now), now)];
  };
  const ended = (now: number): readonly T[] => {
    const sums: T[] = [];
    for (const [key, kind] of kinds) {
      if (!isOver(kind, now) && kinds.size < MAX_KINDS) break;
      sums.push(...end(key, now));
    }
    return sums;
  };

  return {
    take({ key, passing }, now, make) {
      const known = kinds.get(key);
      if (known !== undefined && !isOver(known, now)) {
        known.count += 1;
        known.lastAt = now;
        return known.count > passing ? [] : [make()];
      }
      const sums = [...end(key, now), ...ended(now)];
      const first = make();
      kinds.set(key, { first, since: now, passing, count: 1, lastAt: now });
      return [...sums, first];
    },
    rest: (now) => [...kinds.keys()].flatMap((key) => end(key, now)),
  };
}

function leftOut({ count, passing, lastAt }: Kind<unknown>, now: number): LeftOut {
  const more = count - passing;
  const age = now - lastAt;
  return { more, text: `${more} more within a minute${age < SECOND ? "" : `, the last ${showDuration(age)} ago`}` };
}

/** True also if the clock was set back. */
function isOver({ since }: Kind<unknown>, now: number): boolean {
  return now - since >= MINUTE || now < since;
}
