/** Stores the state of a watched object that a check, a list or a delivery has shown, learns from it, and sets the next check. */
import type { NewEvent, WatchWrite } from "../contract/event.ts";
import type { NetworkRecord } from "../contract/records.ts";
import { DAY, HOUR, MINUTE } from "../core/units.ts";
import type { Member } from "../gateway/member.ts";
import { handlerOf } from "../specialist/handlers.ts";
import type { WatchRow } from "../store/sources.ts";
import { watchPauseMs } from "./interval.ts";
import {
  pauseUntilGiven,
  pauseUntilNews,
  pauseUntilTakenBack,
  stageOf,
  UNKNOWN_UNTIL_MS,
  type JobStage,
  type Wait,
} from "./job-cadence.ts";
import { followJob } from "./job-events.ts";
import { followOwnJob } from "./own-job-events.ts";
import { feedReader, OFFERS_LIST } from "./list-readers.ts";
import type { PollingDependencies } from "./polling-dependencies.ts";
import { followThread, type Times } from "./thread-events.ts";
import type { WatchChange } from "./watch-change.ts";
import { readWatchState, seenIn, storeWatchState, type WatchState } from "./watch-state.ts";

/** A job with a rejected deliverable is given up after this time without news. */
const REJECTED_MS = HOUR;
/** Factor on the checks' interval while webhooks report changes. */
const WEBHOOKS_RELAX = 4;
/** A watch ends after this time without news. */
export const LONGEST_MS = 30 * DAY;

/** Data of one round of checks. */
export interface Round {
  readonly parts: PollingDependencies;
  readonly member: Member;
  /** Number of jobs by status. */
  readonly standings: ReadonlyMap<string, number>;
}

/** A watched object as its row is, or will be. */
export interface Followed<State extends WatchState = WatchState> {
  readonly object: string;
  readonly status: string;
  readonly state: State;
  readonly dueAt: number | null;
}

/** The shown state, and the progress since the stored one. */
export type Shown = Omit<WatchChange<unknown>, "progress"> & { readonly progressed: WatchState };

export function followedIn(row: WatchRow, now: number): Followed {
  return { object: row.object, status: row.state, state: readWatchState(row, now), dueAt: row.dueAt };
}

/** Stores the shown state of a watched object, and the time of its next check. */
export async function recordWatch(
  round: Round,
  before: Followed,
  shown: Shown,
  { record, isLook }: { readonly record: NetworkRecord | undefined; readonly isLook: boolean },
): Promise<void> {
  const { parts, member } = round;
  const { clock, announcer } = parts;
  const { handle } = member.specialist;
  const now = clock.now();
  const { progressed, state: status, news } = shown;
  const hasLearnt = learn(parts, before, status, now);
  const followedAt = news ? now : sinceOf(before.state, now);
  const counted = { looks: news ? 0 : before.state.looks + 1, followedAt };
  const state =
    progressed.kind === "job" ? { ...progressed, ...counted, lookedAt: now, deferred: 0, planned: false } : { ...progressed, ...counted };
  const isOver = shown.ended || now - followedAt > LONGEST_MS || (status === "rejected" && now - followedAt > REJECTED_MS);
  const dueAt = isOver ? null : now + (await pauseMs(round, { object: before.object, status, state }, now));
  const fresh = await keep(parts, member, { object: before.object, status, state, dueAt }, shown.events);
  if (state.kind === "job" && (news || isOver)) await endStake(parts, member, before.object, status, isOver);
  if (state.kind === "job" && news)
    announcer.emit("job", { at: now, handle, job: before.object, state: status, ...titleOf(record), ...reasonIn(record, status) });
  if (isLook) parts.coverage.found(handle, fresh);
  if (fresh.length > 0) parts.wake(member, "events");
  if (hasLearnt && before.status === "applied") await planAgain(round);
}

/** The stake of an application comes back in some states of its job, and is spent in any other final one. */
async function endStake(
  { store, profile, clock }: PollingDependencies,
  { specialist }: Member,
  job: string,
  status: string,
  isOver: boolean,
) {
  const returned = profile.operations.get("jobs.apply")?.returned;
  const isReturned = returned?.includes(status) === true;
  if (returned === undefined || !(isReturned || isOver)) return;
  await store.endStakes({ specialist: specialist.handle, operation: "jobs.apply", target: job }, isReturned, clock.now());
}

/** Most watches that are rescheduled at once. */
const MAX_PLANNED_AGAIN = 1_000;

/** Reschedules the checks of jobs that were applied for before the delay was known. */
async function planAgain(round: Round): Promise<void> {
  const { parts, member } = round;
  const { store, clock } = parts;
  const { handle } = member.specialist;
  const now = clock.now();
  const watches: WatchWrite[] = [];
  for (const row of await store.openWatches(handle, "job", MAX_PLANNED_AGAIN)) {
    if (row.state !== "applied" || row.dueAt === null || row.dueAt <= now) continue;
    const before = followedIn(row, now);
    const again = { ...before, state: { ...before.state, looks: Math.min(1, before.state.looks) } };
    const dueAt = Math.min(row.dueAt, now + (await pauseMs(round, again, now)));
    watches.push(watchWrite(member, { ...again, dueAt }));
  }
  await store.putEvents({ events: [], watches }, now);
}

function watchWrite({ specialist }: Member, { object, status, state, dueAt }: Followed): WatchWrite {
  return { specialist: specialist.handle, kind: state.kind, object, state: status, data: storeWatchState(state), dueAt };
}

/** Stores it in one transaction. Returns the new events. */
export async function keep(
  { store, clock }: PollingDependencies,
  member: Member,
  followed: Followed,
  events: readonly NewEvent[] = [],
): Promise<readonly NewEvent[]> {
  return (await store.putEvents({ events, watches: [watchWrite(member, followed)] }, clock.now())).fresh;
}

/** Learns the network's delay if the awaited event has happened. Returns true if that changes the estimate much. */
function learn({ timings }: PollingDependencies, { status: before, state }: Followed, status: string, now: number): boolean {
  const stage = state.kind === "job" ? stageOf(before) : undefined;
  if (state.kind !== "job" || stage === undefined) return false;
  const since = sinceOf(state, now);
  const { lookedAt } = state;
  if (status === before) {
    // Not within the time of close checks: that is learnt too, once for each job.
    const isNow = lookedAt !== undefined && lookedAt - since < UNKNOWN_UNTIL_MS && now - since >= UNKNOWN_UNTIL_MS;
    if (stage === "given" && isNow) timings.saw(stage, { afterMs: UNKNOWN_UNTIL_MS, byMs: LONGEST_MS });
    return false;
  }
  if (!FOLLOWS[stage].includes(status)) return false;
  return timings.saw(stage, { afterMs: Math.max(0, (lookedAt ?? now) - since), byMs: Math.max(0, now - since) });
}

/** The statuses that end each stage. */
export const FOLLOWS: { readonly [stage in JobStage]: readonly string[] } = {
  given: ["assigned"],
  judged: ["accepted", "rejected", "paid"],
  paid: ["paid"],
};

/** Undefined if the record is of another kind. */
export function shownBy(member: Member, before: WatchState, record: NetworkRecord, times: Times): Shown | undefined {
  const { specialist } = member;
  const feed = feedReader(member, specialist.watch.feed);
  const reader = { ...feed, skills: [], handles: (kind: string) => handlerOf(specialist, kind) !== undefined };
  if (before.kind === "job" && record.kind === "job") {
    const { progress, ...change } = followJob(record, before.progress, reader, times.networkNow);
    return { ...change, progressed: { ...before, progress, seen: seenIn(record, before.seen) } };
  }
  if (before.kind === "own_job" && record.kind === "job") {
    const { progress, ...change } = followOwnJob(record, before.progress, reader);
    return { ...change, progressed: { ...before, progress } };
  }
  if (before.kind === "thread" && record.kind === "post") {
    const { progress, ...change } = followThread(record, before.progress, reader, times);
    return { ...change, progressed: { ...before, progress } };
  }
  return undefined;
}

/** Delay of an object's next check, by its state at a time. */
export async function pauseMs(
  { parts, member, standings }: Round,
  { object, status, state }: Omit<Followed, "dueAt">,
  now: number,
  chance = parts.random.next(),
): Promise<number> {
  const { coverage, timings, sharers, shared } = parts;
  const { handle } = member.specialist;
  const { looks } = state;
  // Nothing has to be done about a job of one's own. Replies to others in a watched thread are reported to those others only.
  if (state.kind !== "job") {
    const base = (await watchPauseMs(parts, member)) * 5;
    return Math.round(Math.min(Math.max(30 * MINUTE, base), base * 1.5 ** Math.min(looks, 30)));
  }
  const relaxed = coverage.covers(handle, "job.assigned") ? WEBHOOKS_RELAX : 1;
  const stage = stageOf(status);
  const ageMs = Math.max(0, now - sinceOf(state, now));
  if (stage === undefined) return pauseUntilTakenBack({ ageMs }) * relaxed;
  const waiting = Math.max(1, standings.get(status) ?? 1) * sharers(member);
  const room = await roomOf(parts, member, now);
  const isListed = member.keyId !== undefined && shared.openAt(OFFERS_LIST, member.keyId, object, parts.networkNow()) !== undefined;
  const calls = isListed ? 1 : waiting;
  const wait = { ageMs, looks, learnt: timings.of(stage), waiting, calls, limits: member.limits, room, chance };
  return (stage === "given" ? pauseUntilGiven(wait) : pauseUntilNews(wait)) * relaxed;
}

/** Requests that the hour and the day of a specialist's key have left. */
async function roomOf({ store }: PollingDependencies, { keyId, limits }: Member, now: number): Promise<Wait["room"]> {
  const use = keyId === undefined ? undefined : await store.quotaUse(keyId, now);
  if (use === undefined) return { hour: limits.perHour, day: limits.perDay };
  return { hour: use.hour.limit - use.hour.used, day: use.day.limit - use.day.used };
}

/** Start of its status. */
export function sinceOf({ followedAt }: WatchState, now: number): number {
  return followedAt ?? now;
}

const MAX_REASON = 300;

/** The reason for a rejection, if the network gives one. */
function reasonIn(record: NetworkRecord | undefined, status: string): { readonly reason?: string } {
  if (status !== "rejected" || record?.kind !== "job" || record.verdict === undefined) return {};
  return { reason: record.verdict.slice(0, MAX_REASON) };
}

function titleOf(record: NetworkRecord | undefined): { readonly title?: string } {
  return record?.kind === "job" && record.title !== undefined ? { title: record.title } : {};
}
