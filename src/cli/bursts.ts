/** Lines that come faster than a person reads: the first of each second pass, the others are counted and summed up after it. */
import type { Clock, Timer } from "../core/clock.ts";
import { SECOND } from "../core/units.ts";

/** Lines of a second that pass: more than anybody reads, so that a short burst is there line by line. */
export const LINES_A_SECOND = 20;
/** Kinds that a sum names; the others are counted together. */
const MAX_KINDS = 5;

export interface Bursts {
  /** Returns true if a line of this kind is to be printed; otherwise it is counted. */
  passes(kind: string): boolean;
  /** Prints the sum of the present second, and no other. */
  close(): void;
}

export function createBursts(clock: Clock, print: (at: number, text: string) => void): Bursts {
  const counted = new Map<string, number>();
  let lines = 0;
  let timer: Timer | undefined;
  const end = (): void => {
    timer?.cancel();
    timer = undefined;
    lines = 0;
    if (counted.size > 0) print(clock.now(), sumOf(counted));
    counted.clear();
  };
  return {
    passes(kind) {
      timer ??= clock.after(SECOND, end);
      if (++lines <= LINES_A_SECOND) return true;
      counted.set(kind, (counted.get(kind) ?? 0) + 1);
      return false;
    },
    close: end,
  };
}

function sumOf(counted: ReadonlyMap<string, number>): string {
  const kinds = [...counted].sort(([, a], [, b]) => b - a);
  const total = kinds.reduce((sum, [, count]) => sum + count, 0);
  const named = kinds.slice(0, MAX_KINDS).map(([kind, count]) => `${kind} ${count}`);
  const others = kinds.slice(MAX_KINDS).reduce((sum, [, count]) => sum + count, 0);
  return `${total} more within a second: ${[...named, ...(others === 0 ? [] : [`others ${others}`])].join(", ")} (retinue log lists them)`;
}
