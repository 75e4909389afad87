/** Timers of all specialists: one heap and one system timer for the whole process. */
import type { Clock, Timer } from "../core/clock.ts";
import { createHeap, type Heap } from "../core/priority-queue.ts";
import { Refused } from "../core/errors.ts";
import { MINUTE } from "../core/units.ts";

/** The wall clock is read at least this often while a wake is set, so that a clock set forward is noticed. */
const MAX_LEG_MS = MINUTE;
/** Wakes per turn of the event loop; the rest follow in the next. */
const MAX_PER_TURN = 1_000;
const MAX_WAKES = 1_000_000;

export interface WakesOptions {
  readonly clock: Clock;
  /** Called with each due key. Must not throw: a wake is only a hint. */
  readonly run: (key: string) => void;
  /** Default 1,000,000. */
  readonly max?: number;
}

export interface Wakes {
  /** Sets the wake of `key` to this wall time and replaces an earlier one. A past time means at once. Throws `Refused` (`wakes_full`). */
  set(key: string, at: number): void;
  clear(key: string): void;
  /** The time set for a key. */
  at(key: string): number | undefined;
  /** The earliest time set. */
  next(): number | undefined;
  readonly size: number;
  /** Drops everything and sets no timer again. */
  stop(): void;
}

interface Entry {
  readonly key: string;
  readonly at: number;
}

/** Replaced or cleared entries stay in the heap until they come up, or until they outnumber the others by this many. */
const MAX_STALE = 1_000;

export function createWakes(options: WakesOptions): Wakes {
  return new WakeHeap(options);
}

class WakeHeap implements Wakes {
  readonly #clock: Clock;
  readonly #run: (key: string) => void;
  readonly #max: number;
  readonly #entries = new Map<string, Entry>();
  #heap = newHeap();
  #timer: Timer | undefined;
  /** The time of the set timer. */
  #armedFor = Number.POSITIVE_INFINITY;
  #stopped = false;

  constructor({ clock, run, max = MAX_WAKES }: WakesOptions) {
    this.#clock = clock;
    this.#run = run;
    this.#max = max;
  }

  get size(): number {
    return this.#entries.size;
  }

  at(key: string): number | undefined {
    return this.#entries.get(key)?.at;
  }

  next(): number | undefined {
    return this.#first()?.at;
  }

  set(key: string, at: number): void {
    if (this.#stopped || this.#entries.get(key)?.at === at) return;
    if (!this.#entries.has(key) && this.#entries.size >= this.#max)
      throw new Refused("wakes_full", `expected at most ${this.#max} waiting wakes`);
    const entry = { key, at: Number.isNaN(at) ? this.#clock.now() : at };
    this.#entries.set(key, entry);
    this.#heap.push(entry);
    if (this.#heap.size > 2 * this.#entries.size + MAX_STALE) this.#rebuild();
    this.#arm();
  }

  clear(key: string): void {
    this.#entries.delete(key);
    if (this.#entries.size === 0) this.#disarm();
  }

  stop(): void {
    this.#stopped = true;
    this.#entries.clear();
    this.#heap = newHeap();
    this.#disarm();
  }

  /** The earliest valid entry. */
  #first(): Entry | undefined {
    for (let entry = this.#heap.peek(); entry !== undefined; entry = this.#heap.peek()) {
      if (this.#entries.get(entry.key) === entry) return entry;
      this.#heap.pop();
    }
    return undefined;
  }

  #rebuild(): void {
    this.#heap = newHeap();
    for (const entry of this.#entries.values()) this.#heap.push(entry);
  }

  /** Sets the timer for the earliest entry, unless it is set for that or earlier. */
  #arm(): void {
    const first = this.#first();
    if (first === undefined || this.#stopped) return this.#disarm();
    if (this.#timer !== undefined && this.#armedFor <= first.at) return;
    this.#disarm();
    const leg = Math.min(Math.max(0, first.at - this.#clock.now()), MAX_LEG_MS);
    this.#armedFor = first.at;
    this.#timer = this.#clock.after(leg, () => this.#ring());
  }

  #disarm(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#armedFor = Number.POSITIVE_INFINITY;
  }

  #ring(): void {
    this.#disarm();
    const now = this.#clock.now();
    try {
      for (let handed = 0; handed < MAX_PER_TURN; handed++) {
        const first = this.#first();
        if (first === undefined || first.at > now) return;
        this.#heap.pop();
        this.#entries.delete(first.key);
        this.#run(first.key);
      }
    } finally {
      this.#arm(); // also after a run that threw, which must not silence the others
    }
  }
}

function newHeap(): Heap<Entry> {
  return createHeap((one, other) => one.at < other.at);
}
