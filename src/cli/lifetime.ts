/** Lifetime of a command: it ends after its time or on a signal; a second signal ends it at once. */
import { sleep, type Clock } from "../core/clock.ts";

export type End = "time" | "asked" | "lost";

export interface Lifetime {
  /** Resolves with the reason for the end. */
  readonly over: Promise<End>;
  /** Resolves once its time is over or a person asks for the end, also if it was lost before. */
  readonly asked: Promise<void>;
  /** True from then on. */
  readonly isAsked: boolean;
  /** Ends it from inside: by another request, or because it cannot continue. */
  end(why: End): void;
  /** Removes the signal handlers. */
  close(): void;
}

const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
type Signal = keyof typeof SIGNALS;
/** Ctrl-C under npm arrives twice: from the terminal, and forwarded by npm. Both count as one signal. */
const SAME_WISH_MS = 500;

/** Listens for signals from now on. `lastWords` restores the terminal when a second signal ends the process at once. */
export function openLifetime(clock: Clock, options: { readonly forMs?: number; readonly lastWords?: () => void } = {}): Lifetime {
  const { promise: over, resolve } = Promise.withResolvers<End>();
  const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
  let isAsked = false;
  const end = (why: End): void => {
    resolve(why);
    if (why === "lost") return;
    isAsked = true;
    ask();
  };
  const closing = new AbortController();
  let askedAt: number | undefined;
  const onSignal = (signal: Signal): void => {
    if (askedAt !== undefined && clock.monotonic() - askedAt > SAME_WISH_MS) {
      options.lastWords?.();
      process.exit(SIGNALS[signal]);
    }
    askedAt ??= clock.monotonic();
    end("asked");
  };
  for (const signal of signalNames()) process.on(signal, onSignal);
  if (options.forMs !== undefined) void sleep(clock, options.forMs, closing.signal).then(() => end("time"));
  return {
    over,
    asked,
    get isAsked() {
      return isAsked;
    },
    end,
    close() {
      closing.abort();
      for (const signal of signalNames()) process.off(signal, onSignal);
    },
  };
}

function signalNames(): Signal[] {
  return ["SIGINT", "SIGTERM", "SIGHUP"];
}
