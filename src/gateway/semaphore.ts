/** Places for what is under way: a request for each socket, so that nothing that was admitted waits for one; or a handler. */

export interface Semaphore {
  /** Resolves, in the order of asking, once there is a place; whoever has it calls what it was given, once, to leave. */
  take(): Promise<() => void>;
  /** A place now; undefined where there is none, and then whoever asks has to wait as all others. */
  takeNow(): (() => void) | undefined;
}

export function createSemaphore(count: number): Semaphore {
  let free = count;
  // A queue with a moving head: shifting an array of thousands would cost more than the request.
  let waiting: ((leave: () => void) => void)[] = [];
  let head = 0;
  const leave = (): void => {
    const next = waiting[head];
    if (next === undefined) {
      free++;
      return;
    }
    head++;
    if (head === waiting.length) {
      waiting = [];
      head = 0;
    }
    next(leave);
  };
  const takeNow = (): (() => void) | undefined => {
    if (free === 0) return undefined;
    free--;
    return leave;
  };
  return {
    takeNow,
    take() {
      const now = takeNow();
      return now === undefined ? new Promise((resolve) => void waiting.push(resolve)) : Promise.resolve(now);
    },
  };
}
