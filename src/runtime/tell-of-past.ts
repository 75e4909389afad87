/** Tells in the log that specialists wait for their past, if it takes a while to read it. */
import { sleep, type Clock } from "../core/clock.ts";
import type { Logger } from "../core/log.ts";
import { SECOND, showDuration } from "../core/units.ts";

export interface PastShown {
  /** Shards whose specialists wait. */
  readonly missing: number;
  /** Resolves once none waits; undefined if none does. */
  readonly decided: Promise<void> | undefined;
}

/** A shorter time is not worth a line. */
const TOLD_AFTER_MS = 2 * SECOND;

/** Resolves when it is read, or its store is closed before. */
export async function tellOfPast(past: PastShown, clock: Clock, log: Logger): Promise<void> {
  const began = clock.monotonic();
  const over = new AbortController();
  const read = past.decided?.then(
    () => true,
    () => false, // whoever closed the store says why
  );
  if (read === undefined) return;
  void read.finally(() => over.abort());
  await sleep(clock, TOLD_AFTER_MS, over.signal);
  if (over.signal.aborted) return;
  log.info("the past of specialists is still being read from the server: each begins once its own is here", { shards: past.missing });
  if (await read) log.info("all specialists of these shards can begin", { after: showDuration(Math.round(clock.monotonic() - began)) });
}
