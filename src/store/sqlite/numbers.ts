/** The numbers of facts and rows. */

export interface Numbers {
  /** The number of the fact after the one with that number. */
  fact(last: number): number;
  /** The number of a new row that is no fact; null for the next one of its table. */
  row(): number | null;
}

/** Numbers of a store that one process has alone. */
export const OWN_NUMBERS: Numbers = { fact: (last) => last + 1, row: () => null };

/** Numbers that one of several stores takes at once, and has alone. */
export const BLOCK = 65_536;
