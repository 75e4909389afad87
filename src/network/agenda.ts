/** What the network itself will do and when: one timer for everything due, earliest first. */
import type { Clock, Timer } from "../core/clock.ts";

/** Things done in one go before the event loop gets a turn. */
const MAX_PER_TURN = 200;

export interface Agenda {
  /** Notes that `key` is due at `at`. An earlier note for the same key stands too: whoever is called checks what is due. */
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

/** `run` is called with each key once its time has come. It must not throw. */
export function createAgenda(clock: Clock, run: (key: string, now: number) => void): Agenda {
  const entries: Entry[] = [];
  let seq = 0;
  let timer: Timer | undefined;
  let running = false;

  const arm = (): void => {
    timer?.cancel();
    timer = undefined;
    const first = entries[0];
    if (running && first !== undefined) timer = clock.after(Math.max(0, first.at - clock.now()), work);
  };
  const work = (): void => {
    const now = clock.now();
    for (let i = 0; i < MAX_PER_TURN && running && entries[0] !== undefined && entries[0].at <= now; i++) {
      const entry = takeFirst(entries);
      if (entry !== undefined) run(entry.key, now);
    }
    arm();
  };
  return {
    note(at, key) {
      const entry = { at, seq: seq++, key };
      insert(entries, entry);
      if (entries[0] === entry) arm();
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
      return entries.length;
    },
  };
}

function earlier(a: Entry, b: Entry): boolean {
  return a.at < b.at || (a.at === b.at && a.seq < b.seq);
}

function insert(heap: Entry[], entry: Entry): void {
  let at = heap.push(entry) - 1;
  while (at > 0) {
    const parent = (at - 1) >> 1;
    const above = heap[parent];
    if (above === undefined || earlier(above, entry)) break;
    heap[at] = above;
    at = parent;
  }
  heap[at] = entry;
}

function takeFirst(heap: Entry[]): Entry | undefined {
  const first = heap[0];
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return first;
  let at = 0;
  for (let child = 1; child < heap.length; child = 2 * at + 1) {
    const left = heap[child];
    const right = heap[child + 1];
    if (left === undefined) break;
    const below = right !== undefined && earlier(right, left) ? right : left;
    if (earlier(last, below)) break;
    heap[at] = below;
    at = below === left ? child : child + 1;
  }
  heap[at] = last;
  return first;
}
