/** How long a command lives: until its time is over, or somebody asks it to end; asked twice, it ends at once. */
import { sleep, type Clock } from "../core/clock.ts";

export type End = "time" | "asked" | "lost";

export interface Lifetime {
  /** Resolves with why it is over. */
  readonly over: Promise<End>;
  /** Ends it from inside: somebody asked by other means, or it cannot go on. */
  end(why: End): void;
  /** Takes the signal handlers away. */
  close(): void;
}

const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
type Signal = keyof typeof SIGNALS;
/** Ctrl-C under npm comes twice: from the terminal, and passed on by npm. That is one wish. */
const SAME_WISH_MS = 500;

/** Listens for signals from now on. `lastWords` puts the terminal in order when a second signal ends the process at once. */
export function openLifetime(clock: Clock, options: { readonly forMs?: number; readonly lastWords?: () => void } = {}): Lifetime {
  const { promise: over, resolve } = Promise.withResolvers<End>();
  const closing = new AbortController();
  let askedAt: number | undefined;
  const onSignal = (signal: Signal): void => {
    if (askedAt !== undefined && clock.monotonic() - askedAt > SAME_WISH_MS) {
      options.lastWords?.();
      process.exit(SIGNALS[signal]);
    }
    askedAt ??= clock.monotonic();
    resolve("asked");
  };
  for (const signal of signalNames()) process.on(signal, onSignal);
  if (options.forMs !== undefined) void sleep(clock, options.forMs, closing.signal).then(() => resolve("time"));
  return {
    over,
    end: resolve,
    close() {
      closing.abort();
      for (const signal of signalNames()) process.off(signal, onSignal);
    },
  };
}

function signalNames(): Signal[] {
  return ["SIGINT", "SIGTERM", "SIGHUP"];
}
