/** One simulated process: its ports fall silent when it ends, and wait while it is frozen. */
import type { Handle } from "../core/ids.ts";
import type { Clock, Timer } from "../core/clock.ts";
import type { LogFields, Logger, LogLevel } from "../core/log.ts";
import type { Store } from "../store/store.ts";
import type { StoreSession } from "./store-session.ts";

export interface ProcessOptions {
  /** The clock of the simulated world. */
  readonly clock: Clock;
  /** Error of the machine's wall clock, in ms. */
  readonly skewMs: () => number;
  /** Delay of the next timer, in ms: no timer fires on time. */
  readonly latenessMs: () => number;
  /** Called at every boundary: returns true if the process dies there. */
  readonly dies: (point: string) => boolean;
  readonly onDeath: (point: string) => void;
}

export interface SimulatedProcess {
  /** The machine's clock, whose timers die with the process. */
  readonly clock: Clock;
  /** Calls out of the process, which may die before or after the call and never sees an answer that comes after its death. */
  outside<T>(point: string, call: () => Promise<T>): Promise<T>;
  /** Calls out of the process that answer at once. It may die before or after; its code then ends with `ProcessEnded`. */
  atOnce<T>(point: string, call: () => T): T;
  /** A log that gets no line after the process has died, or while the condition does not hold. */
  logOf(log: Logger, isHeard?: () => boolean): Logger;
  /** Calls into the process once it runs. The process may die before or during the call; the caller then waits for ever. */
  into<T>(point: string, call: () => Promise<T>): Promise<T>;
  /** Freezes the process until `resume()`, like SIGSTOP. Calls and timers meanwhile arrive on resume. */
  freeze(): void;
  resume(): void;
  end(point: string): void;
  /** Ends it without a report: its machine's death is known, or it has finished its work. */
  leave(): void;
}

export function beginProcess({ clock, skewMs, latenessMs, dies, onDeath }: ProcessOptions): SimulatedProcess {
  let alive = true;
  let frozen: (() => void)[] | undefined;

  const leave = (): void => {
    alive = false;
    frozen = undefined;
  };
  const end = (point: string): void => {
    if (!alive) return;
    leave();
    onDeath(point);
  };
  const passes = (point: string): boolean => {
    if (alive && dies(point)) end(point);
    return alive;
  };
  /** Runs now or on resume; never after the process has died. */
  const inside = (run: () => void): void => {
    if (!alive) return;
    if (frozen === undefined) run();
    else frozen.push(run);
  };
  const answered = <T>(point: string, call: () => Promise<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      const arrive = (deliver: () => void): void => inside(() => void (passes(around(point).after) && inside(deliver))); // it may freeze there
      call().then(
        (value) => arrive(() => resolve(value)),
        (error: unknown) => arrive(() => reject(error as Error)),
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
      // Queued writes that are not yet written when the process dies are lost.
      soon: (run) => clock.soon(() => inside(() => void (passes("soon") && run()))),
    },
    outside: (point, call) => (passes(around(point).before) ? answered(point, call) : never()),
    atOnce(point, call) {
      const { before, after: over } = around(point);
      if (!passes(before)) throw new ProcessEnded();
      const result = call();
      if (!passes(over)) throw new ProcessEnded();
      return result;
    },
    logOf: (log, isHeard = () => true) => logWhile(() => alive && isHeard(), log),
    into: (point, call) =>
      new Promise((resolve, reject) => inside(() => void (passes(around(point).before) && answered(point, call).then(resolve, reject)))),
    freeze() {
      if (alive) frozen ??= [];
    },
    resume() {
      const waiting = frozen;
      frozen = undefined;
      waiting?.forEach(inside);
    },
    end,
    leave,
  };
}

interface Boundaries {
  readonly before: string;
  readonly after: string;
}

const boundaries = new Map<string, Boundaries>();

/** The names of the boundaries around a call, which are few: a new text for each call would be hashed again at each boundary. */
function around(point: string): Boundaries {
  let known = boundaries.get(point);
  if (known === undefined) boundaries.set(point, (known = { before: `before ${point}`, after: `after ${point}` }));
  return known;
}

function logWhile(isAlive: () => boolean, log: Logger): Logger {
  const line =
    (level: LogLevel) =>
    (message: string, fields?: LogFields): void =>
      void (isAlive() && log[level](message, fields));
  const child = (fields: LogFields): Logger => logWhile(isAlive, log.child(fields));
  return { debug: line("debug"), info: line("info"), warn: line("warn"), error: line("error"), child };
}

/** Ends the code of a dead process that would go on in the same turn. */
class ProcessEnded extends Error {}

/** A promise that never settles, as seen by a dead process. */
function never<T>(): Promise<T> {
  return new Promise<T>(() => undefined);
}

type Operation = Exclude<keyof Store, "reads" | (typeof OF_PAST)[number]>;
/** They read and write nothing. */
const OF_PAST = ["pastOf", "awaitsPast"] as const;
type AtOnce = { [Name in Operation]: ReturnType<Store[Name]> extends Promise<unknown> ? never : Name }[Operation];

/** Operations of the store that answer at once. */
const AT_ONCE: { readonly [name in AtOnce]: true } = {
  claimEvents: true,
  complete: true,
  dueIntents: true,
  dueWork: true,
  expireIntents: true,
  finishRun: true,
  hasWaiting: true,
  loadState: true,
  nextLastTry: true,
  nextDue: true,
  parkEvent: true,
  readHere: true,
  requireCurrent: true,
  retryEvent: true,
  endHold: true,
  supersede: true,
};

export interface StoreUse {
  /** Gets every completed operation, even if the process died meanwhile. */
  readonly onCommit: (operation: string) => void;
  /** Default: the store is a file of this process alone. */
  readonly session?: StoreSession | undefined;
}

/** Wraps the store for a living process. */
export function storeOf(process: SimulatedProcess, store: Store, { onCommit, session }: StoreUse): Store {
  const wrapped = new Map<string | symbol, unknown>();
  const living: Store = new Proxy(store, {
    get(target, name) {
      if (name === "reads") return living; // they are operations of the store itself too
      const ofPast = OF_PAST.find((one) => one === name);
      if (ofPast !== undefined) return (specialist: Handle) => target[ofPast](specialist);
      const known = wrapped.get(name);
      if (known !== undefined) return known;
      const operation: unknown = Reflect.get(target, name);
      if (typeof operation !== "function") return operation;
      const label = String(name);
      const call = (args: unknown[]): unknown => {
        if (session?.lost !== undefined) throw session.lost;
        return Reflect.apply(operation, target, args) as unknown;
      };
      const later = (...args: unknown[]): Promise<unknown> =>
        process.outside(label, async () => {
          const answer = call(args);
          const result = await (session === undefined ? answer : session.during(Promise.resolve(answer)));
          onCommit(label);
          return result;
        });
      const atOnce = (...args: unknown[]): unknown =>
        process.atOnce(label, () => {
          const result = call(args);
          onCommit(label);
          return result;
        });
      const wrapper = Object.hasOwn(AT_ONCE, label) ? atOnce : later;
      wrapped.set(name, wrapper);
      return wrapper;
    },
  });
  return living;
}
