/** Bounds requests in flight to the number of sockets, so that no admitted request waits for one. */

export interface Semaphore {
  /** Takes a place: at once, or in order once there is one, where it returns a promise. Each place is left once. */
  take(): Promise<void> | undefined;
  leave(): void;
}

export function createSemaphore(count: number): Semaphore {
  let free = count;
  // A queue with a moving head: shifting an array of thousands would cost more than the request.
  let waiting: (() => void)[] = [];
  let head = 0;
  return {
    take() {
      if (free === 0) return new Promise((resolve) => void waiting.push(resolve));
      free--;
      return undefined;
    },
    leave() {
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
      next();
    },
  };
}
