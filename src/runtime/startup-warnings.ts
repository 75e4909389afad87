/** Warnings at the start: a restored copy, work left by removed specialists, a clock that is off. */
import type { Logger } from "../core/log.ts";
import type { Handle } from "../core/ids.ts";
import { TIMED } from "../outbox/intent.ts";
import { copyTime } from "../store/copy-time.ts";
import type { Store } from "../store/store.ts";

/** Jobs counted for one specialist. */
const MAX_JOBS = 1_000;

export function warnRestored(log: Logger, from: number, doubts: number): void {
  log.warn(
    `the store was restored from a copy of ${copyTime(from)}: actions that may have been done since are checked on the network first`,
    {
      doubts,
      hint: "halts, approvals, spending and requests since then are unknown here: check before you rely on them",
    },
  );
}

/** Warns of jobs owed by renamed or removed specialists: only their definitions know how to do them. */
export async function warnLeftBehind(log: Logger, store: Store, running: ReadonlySet<Handle>, now: number): Promise<void> {
  for (const handle of await store.handles()) {
    if (running.has(handle)) continue;
    const { counts = [] } = (await store.overview(now, handle)).get(handle) ?? {};
    const jobs = (await store.openWatches(handle, "job", MAX_JOBS)).length;
    const waiting = counts.reduce((sum, { state, count }) => sum + (TIMED.includes(state) ? count : 0), 0);
    if (jobs + waiting === 0) continue;
    log.warn(`${handle} no longer has a definition, and leaves unfinished work behind`, {
      jobs,
      actions: waiting,
      hint: "restore its definition under that handle until it is done, or do it by hand on the network",
    });
  }
}
