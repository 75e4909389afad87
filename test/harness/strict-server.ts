/**
 * A server that counts requests and forgives nothing: one sliding, one fixed and one anchored judge per window.
 * Written from the words of the interface ("60 per hour, 500 per day"), not from our ledger, and exact to the millisecond.
 */

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

export interface Verdicts {
  /** Requests beyond what each kind of window allows. */
  sliding: number;
  /** Over fixed windows at any of the alignments tried. */
  fixed: number;
  anchored: number;
}

export class StrictServer {
  readonly #judges: Judge[];
  readonly #arrivals: number[] = [];

  constructor(limits: { readonly perHour: number; readonly perDay: number }, alignments: number) {
    this.#judges = [...judges(HOUR_MS, limits.perHour, alignments), ...judges(DAY_MS, limits.perDay, alignments)];
  }

  /** A request is counted at `at`. Times need not come in order: they are judged at the end. */
  count(at: number): void {
    this.#arrivals.push(at);
  }

  get requests(): number {
    return this.#arrivals.length;
  }

  judge(): Verdicts {
    const sorted = Float64Array.from(this.#arrivals).sort();
    const verdicts: Verdicts = { sliding: 0, fixed: 0, anchored: 0 };
    for (const judge of this.#judges) verdicts[judge.kind] += judge.over(sorted);
    return verdicts;
  }
}

interface Judge {
  readonly kind: keyof Verdicts;
  over(sorted: Float64Array): number;
}

function judges(lengthMs: number, limit: number, alignments: number): Judge[] {
  const fixed = Array.from({ length: alignments }, (_, i) => Math.floor((i * lengthMs) / alignments));
  return [
    { kind: "sliding", over: (sorted) => slidingOver(sorted, lengthMs, limit) },
    { kind: "anchored", over: (sorted) => anchoredOver(sorted, lengthMs, limit) },
    ...fixed.map((offset): Judge => ({ kind: "fixed", over: (sorted) => fixedOver(sorted, lengthMs, limit, offset) })),
  ];
}

/** A request is over when, with it, more than `limit` fall into the span of `lengthMs` that ends with it (both ends belong). */
function slidingOver(sorted: Float64Array, lengthMs: number, limit: number): number {
  let over = 0;
  for (let i = limit; i < sorted.length; i++) if ((sorted[i] ?? 0) - (sorted[i - limit] ?? 0) <= lengthMs) over++;
  return over;
}

/** The clock is cut into windows that begin at `offset`; the strictest reading counts both edges in each. */
function fixedOver(sorted: Float64Array, lengthMs: number, limit: number, offset: number): number {
  let over = 0;
  let window = Number.NaN;
  let used = 0;
  for (const at of sorted) {
    const mine = Math.floor((at - offset) / lengthMs);
    used = mine === window ? used + 1 : 1;
    window = mine;
    if (used > limit) over++;
  }
  return over;
}

/** A window begins with the first request after the last one ended. */
function anchoredOver(sorted: Float64Array, lengthMs: number, limit: number): number {
  let over = 0;
  let start = -Infinity;
  let used = 0;
  for (const at of sorted) {
    if (at - start > lengthMs) {
      start = at;
      used = 0;
    }
    if (++used > limit) over++;
  }
  return over;
}
