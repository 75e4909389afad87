/** Work with a deadline of its own, within a longer one. */
import { onAbort } from "./abort.ts";
import type { Clock } from "./clock.ts";

export interface Deadline {
  readonly lengthMs: number;
  /** Aborts the work as well. */
  readonly signal: AbortSignal;
  /** The error at the deadline. */
  readonly late: () => Error;
}

/** Runs the work with a signal that is aborted at its deadline, or with the given one. Rejects with `late` at the deadline, whatever the work does. */
export async function within<Result>(
  clock: Clock,
  { lengthMs, signal, late }: Deadline,
  work: (signal: AbortSignal) => Result | Promise<Result>,
): Promise<Result> {
  const own = new AbortController();
  const over = Promise.withResolvers<never>();
  const timer = clock.after(lengthMs, () => {
    const error = late();
    over.reject(error);
    own.abort(error);
  });
  if (signal.aborted) own.abort(signal.reason);
  const forget = signal.aborted ? undefined : onAbort(signal, () => own.abort(signal.reason));
  try {
    return await Promise.race([work(own.signal), over.promise]);
  } finally {
    timer.cancel();
    forget?.();
  }
}
