/** Bounds requests in flight to the number of sockets, so that no admitted request waits for one. */

export interface Semaphore {
  /** Resolves, in order, once there is a place, with the function that releases it. Call that once. */
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
