/** Days in seconds for code that reads the real clock: takes the place of this process's Date and timers, before that code is loaded. */
import { createHeap } from "../../src/core/priority-queue.ts";

interface Entry {
  readonly id: number;
  readonly at: number;
  readonly seq: number;
  readonly everyMs: number | undefined;
  readonly run: () => void;
}

export interface VirtualTime {
  now(): number;
  /** Lets time pass up to `at`, one timer after the other, promises settling in between. */
  runUntil(at: number): Promise<void>;
  /** No timer set so far will ever run: what set it is gone, as with its process. */
  forget(): void;
}

/** Turns of the real event loop for promises and grouped commits to settle before time goes on. */
const SETTLE_TURNS = 10;

/** `busy` says that something real, such as a write to the disk, is under way: time stands still until it is over. */
export function takeOverTime(startMs: number, busy: () => boolean = () => false): VirtualTime {
  const heap = createHeap<Entry>((a, b) => a.at < b.at || (a.at === b.at && a.seq < b.seq));
  const live = new Map<number, Entry>();
  const RealDate = Date;
  let now = startMs;
  let ids = 0;
  let seq = 0;

  const set = (
    run: () => void,
    delayMs: number | undefined,
    everyMs: number | undefined,
    id = ++ids,
  ): { [Symbol.toPrimitive](): number } => {
    const entry: Entry = { id, at: now + Math.max(1, Number(delayMs) || 1), seq: seq++, everyMs, run };
    live.set(id, entry);
    heap.push(entry);
    const handle = { ref: () => handle, unref: () => handle, hasRef: () => true, refresh: () => handle, [Symbol.toPrimitive]: () => id };
    return handle;
  };
  const clear = (handle: unknown): void => void (handle === undefined || handle === null || live.delete(Number(handle)));
  class VirtualDate extends RealDate {
    constructor(...args: readonly unknown[]) {
      super(...((args.length === 0 ? [now] : args) as [number]));
    }
    static override now(): number {
      return now;
    }
  }
  Object.assign(globalThis, {
    Date: VirtualDate,
    setTimeout: (run: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) => set(() => run(...args), ms, undefined),
    setInterval: (run: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) => set(() => run(...args), ms, Math.max(1, ms ?? 1)),
    clearTimeout: clear,
    clearInterval: clear,
  });
  Object.defineProperty(performance, "now", { value: () => now - startMs });

  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < SETTLE_TURNS; turn = busy() ? 0 : turn + 1) await new Promise<void>((resolve) => void setImmediate(resolve));
  };
  return {
    now: () => now,
    forget: () => live.clear(),
    async runUntil(at) {
      await settle();
      for (let first = heap.peek(); first !== undefined && first.at <= at; first = heap.peek()) {
        heap.pop();
        if (live.get(first.id) !== first) continue;
        live.delete(first.id);
        now = Math.max(now, first.at);
        if (first.everyMs !== undefined) set(first.run, first.everyMs, first.everyMs, first.id);
        first.run();
        await settle();
      }
      now = Math.max(now, at);
    },
  };
}
