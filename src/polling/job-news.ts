/** News of watched jobs without a separate check: from polled lists, and from the answer to a delivery. */
import type { Job, NetworkRecord } from "../contract/records.ts";
import { DAY, MINUTE } from "../core/units.ts";
import type { Member } from "../gateway/member.ts";
import type { PollingDependencies } from "./polling-dependencies.ts";
import { isOurs } from "./job-cadence.ts";
import { OFFERS_LIST } from "./list-readers.ts";
import { FOLLOWS, followedIn, keep, recordWatch, shownBy, sinceOf, type Followed, type Round } from "./record-watch.ts";
import { isOpen } from "./shared-lists.ts";
import type { JobState } from "./watch-state.ts";

/** Records the delivery of a job: it is no obligation now, and the answer may contain the verdict. */
export async function noteDelivery(parts: PollingDependencies, member: Member, object: string, record: NetworkRecord | undefined) {
  const { store, clock } = parts;
  const { handle } = member.specialist;
  const row = await store.findWatch(handle, "job", object);
  if (row === undefined || row.dueAt === null || (row.state !== "assigned" && row.state !== "rejected")) return;
  const round: Round = { parts, member, standings: await store.jobStandings(handle) };
  const now = clock.now();
  const before = followedIn(row, now);
  if (before.state.kind !== "job") return;
  const state = { ...before.state, progress: { ...before.state.progress, status: "submitted" } };
  const after = { ...before, status: "submitted", state: { ...state, followedAt: now } };
  const said = record === undefined ? undefined : shownBy(member, after.state, record, { now, networkNow: parts.networkNow() });
  if (said !== undefined && FOLLOWS.judged.includes(said.state)) return recordWatch(round, after, said, { record, isLook: false });
  const delivered = { state: "submitted", progressed: state, ended: false, events: [], news: true };
  return recordWatch(round, before, delivered, { record, isLook: false });
}

/** Applies the statuses of watched jobs in a polled list of jobs. */
export async function noteListed(parts: PollingDependencies, member: Member, items: readonly NetworkRecord[]): Promise<void> {
  const { store, clock } = parts;
  const { handle } = member.specialist;
  const jobs = new Map(items.flatMap((item) => (item.kind === "job" ? [[item.id, item] as const] : [])));
  const left = member.keyId === undefined ? new Map<string, number>() : parts.shared.left(OFFERS_LIST, member.keyId);
  const followed = [
    ...(await store.watchesOf(handle, "job", [...jobs.keys(), ...left.keys()])),
    ...(member.specialist.may.includes("jobs.create") ? await store.watchesOf(handle, "own_job", [...jobs.keys()]) : []),
  ].filter(({ dueAt }) => dueAt !== null);
  if (followed.length === 0) return;
  const round: Round = { parts, member, standings: await store.jobStandings(handle) };
  for (const row of followed) {
    const now = clock.now();
    const before = followedIn(row, now);
    const { state, status } = before;
    const record = jobs.get(row.object);
    if (state.kind === "job" && record !== undefined) doubtOffers(parts, before, record);
    else if (state.kind === "job" && status === "applied" && (left.get(row.object) ?? 0) > (state.lookedAt ?? now))
      await lookNow(parts, member, { ...before, state });
    const shown = record && shownBy(member, state, record, { now, networkNow: parts.networkNow() });
    const isLagging = shown !== undefined && (state.kind === "job" ? !isForward(status, shown.state) : status === "rejected");
    if (shown?.news !== true || isLagging) continue;
    // A list may lack the input or the reason of a rejection: the job itself is read at once.
    if (state.kind === "job" && (shown.state === "assigned" || shown.state === "rejected")) {
      await lookNow(parts, member, { ...before, state });
    } else await recordWatch(round, before, shown, { record, isLook: true });
  }
}

/** Knowledge of an application counts from its last check; of anything else that was reported, from now. */
async function lookNow(parts: PollingDependencies, member: Member, before: Followed<JobState>): Promise<void> {
  const nudged = before.status === "applied" ? { planned: true } : { lookedAt: undefined };
  await keep(parts, member, { ...before, state: { ...before.state, ...nudged }, dueAt: parts.clock.now() });
  parts.wake(member, "watches");
}

/** Time for which a list is not relied on, after it showed a job of ours as open. */
const DOUBT_MS = DAY;
/** Some lists are answered from a cache for a while. */
const LAG_MS = MINUTE;

/** A list that shows a job of ours as open cannot be relied on. */
function doubtOffers({ clock, shared, log }: PollingDependencies, { status, state, object }: Followed, record: Job): void {
  const now = clock.now();
  if (!isOurs(status) || !isOpen(record) || now - sinceOf(state, now) <= LAG_MS) return;
  shared.doubt(OFFERS_LIST, now + DOUBT_MS);
  log.info("the list of jobs shows open what is taken: jobs applied for are asked for one by one for a day", { job: object });
}

/** In the order of a job's states; a list may lag behind. */
const ORDER: readonly string[] = ["applied", "assigned", "submitted", "rejected", "accepted", "paid"];

function isForward(before: string, after: string): boolean {
  return !ORDER.includes(after) || ORDER.indexOf(after) > ORDER.indexOf(before);
}
