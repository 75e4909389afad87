/** A clock advanced by hand: days pass in milliseconds, and runs are deterministic. */
import type { Clock, Timer } from "./clock.ts";
import { createHeap } from "./priority-queue.ts";

/** Turns of the real event loop for work without a timer, before a wait counts as stuck. */
const MAX_IDLE_TURNS = 1_000;
/** Timers that one call may run: a timer that renews itself without delay ends as an error, not as a hang. */
const MAX_STEPS = 50_000_000;

/** A clock that a test advances. Timers run in order, at their virtual time in ms. */
export interface VirtualClock extends Clock {
  /** Lets `ms` pass: runs every timer due in that span in order, and lets promises settle after each. */
  advance(ms: number): Promise<void>;
  /** Lets time pass until `done()` holds; false if `limitMs` passed first. Throws if nothing is left to run. */
  runUntil(done: () => boolean, limitMs?: number): Promise<boolean>;
  /** Lets time pass until the promise settles, and returns its value. Throws if nothing is left to run. */
  run<T>(promise: T | Promise<T>, limitMs?: number): Promise<T>;
  /** Sets the wall clock forward or back. Timers and `monotonic()` are not affected. */
  jump(ms: number): void;
  /** Timers waiting, for tests that must leave none. */
  pending(): number;
  /** Runs everything due now and lets promises settle, without time passing. */
  settle(): Promise<void>;
  /**
   * Does work that takes real time, such as a request to a server: virtual time stands still until it has ended. Works are done one after
   * the other, so that a run stays the same.
   */
  outside<T>(work: () => Promise<T>): Promise<T>;
}

/** A virtual clock whose wall time starts at `startMs` (default 2026-01-05T00:00Z, a Monday). */
export function virtualClock(startMs: number = Date.UTC(2026, 0, 5)): VirtualClock {
  const timers = createTimers();
  const turn: (() => void)[] = [];
  const realWork: (() => Promise<void>)[] = [];
  let wall = startMs;

  const settle = async (): Promise<void> => {
    await eventLoopTurn();
    for (let i = 0; (turn.length > 0 || realWork.length > 0) && i < MAX_STEPS; i++) {
      if (turn.length > 0) turn.shift()?.();
      else await realWork.shift()?.();
      await eventLoopTurn();
    }
  };
  const moveTo = (at: number): void => {
    wall += at - timers.elapsed;
    timers.elapsed = at;
  };
  /** Runs timers up to `target` until `done()`; true once it holds. */
  const pass = async (target: number, done: () => boolean): Promise<boolean> => {
    await settle();
    for (let step = 0; step < MAX_STEPS; step++) {
      if (done()) return true;
      const entry = timers.take(target);
      if (entry === undefined) {
        if (Number.isFinite(target)) moveTo(target);
        return false;
      }
      moveTo(entry.at);
      entry.run();
      await settle();
    }
    throw new Error(`virtual time does not advance: ${MAX_STEPS} timers ran in one call`);
  };
  const runUntil = async (done: () => boolean, limitMs = Number.POSITIVE_INFINITY): Promise<boolean> => {
    const target = timers.elapsed + limitMs;
    for (let idle = 0; idle < MAX_IDLE_TURNS; idle++) {
      if (await pass(target, done)) return true;
      if (Number.isFinite(limitMs)) return false;
    }
    throw new Error("virtual time has nothing left to run, and the awaited condition does not hold");
  };

  return {
    now: () => wall,
    monotonic: () => timers.elapsed,
    after: (delayMs, run) => timers.add(delayMs, run),
    soon: (run) => void turn.push(run),
    async advance(ms) {
      await pass(timers.elapsed + Math.max(0, ms), () => false);
    },
    runUntil,
    async run(promise, limitMs) {
      let settled = false;
      const mark = (): void => void (settled = true);
      Promise.resolve(promise).then(mark, mark);
      if (!(await runUntil(() => settled, limitMs))) throw new Error(`still waiting after ${limitMs} ms of virtual time`);
      return promise;
    },
    jump(ms) {
      wall += ms;
    },
    pending: () => timers.live,
    settle,
    outside: (work) => new Promise((resolve, reject) => void realWork.push(() => work().then(resolve, reject))),
  };
}

interface Entry {
  readonly at: number;
  readonly seq: number;
  run: (() => void) | undefined;
}

interface Timers {
  elapsed: number;
  /** Timers neither run nor cancelled. */
  readonly live: number;
  add(delayMs: number, run: () => void): Timer;
  /** Removes and returns the earliest timer due by `until`; equal times in the order they were set. */
  take(until: number): { readonly at: number; run(): void } | undefined;
}

function createTimers(): Timers {
  const heap = createHeap<Entry>((a, b) => a.at < b.at || (a.at === b.at && a.seq < b.seq));
  let seq = 0;
  let live = 0;
  const timers: Timers = {
    elapsed: 0,
    get live() {
      return live;
    },
    add(delayMs, run) {
      const entry: Entry = { at: timers.elapsed + (Number.isNaN(delayMs) ? 0 : Math.max(0, delayMs)), seq: seq++, run };
      live++;
      heap.push(entry);
      return {
        cancel() {
          if (entry.run === undefined) return;
          entry.run = undefined;
          live--;
        },
      };
    },
    take(until) {
      for (let first = heap.peek(); first !== undefined && (first.run === undefined || first.at <= until); first = heap.peek()) {
        heap.pop();
        const { at, run } = first;
        if (run === undefined) continue;
        first.run = undefined; // cancelling it from now on does nothing
        live--;
        return { at, run };
      }
      return undefined;
    },
  };
  return timers;
}

/** All microtasks and ticks run before an immediate does, so promises have settled when this resolves. */
function eventLoopTurn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}
