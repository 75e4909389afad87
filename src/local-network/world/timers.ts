/** Timers of the network: one timer for everything due, earliest first. */
import type { Clock, Timer } from "../../core/clock.ts";
import { createHeap } from "../../core/priority-queue.ts";

/** Keys processed before the event loop gets a turn. */
const MAX_PER_TURN = 200;

export interface Timers {
  /** Marks `key` as due at `at`. An earlier mark for the same key stays: the callee checks what is due. */
  note(at: number, key: string): void;
  start(): void;
  stop(): void;
  readonly size: number;
}

interface Entry {
  readonly at: number;
  readonly seq: number;
  readonly key: string;
}

/** `run` gets each key once it is due. It must not throw. */
export function createTimers(clock: Clock, run: (key: string, now: number) => void): Timers {
  const entries = createHeap<Entry>((a, b) => a.at < b.at || (a.at === b.at && a.seq < b.seq));
  let seq = 0;
  let timer: Timer | undefined;
  let running = false;

  const arm = (): void => {
    timer?.cancel();
    timer = undefined;
    const first = entries.peek();
    if (running && first !== undefined) timer = clock.after(Math.max(0, first.at - clock.now()), work);
  };
  const work = (): void => {
    const now = clock.now();
    for (let i = 0; i < MAX_PER_TURN && running; i++) {
      const entry = entries.peek();
      if (entry === undefined || entry.at > now) break;
      entries.pop();
      run(entry.key, now);
    }
    arm();
  };
  return {
    note(at, key) {
      const entry = { at, seq: seq++, key };
      entries.push(entry);
      if (entries.peek() === entry) arm();
    },
    start() {
      running = true;
      arm();
    },
    stop() {
      running = false;
      arm();
    },
    get size() {
      return entries.size;
    },
  };
}
