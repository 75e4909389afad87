/** What a store tells at the start that a person should know: another network, a copy put back, work that nobody does any more. */
import type { Logger } from "../core/log.ts";
import type { Handle } from "../core/ids.ts";
import type { Store } from "../store/store.ts";

/** Jobs counted for one specialist. */
const MAX_JOBS = 1_000;
/** States in which an action goes on only where its specialist runs. */
const WAITING: readonly string[] = ["ready", "in_doubt"];

export function warnRestored(log: Logger, from: number, doubts: number): void {
  const since = new Date(from).toISOString();
  log.warn(`the store was put back from a copy of ${since}: what may have been done since is looked for on the network first`, {
    doubts,
    hint: "halts, approvals, money spent and requests made since then are not known here: look before you rely on them",
  });
}

/** Ids mean nothing elsewhere: what has one that is known here is taken for handled, and what waits is sent to what has that id there. */
export function warnMoved(log: Logger, before: string | undefined, now: string): void {
  if (before === undefined || before === now) return;
  log.warn(`the store was used on ${before} before, and is used on ${now} now`, {
    hint: "if that is another network, stop and give it a store of its own (--store): what has an id that is known here would not be handled, and what waits would be sent there",
  });
}

/** Whoever was renamed or taken away may owe jobs: its definition alone knows how they are done. */
export async function warnLeftBehind(log: Logger, store: Store, running: ReadonlySet<Handle>): Promise<void> {
  for (const handle of await store.handles()) {
    if (running.has(handle)) continue;
    const jobs = (await store.openWatches(handle, "job", MAX_JOBS)).length;
    const waiting = (await store.counts(handle)).reduce((sum, { state, count }) => sum + (WAITING.includes(state) ? count : 0), 0);
    if (jobs + waiting === 0) continue;
    log.warn(`${handle} has no definition any more, and leaves work behind that nobody does`, {
      jobs,
      actions: waiting,
      hint: "put its definition back under that handle until it is done, or do it by hand on the network",
    });
  }
}
