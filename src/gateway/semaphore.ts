/** Places for requests under way: one for each socket, so that nothing that was admitted waits for one. */

export interface Semaphore {
  /** Resolves, in the order of asking, once there is a place; whoever has it calls what it was given, once, to leave. */
  take(): Promise<() => void>;
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
  return {
    take() {
      if (free === 0) return new Promise((resolve) => void waiting.push(resolve));
      free--;
      return Promise.resolve(leave);
    },
  };
}
