/** One life of a simulated process: its ports fall silent for ever when it ends, and stand still while it is stopped. */
import type { Clock, Timer } from "../core/clock.ts";
import type { Store } from "../store/store.ts";

export interface ProcessOptions {
  /** The world's. */
  readonly clock: Clock;
  /** How far the machine's wall clock is off, in ms. */
  readonly skewMs: () => number;
  /** How late the next timer is, in ms: none is ever on time. */
  readonly latenessMs: () => number;
  /** Asked at every boundary: whether the process dies right there. */
  readonly dies: (point: string) => boolean;
  readonly onDeath: (point: string) => void;
}

export interface SimulatedProcess {
  /** The machine's clock, whose timers die with the process. */
  readonly clock: Clock;
  /** A call out of the process: it may die before it or after it, and never hears of what comes too late. */
  outside<T>(point: string, call: () => Promise<T>): Promise<T>;
  /** A call into the process, which takes it once it runs: it may die before it or over it, and then the caller never hears of it. */
  into<T>(point: string, call: () => Promise<T>): Promise<T>;
  /** Nothing in the process runs until `resume()`, as under SIGSTOP. What happens meanwhile arrives then. */
  freeze(): void;
  resume(): void;
  end(point: string): void;
}

export function beginProcess({ clock, skewMs, latenessMs, dies, onDeath }: ProcessOptions): SimulatedProcess {
  let alive = true;
  let frozen: (() => void)[] | undefined;

  const end = (point: string): void => {
    if (!alive) return;
    alive = false;
    frozen = undefined;
    onDeath(point);
  };
  const passes = (point: string): boolean => {
    if (alive && dies(point)) end(point);
    return alive;
  };
  /** Runs now, or once the process goes on; never after its death. */
  const inside = (run: () => void): void => {
    if (!alive) return;
    if (frozen === undefined) run();
    else frozen.push(run);
  };
  const hearing = <T>(point: string, call: () => Promise<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      const come = (settle: () => void): void => inside(() => void (passes(`after ${point}`) && settle()));
      call().then(
        (value) => come(() => resolve(value)),
        (error: unknown) => come(() => reject(error as Error)),
      );
    });
  const after = (delayMs: number, run: () => void): Timer => {
    let cancelled = false;
    const timer = clock.after(delayMs + latenessMs(), () => inside(() => void (cancelled || run())));
    return {
      cancel() {
        cancelled = true;
        timer.cancel();
      },
    };
  };

  return {
    clock: {
      now: () => clock.now() + skewMs(),
      monotonic: () => clock.monotonic(),
      after,
      // What was queued to be written and is not yet written when the process dies is lost.
      soon: (run) => clock.soon(() => inside(() => void (passes("soon") && run()))),
    },
    outside(point, call) {
      return passes(`before ${point}`) ? hearing(point, call) : never();
    },
    into: (point, call) =>
      new Promise((resolve, reject) => inside(() => void (passes(`before ${point}`) && hearing(point, call).then(resolve, reject)))),
    freeze() {
      if (alive) frozen ??= [];
    },
    resume() {
      const waiting = frozen ?? [];
      frozen = undefined;
      for (const run of waiting) inside(run);
    },
    end,
  };
}

/** What a dead process waits for. */
function never<T>(): Promise<T> {
  return new Promise<T>(() => undefined);
}

/** The store as a living process sees it. `onCommit` is told of every operation that came to an end, whoever still hears of it. */
export function storeOf(life: SimulatedProcess, store: Store, onCommit: (operation: string) => void): Store {
  const wrapped = new Map<string | symbol, unknown>();
  return new Proxy(store, {
    get(target, name) {
      const known = wrapped.get(name);
      if (known !== undefined) return known;
      const operation: unknown = Reflect.get(target, name);
      if (typeof operation !== "function") return operation;
      const label = String(name);
      const wrapper = (...args: unknown[]): Promise<unknown> =>
        life.outside(label, async () => {
          const result: unknown = await Reflect.apply(operation, target, args);
          onCommit(label);
          return result;
        });
      wrapped.set(name, wrapper);
      return wrapper;
    },
  });
}
