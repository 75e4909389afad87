/** From followed objects to the inbox: jobs applied for and threads taken part in, until they are settled. */
import type { WatchWrite } from "../contract/event.ts";
import type { NetworkRecord } from "../contract/records.ts";
import { DAY, HOUR, MINUTE } from "../core/units.ts";
import { followJob, readJobProgress } from "./job-events.ts";
import { followThread, readThreadProgress, type Times } from "./thread-events.ts";
import type { WatchChange } from "./watch-change.ts";
import { LOOKED_AT, type WatchRow } from "../store/sources.ts";
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
const MOST_PUT_OFF = 3;
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
  if (await putOffWhileOpen(parts, member, row)) return true;
  const operation = row.kind === "job" ? "jobs.get" : "posts.get";
  const answer = await gateway.read(member, { operation, target: row.object, input: {} }, { signal: parts.ending });
  const now = clock.now();
  const result = readResult(answer);
  const write = (change: Partial<WatchWrite>): WatchWrite => ({
    specialist: handle,
    kind: row.kind,
    object: row.object,
    state: row.state,
    data: row.data,
    dueAt: now,
    ...change,
  });
  if (result.kind === "wait") {
    await store.postponeWatches(handle, now, result.until);
    return false;
  }
  if (result.kind === "gone") {
    await store.putEvents({ events: [], watches: [write({ state: "gone", dueAt: null })] }, now);
    return true;
  }
  const record = result.kind === "value" ? result.value.record : undefined;
  const looks = looksOf(row);
  const change = record === undefined ? undefined : changeOf(member, row, record, { now, networkNow: parts.networkNow() });
  if (change === undefined) {
    const dueAt = now + (await pauseMs(parts, member, row.kind, looks));
    await store.putEvents({ events: [], watches: [write({ data: { ...row.data, looks: looks + 1 }, dueAt })] }, now);
    return true;
  }
  if (isOurs(row.state) && isOurs(change.state)) checkOffers(parts, member, row);
  const newsAt = change.news || typeof row.data["followedAt"] !== "number" ? now : row.data["followedAt"];
  const after = change.news ? 0 : looks + 1;
  const over = change.ended || now - newsAt > LONGEST_MS || (change.state === "rejected" && now - newsAt > REJECTED_MS);
  const dueAt = over ? null : now + (await pauseMs(parts, member, row.kind, after));
  const seen = row.kind === "job" ? { [LOOKED_AT]: now, putOff: 0 } : {};
  const data = { ...change.data, looks: after, followedAt: newsAt, ...seen };
  const { fresh } = await store.putEvents({ events: change.events, watches: [write({ state: change.state, data, dueAt })] }, now);
  if (row.kind === "job" && change.news)
    announcer.emit("job", { at: now, handle, job: row.object, state: change.state, ...titleOf(record) });
  parts.coverage.found(handle, fresh);
  if (fresh.length > 0) parts.wake(member, "events");
  return true;
}

/**
 * Puts off the look at a job applied for that the list of offers has shown open since the last look: it is read anyway, by all for
 * each other. Not the first look, nor one at what a delivery told of, nor while deliveries make looks rare. Answers whether it did.
 */
async function putOffWhileOpen(parts: PollingDependencies, member: Member, row: WatchRow): Promise<boolean> {
  const { store, clock, coverage } = parts;
  const { handle } = member.specialist;
  const { [LOOKED_AT]: lookedAt, putOff = 0 } = row.data;
  if (row.kind !== "job" || row.state !== "applied" || coverage.covers(handle, "job.assigned")) return false;
  if (typeof lookedAt !== "number" || typeof putOff !== "number" || putOff >= MOST_PUT_OFF) return false;
  const now = clock.now();
  const openAt = offeredAt(parts, member, row);
  if (openAt === undefined || openAt <= lookedAt || openAt > now) return false;
  const looks = looksOf(row) + 1;
  const dueAt = openAt + (await pauseMs(parts, member, row.kind, looks));
  if (dueAt <= now) return false;
  const data = { ...row.data, looks, [LOOKED_AT]: openAt, putOff: putOff + 1 };
  await store.putEvents(
    { events: [], watches: [{ specialist: handle, kind: row.kind, object: row.object, state: row.state, data, dueAt }] },
    now,
  );
  return true;
}

/** When a look at the list of offers began that shows a job open to all. */
function offeredAt({ shared, networkNow }: PollingDependencies, { keyId }: Member, { object }: WatchRow): number | undefined {
  return keyId === undefined ? undefined : shared.openAt(OFFERS_LIST, keyId, object, networkNow());
}

/** A list that shows open what was ours before and still is cannot be relied on. */
function checkOffers(parts: PollingDependencies, member: Member, row: WatchRow): void {
  const { [LOOKED_AT]: lookedAt } = row.data;
  const openAt = row.kind === "job" ? offeredAt(parts, member, row) : undefined;
  // Some lists are answered from a cache for a while.
  if (openAt === undefined || typeof lookedAt !== "number" || openAt <= lookedAt + MINUTE) return;
  parts.shared.doubt(OFFERS_LIST, parts.clock.now() + DOUBT_MS);
  parts.log.info("the list of jobs shows open what is taken: jobs applied for are asked for one by one for a day", { job: row.object });
}

/** Standings in which a job has been given to us. */
function isOurs(standing: string): boolean {
  return standing === "assigned" || standing === "submitted" || standing === "accepted";
}

function looksOf({ data }: WatchRow): number {
  return typeof data["looks"] === "number" ? data["looks"] : 0;
}

function changeOf(member: Member, row: WatchRow, record: { readonly kind: string }, times: Times): WatchChange | undefined {
  const { specialist } = member;
  const feed = feedReader(member, specialist.watch.feed);
  const reader = { ...feed, skills: [], handles: (kind: string) => handlerOf(specialist, kind) !== undefined };
  if (row.kind === "job" && isKind(record, "job")) return followJob(record, readJobProgress(row.data), reader, times.networkNow);
  if (row.kind === "thread" && isKind(record, "post")) return followThread(record, readThreadProgress(row.data, times.now), reader, times);
  return undefined;
}

function isKind<Kind extends NetworkRecord["kind"]>(
  record: { readonly kind: string },
  kind: Kind,
): record is Extract<NetworkRecord, { readonly kind: Kind }> {
  return record.kind === kind;
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

function titleOf(record: { readonly kind: string } | undefined): { readonly title?: string } {
  return record !== undefined && isKind(record, "job") && record.title !== undefined ? { title: record.title } : {};
}
