/** What a store tells at the start that a person should know: a copy put back, work that nobody does any more. */
import type { Logger } from "../core/log.ts";
import type { Handle } from "../core/ids.ts";
import { TIMED } from "../outbox/intent.ts";
import type { Store } from "../store/store.ts";

/** Jobs counted for one specialist. */
const MAX_JOBS = 1_000;

export function warnRestored(log: Logger, from: number, doubts: number): void {
  const since = new Date(from).toISOString();
  log.warn(`the store was put back from a copy of ${since}: what may have been done since is looked for on the network first`, {
    doubts,
    hint: "halts, approvals, money spent and requests made since then are not known here: look before you rely on them",
  });
}

/** Whoever was renamed or taken away may owe jobs: its definition alone knows how they are done. */
export async function warnLeftBehind(log: Logger, store: Store, running: ReadonlySet<Handle>): Promise<void> {
  for (const handle of await store.handles()) {
    if (running.has(handle)) continue;
    const jobs = (await store.openWatches(handle, "job", MAX_JOBS)).length;
    const waiting = (await store.counts(handle)).reduce((sum, { state, count }) => sum + (TIMED.includes(state) ? count : 0), 0);
    if (jobs + waiting === 0) continue;
    log.warn(`${handle} has no definition any more, and leaves work behind that nobody does`, {
      jobs,
      actions: waiting,
      hint: "put its definition back under that handle until it is done, or do it by hand on the network",
    });
  }
}
