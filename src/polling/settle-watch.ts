/** What a look, a list or a delivery has shown of a followed object: stored, learnt from, and when it is looked at next. */
import type { NewEvent, WatchWrite } from "../contract/event.ts";
import type { NetworkRecord } from "../contract/records.ts";
import { DAY, HOUR, MINUTE } from "../core/units.ts";
import type { Member } from "../gateway/member.ts";
import { handlerOf } from "../specialist/handlers.ts";
import type { WatchRow } from "../store/sources.ts";
import { watchPauseMs } from "./interval.ts";
import { pauseUntilGiven, pauseUntilNews, pauseUntilTakenBack, stageOf, UNKNOWN_UNTIL_MS, type JobStage } from "./job-cadence.ts";
import { followJob } from "./job-events.ts";
import { feedReader } from "./list-readers.ts";
import type { PollingDependencies } from "./polling-dependencies.ts";
import { followThread, type Times } from "./thread-events.ts";
import type { WatchChange } from "./watch-change.ts";
import { readWatchState, storeWatchState, type WatchState } from "./watch-state.ts";

/** A job whose deliverable was turned down is given up after this without news. */
const REJECTED_MS = HOUR;
/** While deliveries tell what changed, followed objects are looked at this much more rarely. */
const WEBHOOKS_RELAX = 4;
/** Nothing is followed longer than this without news. */
export const LONGEST_MS = 30 * DAY;

/** What one round of looks knows. */
export interface Round {
  readonly parts: PollingDependencies;
  readonly member: Member;
  /** Jobs by standing. */
  readonly standings: ReadonlyMap<string, number>;
}

/** A followed object as its row stands, or as it is to stand. */
export interface Followed<State extends WatchState = WatchState> {
  readonly object: string;
  readonly standing: string;
  readonly state: State;
  readonly dueAt: number | null;
}

/** What was shown, and how far that takes what is known. */
export type Shown = Omit<WatchChange<unknown>, "progress"> & { readonly progressed: WatchState };

export function followedIn(row: WatchRow, now: number): Followed {
  return { object: row.object, standing: row.state, state: readWatchState(row, now), dueAt: row.dueAt };
}

/** Stores what a look or a list has shown of a followed object, and when it is looked at next. */
export async function settle(
  round: Round,
  before: Followed,
  shown: Shown,
  { record, isLook }: { readonly record: NetworkRecord | undefined; readonly isLook: boolean },
): Promise<void> {
  const { parts, member } = round;
  const { clock, announcer } = parts;
  const { handle } = member.specialist;
  const now = clock.now();
  const { progressed, state: standing, news } = shown;
  const hasLearnt = learn(parts, before, standing, now);
  const followedAt = news ? now : sinceOf(before.state, now);
  const counted = { looks: news ? 0 : before.state.looks + 1, followedAt };
  const state =
    progressed.kind === "job" ? { ...progressed, ...counted, lookedAt: now, deferred: 0, planned: false } : { ...progressed, ...counted };
  const isOver = shown.ended || now - followedAt > LONGEST_MS || (standing === "rejected" && now - followedAt > REJECTED_MS);
  const dueAt = isOver ? null : now + (await pauseMs(round, { standing, state }, now));
  const fresh = await keep(parts, member, { object: before.object, standing, state, dueAt }, shown.events);
  if (state.kind === "job" && news)
    announcer.emit("job", { at: now, handle, job: before.object, state: standing, ...titleOf(record), ...reasonIn(record, standing) });
  if (isLook) parts.coverage.found(handle, fresh);
  if (fresh.length > 0) parts.wake(member, "events");
  if (hasLearnt && before.standing === "applied") await planAgain(round);
}

/** More than these are not looked at differently at once. */
const MAX_PLANNED_AGAIN = 1_000;

/** What was applied for before it was known how long that takes is looked at accordingly. */
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

function watchWrite({ specialist }: Member, { object, standing, state, dueAt }: Followed): WatchWrite {
  return { specialist: specialist.handle, kind: state.kind, object, state: standing, data: storeWatchState(state), dueAt };
}

/** Stores it in one transaction. Answers the events that nobody knew. */
export async function keep(
  { store, clock }: PollingDependencies,
  member: Member,
  followed: Followed,
  events: readonly NewEvent[] = [],
): Promise<readonly NewEvent[]> {
  return (await store.putEvents({ events, watches: [watchWrite(member, followed)] }, clock.now())).fresh;
}

/** How long the network took, where it has done what was waited for. Answers whether that changes much of what is known. */
function learn({ timings }: PollingDependencies, { standing: before, state }: Followed, standing: string, now: number): boolean {
  const stage = state.kind === "job" ? stageOf(before) : undefined;
  if (state.kind !== "job" || stage === undefined) return false;
  const since = sinceOf(state, now);
  const { lookedAt } = state;
  if (standing === before) {
    // Not within the time that is watched closely: that is known as well, and is learnt once of each.
    const isNow = lookedAt !== undefined && lookedAt - since < UNKNOWN_UNTIL_MS && now - since >= UNKNOWN_UNTIL_MS;
    if (stage === "given" && isNow) timings.saw(stage, { afterMs: UNKNOWN_UNTIL_MS, byMs: LONGEST_MS });
    return false;
  }
  if (!FOLLOWS[stage].includes(standing)) return false;
  return timings.saw(stage, { afterMs: Math.max(0, (lookedAt ?? since) - since), byMs: Math.max(0, now - since) });
}

/** The standings that end each wait. */
export const FOLLOWS: { readonly [stage in JobStage]: readonly string[] } = {
  given: ["assigned"],
  judged: ["accepted", "rejected", "paid"],
  paid: ["paid"],
};

/** Undefined where the record is of another kind. */
export function shownBy(member: Member, before: WatchState, record: NetworkRecord, times: Times): Shown | undefined {
  const { specialist } = member;
  const feed = feedReader(member, specialist.watch.feed);
  const reader = { ...feed, skills: [], handles: (kind: string) => handlerOf(specialist, kind) !== undefined };
  if (before.kind === "job" && record.kind === "job") {
    const { progress, ...change } = followJob(record, before.progress, reader, times.networkNow);
    return { ...change, progressed: { ...before, progress } };
  }
  if (before.kind === "thread" && record.kind === "post") {
    const { progress, ...change } = followThread(record, before.progress, reader, times);
    return { ...change, progressed: { ...before, progress } };
  }
  return undefined;
}

/** Until the next look at an object as it stands at a time. */
export async function pauseMs(
  { parts, member, standings }: Round,
  { standing, state }: Pick<Followed, "standing" | "state">,
  now: number,
  chance = parts.random.next(),
): Promise<number> {
  const { coverage, timings, sharers } = parts;
  const { handle } = member.specialist;
  const { looks } = state;
  // Replies to others in a followed thread are told to those others only.
  if (state.kind === "thread") {
    const base = (await watchPauseMs(parts, member)) * 5;
    return Math.round(Math.min(Math.max(30 * MINUTE, base), base * 1.5 ** Math.min(looks, 30)));
  }
  const relaxed = coverage.covers(handle, "job.assigned") ? WEBHOOKS_RELAX : 1;
  const stage = stageOf(standing);
  const ageMs = Math.max(0, now - sinceOf(state, now));
  if (stage === undefined) return pauseUntilTakenBack({ ageMs }) * relaxed;
  const waiting = Math.max(1, standings.get(standing) ?? 1) * sharers(member);
  const wait = { ageMs, looks, learnt: timings.of(stage), waiting, limits: member.limits, chance };
  return (stage === "given" ? pauseUntilGiven(wait) : pauseUntilNews(wait)) * relaxed;
}

/** When its standing began. */
export function sinceOf({ followedAt }: WatchState, now: number): number {
  return followedAt ?? now;
}

const MAX_REASON = 300;

/** Why work was turned down, where the network says so. */
function reasonIn(record: NetworkRecord | undefined, standing: string): { readonly reason?: string } {
  if (standing !== "rejected" || record?.kind !== "job" || record.verdict === undefined) return {};
  return { reason: record.verdict.slice(0, MAX_REASON) };
}

function titleOf(record: NetworkRecord | undefined): { readonly title?: string } {
  return record?.kind === "job" && record.title !== undefined ? { title: record.title } : {};
}
