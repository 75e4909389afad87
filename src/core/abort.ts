/** One listener for each signal, whatever the number of those who wait for it: a listener costs more than most of what they do. */

const waiting = new WeakMap<AbortSignal, Set<() => void>>();

/** Calls `run` once when the signal, which is not aborted yet, is aborted. Returns the call that takes it back. */
export function onAbort(signal: AbortSignal, run: () => void): () => void {
  const all = waiting.get(signal) ?? listen(signal);
  // A function of its own for each call: the same one may be given twice.
  const once = (): void => run();
  all.add(once);
  return () => void all.delete(once);
}

function listen(signal: AbortSignal): Set<() => void> {
  const all = new Set<() => void>();
  waiting.set(signal, all);
  signal.addEventListener("abort", () => all.forEach((run) => run()), { once: true });
  return all;
}
