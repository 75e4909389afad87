/** Notes in a watched job that a delivery reported its rejection, for networks whose jobs then read as in progress again. */
import { readWatchState, storeWatchState } from "../polling/watch-state.ts";
import type { Member } from "../gateway/member.ts";
import type { WebhookDependencies } from "./webhook-dependencies.ts";

/** Returns false while the job is being read, since the end of that read would overwrite the note. */
export async function noteRejection(
  { store, clock, isBusy }: Pick<WebhookDependencies, "store" | "clock" | "isBusy">,
  member: Member,
  object: string,
  delivery: string,
): Promise<boolean> {
  const { handle } = member.specialist;
  const row = await store.findWatch(handle, "job", object);
  if (row === undefined || row.dueAt === null) return true;
  if (isBusy(member, "watches")) return false;
  const now = clock.now();
  const state = readWatchState(row, now);
  if (state.kind !== "job" || state.progress.heardRejected === delivery) return true;
  const data = storeWatchState({ ...state, progress: { ...state.progress, toldRejected: delivery } });
  await store.putEvents(
    { events: [], watches: [{ specialist: handle, kind: "job", object, state: row.state, data, dueAt: row.dueAt }] },
    now,
  );
  return true;
}
