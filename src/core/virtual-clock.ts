/** A clock advanced by hand: days pass in milliseconds, and the same run happens the same way each time. */
import type { Clock, Timer } from "./clock.ts";

/** Turns of the real event loop granted to work that has no timer, before a wait is called stuck. */
const MAX_IDLE_TURNS = 1_000;
/** Timers one call may run, so that a timer that renews itself with no delay ends as an error, not as a hang. */
const MAX_STEPS = 50_000_000;

export interface VirtualClock extends Clock {
  /** Lets `ms` pass: runs every timer due in that span in order, and lets promises settle after each. */
  advance(ms: number): Promise<void>;
  /** Lets time pass until `done()` holds; false if `limitMs` passed first. Throws if nothing is left to happen. */
  runUntil(done: () => boolean, limitMs?: number): Promise<boolean>;
  /** Lets time pass until the promise settles, and gives its value. Throws if nothing is left to happen. */
  run<T>(promise: Promise<T>, limitMs?: number): Promise<T>;
  /** Sets the wall clock forward or back. Timers and `monotonic()` do not notice. */
  jump(ms: number): void;
  /** Timers waiting, for tests that must leave none. */
  pending(): number;
  /** Runs what is due now and lets promises settle, without time passing. */
  settle(): Promise<void>;
}

interface Entry {
  readonly at: number;
  readonly seq: number;
  run: (() => void) | undefined;
}

/** A virtual clock whose wall time starts at `startMs` (default 2026-01-05T00:00Z, a Monday). */
export function virtualClock(startMs: number = Date.UTC(2026, 0, 5)): VirtualClock {
  const heap: Entry[] = [];
  const turn: (() => void)[] = [];
  let elapsed = 0;
  let wall = startMs;
  let seq = 0;
  let live = 0;

  const after = (delayMs: number, run: () => void): Timer => {
    const wait = Number.isNaN(delayMs) ? 0 : Math.max(0, delayMs);
    const entry: Entry = { at: elapsed + wait, seq: seq++, run };
    live++;
    push(heap, entry);
    return {
      cancel() {
        if (entry.run === undefined) return;
        entry.run = undefined;
        live--;
      },
    };
  };

  /** The earliest timer still wanted, with cancelled ones dropped on the way. */
  const next = (): Entry | undefined => {
    while (heap[0] !== undefined && heap[0].run === undefined) pop(heap);
    return heap[0];
  };

  const settle = async (): Promise<void> => {
    await eventLoopTurn();
    for (let i = 0; turn.length > 0 && i < MAX_STEPS; i++) {
      turn.shift()?.();
      await eventLoopTurn();
    }
  };

  const moveTo = (at: number): void => {
    wall += at - elapsed;
    elapsed = at;
  };

  /** Runs timers up to `target` until `done()`; true if it came to hold. */
  const pass = async (target: number, done: () => boolean): Promise<boolean> => {
    await settle();
    for (let step = 0; step < MAX_STEPS; step++) {
      if (done()) return true;
      const entry = next();
      if (entry === undefined || entry.at > target) {
        if (Number.isFinite(target)) moveTo(target);
        return false;
      }
      pop(heap);
      moveTo(entry.at);
      const run = entry.run;
      entry.run = undefined;
      live--;
      run?.();
      await settle();
    }
    throw new Error(`virtual time stands still: ${MAX_STEPS} timers ran in one call`);
  };

  const runUntil = async (done: () => boolean, limitMs = Number.POSITIVE_INFINITY): Promise<boolean> => {
    const target = elapsed + limitMs;
    for (let idle = 0; idle < MAX_IDLE_TURNS; idle++) {
      if (await pass(target, done)) return true;
      if (Number.isFinite(limitMs)) return false;
      await eventLoopTurn();
    }
    throw new Error("virtual time has nothing left to run, and what is waited for has not happened");
  };

  return {
    now: () => wall,
    monotonic: () => elapsed,
    after,
    soon: (run) => void turn.push(run),
    async advance(ms) {
      await pass(elapsed + Math.max(0, ms), () => false);
    },
    runUntil,
    async run(promise, limitMs) {
      let settled = false;
      const mark = (): void => void (settled = true);
      promise.then(mark, mark);
      if (!(await runUntil(() => settled, limitMs))) throw new Error(`still waiting after ${limitMs} ms of virtual time`);
      return promise;
    },
    jump(ms) {
      wall += ms;
    },
    pending: () => live,
    settle,
  };
}

/** All microtasks and ticks run before an immediate does, so promises have settled when this resolves. */
function eventLoopTurn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

function before(a: Entry, b: Entry): boolean {
  return a.at < b.at || (a.at === b.at && a.seq < b.seq);
}

function push(heap: Entry[], entry: Entry): void {
  let at = heap.length;
  heap.push(entry);
  while (at > 0) {
    const parent = (at - 1) >> 1;
    const above = heap[parent];
    if (above === undefined || before(above, entry)) break;
    heap[at] = above;
    at = parent;
  }
  heap[at] = entry;
}

function pop(heap: Entry[]): void {
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return;
  let at = 0;
  for (;;) {
    const left = heap[2 * at + 1];
    const right = heap[2 * at + 2];
    if (left === undefined) break;
    const child = right !== undefined && before(right, left) ? 2 * at + 2 : 2 * at + 1;
    const below = heap[child];
    if (below === undefined || before(last, below)) break;
    heap[at] = below;
    at = child;
  }
  heap[at] = last;
}
