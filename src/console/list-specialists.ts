/** Specialists as the console lists them: by state and by words, bounded, with the number of all that match. */
import type { Snapshot, SpecialistShown } from "../guardian/status.ts";

/** `waits`: something of it waits for time, money or a person; `retries`: its last handling failed; `parked`: nothing is sent for it. */
export const SPECIALIST_STATES = ["waits", "retries", "parked"] as const;
type SpecialistState = (typeof SPECIALIST_STATES)[number];

const IS: { readonly [state in SpecialistState]: (row: SpecialistShown) => boolean } = {
  waits: ({ waits, held, cooldown, awaitsPast }) =>
    waits.length > 0 || held.length > 0 || cooldown !== undefined || awaitsPast !== undefined,
  retries: ({ failing, sources }) => failing !== undefined || sources.some(({ readFailure }) => readFailure !== undefined),
  parked: ({ parked, open }) => parked !== undefined || (open.parked ?? 0) > 0,
};

const MAX_ROWS = 1_000;

export interface SpecialistsQuery {
  readonly state?: SpecialistState;
  /** A part of the handle. */
  readonly search?: string;
  readonly offset?: number;
}

export interface SpecialistsListed {
  readonly at: number;
  /** All that match. */
  readonly total: number;
  readonly rows: readonly SpecialistShown[];
  /** Of all together. */
  readonly money: Snapshot["money"];
}

export function listSpecialists(
  { at, specialists, money }: Snapshot,
  { state, search = "", offset = 0 }: SpecialistsQuery,
): SpecialistsListed {
  const word = search.toLowerCase();
  const found = specialists.filter((row) => (state === undefined || IS[state](row)) && row.handle.toLowerCase().includes(word));
  return { at, total: found.length, rows: found.slice(offset, offset + MAX_ROWS), money };
}
