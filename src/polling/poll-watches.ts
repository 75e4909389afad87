/** From followed objects to the inbox: jobs applied for and threads taken part in, until they are settled. */
import type { NewEvent } from "../contract/event.ts";
import type { NetworkRecord } from "../contract/records.ts";
import { DAY, HOUR, MINUTE } from "../core/units.ts";
import { followJob } from "./job-events.ts";
import { followThread, type Times } from "./thread-events.ts";
import type { WatchChange } from "./watch-change.ts";
import { readWatchState, storeWatchState, type JobState, type WatchState } from "./watch-state.ts";
import type { WatchRow } from "../store/sources.ts";
import { watchPauseMs } from "./interval.ts";
import type { Member } from "../gateway/member.ts";
import { readResult } from "../gateway/read-result.ts";
import { feedReader, OFFERS_LIST } from "./poll-lists.ts";
import type { PollingDependencies } from "./polling-dependencies.ts";
import { handlerOf } from "../specialist/handlers.ts";

/** Looked at in one go; the rest follows in the next. */
const BATCH = 8;
/** A job whose deliverable was turned down is given up after this without news. */
const REJECTED_MS = HOUR;
/** While deliveries tell what changed, followed objects are looked at this much more rarely. */
const WEBHOOKS_RELAX = 4;
/** The look at a job applied for that a list shows open is put off so often in a row: a list may lag behind. */
const MOST_DEFERRED = 3;
/** So long what a list shows open is not relied on, once it showed so what is ours. */
const DOUBT_MS = DAY;
/** Nothing is followed longer than this without news. */
const LONGEST_MS = 30 * DAY;

/** Looks at what is due. Answers whether there may be more. */
export async function followWatches(parts: PollingDependencies, member: Member): Promise<boolean> {
  const rows = await parts.store.dueWatches(member.specialist.handle, parts.clock.now(), BATCH);
  for (const row of rows) {
    if (parts.stopping.aborted) return false;
    // All of them ask for a place in the same lane, so one refusal is enough.
    if (!(await follow(parts, member, row))) return false;
  }
  return rows.length === BATCH;
}

/** Answers whether there was room for the look. */
async function follow(parts: PollingDependencies, member: Member, row: WatchRow): Promise<boolean> {
  const { gateway, store, clock, announcer } = parts;
  const { handle } = member.specialist;
  const before = readWatchState(row, clock.now());
  if (before.kind === "job" && (await deferWhileOpen(parts, member, row, before))) return true;
  const operation = row.kind === "job" ? "jobs.get" : "posts.get";
  const answer = await gateway.read(member, { operation, target: row.object, input: {} }, { signal: parts.ending });
  const now = clock.now();
  const result = readResult(answer);
  if (result.kind === "wait") {
    await store.postponeWatches(handle, now, result.until);
    return false;
  }
  if (result.kind === "gone") {
    await keep(parts, member, row, { standing: "gone", state: before, dueAt: null });
    return true;
  }
  const record = result.kind === "value" ? result.value.record : undefined;
  const change = record === undefined ? undefined : changeOf(member, before, record, { now, networkNow: parts.networkNow() });
  if (change === undefined) {
    const dueAt = now + (await pauseMs(parts, member, row.kind, before.looks));
    await keep(parts, member, row, { standing: row.state, state: { ...before, looks: before.looks + 1 }, dueAt });
    return true;
  }
  if (before.kind === "job" && isOurs(row.state) && isOurs(change.state)) checkOffers(parts, member, row, before);
  const followedAt = change.news ? now : (before.followedAt ?? now);
  const looks = change.news ? 0 : before.looks + 1;
  const over = change.ended || now - followedAt > LONGEST_MS || (change.state === "rejected" && now - followedAt > REJECTED_MS);
  const dueAt = over ? null : now + (await pauseMs(parts, member, row.kind, looks));
  const { progressed } = change;
  const after = { looks, followedAt };
  const state = progressed.kind === "job" ? { ...progressed, ...after, lookedAt: now, deferred: 0 } : { ...progressed, ...after };
  const fresh = await keep(parts, member, row, { standing: change.state, state, dueAt }, change.events);
  if (row.kind === "job" && change.news)
    announcer.emit("job", { at: now, handle, job: row.object, state: change.state, ...titleOf(record), ...reasonIn(record, change.state) });
  parts.coverage.found(handle, fresh);
  if (fresh.length > 0) parts.wake(member, "events");
  return true;
}

/** Where a followed object stands after a look. */
interface Followed {
  readonly standing: string;
  readonly state: WatchState;
  readonly dueAt: number | null;
}

/** Stores it in one transaction. Answers the events that nobody knew. */
async function keep(
  parts: PollingDependencies,
  member: Member,
  { kind, object }: WatchRow,
  { standing, state, dueAt }: Followed,
  events: readonly NewEvent[] = [],
): Promise<readonly NewEvent[]> {
  const watch = { specialist: member.specialist.handle, kind, object, state: standing, data: storeWatchState(state), dueAt };
  return (await parts.store.putEvents({ events, watches: [watch] }, parts.clock.now())).fresh;
}

/**
 * Puts off the look at a job applied for that the list of offers has shown open since the last look: it is read anyway, by all for
 * each other. Not the first look, nor one at what a delivery told of, nor while deliveries make looks rare. Answers whether it did.
 */
async function deferWhileOpen(parts: PollingDependencies, member: Member, row: WatchRow, before: JobState): Promise<boolean> {
  const { clock, coverage } = parts;
  const { lookedAt, deferred } = before;
  if (row.state !== "applied" || coverage.covers(member.specialist.handle, "job.assigned")) return false;
  if (lookedAt === undefined || deferred >= MOST_DEFERRED) return false;
  const now = clock.now();
  const openAt = offeredAt(parts, member, row);
  if (openAt === undefined || openAt <= lookedAt || openAt > now) return false;
  const looks = before.looks + 1;
  const dueAt = openAt + (await pauseMs(parts, member, row.kind, looks));
  if (dueAt <= now) return false;
  await keep(parts, member, row, { standing: row.state, state: { ...before, looks, lookedAt: openAt, deferred: deferred + 1 }, dueAt });
  return true;
}

/** When a look at the list of offers began that shows a job open to all. */
function offeredAt({ shared, networkNow }: PollingDependencies, { keyId }: Member, { object }: WatchRow): number | undefined {
  return keyId === undefined ? undefined : shared.openAt(OFFERS_LIST, keyId, object, networkNow());
}

/** A list that shows open what was ours before and still is cannot be relied on. */
function checkOffers(parts: PollingDependencies, member: Member, row: WatchRow, { lookedAt }: JobState): void {
  const openAt = offeredAt(parts, member, row);
  // Some lists are answered from a cache for a while.
  if (openAt === undefined || lookedAt === undefined || openAt <= lookedAt + MINUTE) return;
  parts.shared.doubt(OFFERS_LIST, parts.clock.now() + DOUBT_MS);
  parts.log.info("the list of jobs shows open what is taken: jobs applied for are asked for one by one for a day", { job: row.object });
}

/** Standings in which a job has been given to us. */
function isOurs(standing: string): boolean {
  return standing === "assigned" || standing === "submitted" || standing === "accepted";
}

/** What a look brought, and how far that takes what is known; undefined where the record is of another kind. */
function changeOf(
  member: Member,
  before: WatchState,
  record: NetworkRecord,
  times: Times,
): (WatchChange<unknown> & { readonly progressed: WatchState }) | undefined {
  const { specialist } = member;
  const feed = feedReader(member, specialist.watch.feed);
  const reader = { ...feed, skills: [], handles: (kind: string) => handlerOf(specialist, kind) !== undefined };
  if (before.kind === "job" && record.kind === "job") {
    const change = followJob(record, before.progress, reader, times.networkNow);
    return { ...change, progressed: { ...before, progress: change.progress } };
  }
  if (before.kind === "thread" && record.kind === "post") {
    const change = followThread(record, before.progress, reader, times);
    return { ...change, progressed: { ...before, progress: change.progress } };
  }
  return undefined;
}

/** Short at first, since most jobs are decided soon, then half as often each time; never faster than the quota can sustain. */
async function pauseMs(parts: PollingDependencies, member: Member, kind: WatchRow["kind"], looks: number): Promise<number> {
  // Replies to others in a followed thread are told to those others only.
  const covered = kind === "job" && parts.coverage.covers(member.specialist.handle, "job.assigned");
  const relaxed = covered ? WEBHOOKS_RELAX : 1;
  const base = (await watchPauseMs(parts, member)) * (kind === "job" ? 1 : 5) * relaxed;
  const longest = kind === "job" ? 10 * MINUTE : 30 * MINUTE;
  return Math.round(Math.min(Math.max(longest, base), base * 1.5 ** Math.min(looks, 30)));
}

/** Why work was turned down, where the network says so. */
function reasonIn(record: NetworkRecord | undefined, state: string): { readonly reason?: string } {
  if (state !== "rejected" || record?.kind !== "job" || record.verdict === undefined) return {};
  return { reason: record.verdict.slice(0, MAX_REASON) };
}

const MAX_REASON = 300;

function titleOf(record: NetworkRecord | undefined): { readonly title?: string } {
  return record?.kind === "job" && record.title !== undefined ? { title: record.title } : {};
}
