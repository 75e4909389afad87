/** Halts in memory: in force while they are being stored, and until the process ends if the disk takes no writes. */
import { EVERYONE, type Stop } from "../limits/verdict.ts";

export interface UnkeptHalts {
  /** In force for every admission from now on. */
  hold(halt: Stop): void;
  /** Called once the store has the halt, or a person has lifted it. */
  release(scope: string): void;
  /** The halt that applies to a specialist, everyone's first. */
  of(handle: string): Stop | undefined;
  /** One for each scope. */
  all(): readonly Stop[];
}

export function createUnkeptHalts(): UnkeptHalts {
  const halts = new Map<string, Stop>();
  return {
    hold: (halt) => void halts.set(halt.scope, halt),
    release: (scope) => void halts.delete(scope),
    of: (handle) => halts.get(EVERYONE) ?? halts.get(handle),
    all: () => [...halts.values()],
  };
}
