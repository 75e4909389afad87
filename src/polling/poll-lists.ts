/** From the network's lists to the inbox: feed, communities and jobs, each with a cursor and a cadence. */
import { cursorOf } from "../client/next-page.ts";
import type { Outcome } from "../contract/call.ts";
import { MAX_PAGE_ITEMS, MAY_BE_CUT_OFF } from "../contract/reading/read-answer.ts";
import type { Job, NetworkRecord, Post } from "../contract/records.ts";
import { backoffMs, type Backoff } from "../core/backoff.ts";
import { canonicalJson, numberIn, type JsonObject } from "../core/json.ts";
import { MINUTE, SECOND } from "../core/units.ts";
import { readCursor, storeCursor, type Freshness, type ListCursor } from "./list-cursor.ts";
import { readGaps, storeGaps } from "./gaps.ts";
import { storedReadFailure, storeReadFailure, REPORTED_AFTER } from "./read-failures.ts";
import { readFeed, type FeedReader, type Reading } from "./feed-events.ts";
import { readJobs, type JobsReader } from "./job-events.ts";
import { spreadPause } from "../limits/poll-budget.ts";
import type { SourceRow } from "../store/sources.ts";
import { DEFAULT_MAX_AGE_MS, type FeedWatching, type JobsWatching, type Specialist } from "../specialist/specialist.ts";
import { nextPollAt, readPace, type PollResult } from "./interval.ts";
import type { GatewayAnswer } from "../gateway/gateway.ts";
import type { Member } from "../gateway/member.ts";
import type { PollingDependencies } from "./polling-dependencies.ts";
import { isSchedule, makeDormant } from "./dormant.ts";
import { handlerOf } from "../specialist/handlers.ts";

/** Further pages read to close a gap; what lies beyond is recorded as a gap and shown. */
const MAX_GAP_PAGES = 3;
/** So often in a row a gap is tried again that could not be read back, before it is recorded. */
const MAX_FAILED_PAGES = 5;
/** A list that could not be read is tried again after this, then after twice as long each time: it may speak otherwise for good. */
const FAILED_POLL: Backoff = { firstMs: 30 * SECOND, longestMs: 5 * MINUTE };

/** One list a specialist looks at. */
interface Source {
  readonly name: string;
  readonly operation: "posts.list" | "jobs.list";
  readonly input: JsonObject;
  /** What it is looked at for. */
  readonly kind: "post.created" | "mention.created" | "job.listed";
  read(items: readonly NetworkRecord[], cursor: ListCursor): Reading;
}

/** Looks at every source of a specialist that is due. Answers false: what comes next is due at a time. */
export async function pollSources(parts: PollingDependencies, member: Member): Promise<boolean> {
  const { store, clock } = parts;
  const stored = await store.sources(member.specialist.handle);
  const sources = member.retired ? [] : sourcesOf(parts, member);
  const lists = stored.filter((row) => !isSchedule(row));
  await makeDormant(
    parts,
    member,
    lists.filter((row) => !sources.some(({ name }) => name === row.name)),
  );
  const rows = new Map(lists.map((row) => [row.name, row]));
  const others = (one: Source): PollResult[] =>
    sources.filter(({ name }) => name !== one.name).map(({ name, kind }) => ({ source: readPace(rows.get(name)?.cursor), kind }));
  for (const source of sources) {
    if (parts.stopping.aborted) return false;
    const row = rows.get(source.name);
    // Without a time where it has rested, or never was.
    if ((row?.dueAt ?? 0) <= clock.now()) await poll(parts, member, source, row, others(source));
  }
  return false;
}

async function poll(
  parts: PollingDependencies,
  member: Member,
  source: Source,
  row: SourceRow | undefined,
  others: readonly PollResult[],
): Promise<void> {
  const { store, clock, announcer, gateway } = parts;
  const { handle } = member.specialist;
  const cursor = readCursor(row?.cursor, parts.networkNow());
  const askedAt = clock.now();
  const answer = await gateway.read(member, { operation: source.operation, input: source.input }, { signal: parts.ending });
  if (answer.kind !== "answered" || answer.outcome.class !== "confirmed" || answer.outcome.items === undefined) {
    const now = clock.now();
    const unread = storedReadFailure(row?.cursor);
    const failed = unread?.times ?? 0;
    const isWaiting = answer.kind === "waits";
    const dueAt = isWaiting ? answer.until : now + backoffMs(FAILED_POLL, failed + 1);
    const why = whyUnread(answer);
    const stored = { ...storeCursor(cursor), ...row?.cursor, ...(isWaiting ? {} : storeReadFailure(unread, why, now)) };
    if (!isWaiting && failed + 1 === REPORTED_AFTER) parts.log.warn(`${source.name} of ${handle} cannot be read: ${why}`);
    await store.putEvents({ events: [], cursors: [{ specialist: handle, source: source.name, cursor: stored, dueAt }] }, now);
    return;
  }
  const { reading, torn } = await readPages(parts, member, source, cursor, answer.outcome);
  const now = clock.now();
  const failed = numberIn(row?.cursor, "torn") ?? 0;
  if (torn && failed < MAX_FAILED_PAGES) {
    // What was read is kept, but the cursor stays where it is: past it lies what could not be read.
    const stored = { ...storeCursor(cursor), ...row?.cursor, torn: failed + 1 };
    const cursors = [{ specialist: handle, source: source.name, cursor: stored, dueAt: now + FAILED_POLL.firstMs }];
    const { fresh } = await store.putEvents({ events: reading.events, cursors }, now);
    if (fresh.length > 0) parts.wake(member, "events");
    return;
  }
  const next = await nextPollAt(parts, member, { source: readPace(row?.cursor), kind: source.kind }, reading.fresh, others);
  await tellOthers(parts, member, source, answer.outcome.items, askedAt);
  const gaps = [...readGaps(row?.cursor), ...(reading.gap === undefined ? [] : [reading.gap])];
  const stored = { ...storeCursor(reading.cursor), ...next.source, ...storeGaps(gaps, now) };
  const pauseMs = row === undefined ? spreadPause(next.delayMs, parts.random) : next.delayMs;
  const between = member.keyId === undefined ? undefined : parts.shared.nextLook(listOf(source), member.keyId, next.delayMs, now);
  const { fresh } = await store.putEvents(
    {
      events: reading.events,
      cursors: [{ specialist: handle, source: source.name, cursor: stored, dueAt: Math.round(between ?? now + pauseMs) }],
    },
    now,
  );
  announcer.emit("poll", { at: now, handle, source: source.name, fresh: fresh.length, skipped: reading.skipped });
  if (reading.gap !== undefined) announcer.emit("gap", { at: now, handle, source: source.name, ...reading.gap });
  parts.coverage.found(handle, fresh);
  if (fresh.length > 0) parts.wake(member, "events");
}

function whyUnread(answer: GatewayAnswer): string {
  if (answer.kind === "waits" || answer.kind === "refused") return answer.message;
  if (answer.kind === "gone") return "the read was lost";
  const { outcome } = answer;
  if (outcome.class === "unknown" || outcome.class === "never-left") return outcome.reason;
  return outcome.class === "refused" ? `${outcome.code}: ${outcome.message}` : `the network answered ${outcome.status}`;
}

function listOf({ operation, input }: Pick<Source, "operation" | "input">): string {
  return `${operation} ${canonicalJson(input)}`;
}

/** The jobs on offer, which all look at alike. */
const OFFERS = { operation: "jobs.list", input: {} } as const;
/** The same as {@link SharedLists} know it. */
export const OFFERS_LIST = listOf(OFFERS);

/** What is new on a list that all see alike is new for everyone who watches it: N keys learn of it N times sooner. */
async function tellOthers(
  parts: PollingDependencies,
  member: Member,
  source: Source,
  items: readonly NetworkRecord[],
  askedAt: number,
): Promise<void> {
  const { shared, clock, store } = parts;
  if (member.keyId === undefined) return;
  const news = shared.looked(listOf(source), member.keyId, items, askedAt);
  if (news.length === 0) return;
  const told = parts.members().flatMap((other) => {
    if (other === member || other.retired) return [];
    const same = sourcesOf(parts, other).find((one) => listOf(one) === listOf(source));
    const events = same?.read(news, { seen: [], startedAt: other.enlistedAt }).events ?? [];
    return events.length === 0 ? [] : [{ other, events }];
  });
  if (told.length === 0) return;
  await store.putEvents({ events: told.flatMap(({ events }) => events) }, clock.now());
  for (const { other } of told) parts.wake(other, "events");
}

/** Reads on while nothing on the page has been seen before, so that a busy hour loses nothing, nor a first look that is to go back. `torn`: a page could not be read. */
async function readPages(
  parts: PollingDependencies,
  member: Member,
  source: Source,
  cursor: ListCursor,
  first: Extract<Outcome, { readonly class: "confirmed" }>,
): Promise<{ readonly reading: Reading; readonly torn: boolean }> {
  const items = [...(first.items ?? [])];
  let reading = source.read(items, cursor);
  let next = first.next === undefined ? undefined : cursorOf(first.next);
  // What shows for the first time is all there is, unless it goes on. So is, at any time, what is too short to be cut off: offers are taken.
  const isShort = (cursor.seen ?? []).length === 0 || items.length < MAY_BE_CUT_OFF;
  if (next === undefined && isShort && !isCut(first)) return { reading: { ...reading, gap: undefined }, torn: false };
  for (let page = 0; reading.gap !== undefined && next !== undefined && page < MAX_GAP_PAGES; page++) {
    const answer = await parts.gateway.read(
      member,
      { operation: source.operation, input: { ...source.input, cursor: next } },
      { signal: parts.ending },
    );
    if (answer.kind === "waits") break; // the quota has no place for more: what is further back is given up
    if (answer.kind !== "answered" || answer.outcome.class !== "confirmed") return { reading, torn: true };
    items.push(...(answer.outcome.items ?? []));
    next = answer.outcome.next === undefined ? undefined : cursorOf(answer.outcome.next);
    reading = source.read(items, cursor);
    if (next === undefined && !isCut(answer.outcome)) return { reading: { ...reading, gap: undefined }, torn: false }; // the whole list was read: nothing can be missing
  }
  return { reading, torn: false };
}

/** A page longer than any that is read whole. */
function isCut({ items = [], skipped = 0 }: Extract<Outcome, { readonly class: "confirmed" }>): boolean {
  return items.length + skipped > MAX_PAGE_ITEMS;
}

function sourcesOf(parts: PollingDependencies, member: Member): readonly Source[] {
  const { specialist } = member;
  const { watch } = specialist;
  const sources: Source[] = [];
  if (needsFeed(specialist)) sources.push(feedSource(parts, member, "feed", {}, watch.feed));
  // A community that is watched counts as feed, also where the whole feed is not looked at.
  const inCommunity = watch.feed ?? { from: "now", maxAgeMs: DEFAULT_MAX_AGE_MS };
  for (const community of watch.communities) sources.push(feedSource(parts, member, `feed:${community}`, { community }, inCommunity));
  if (watch.jobs !== undefined) sources.push(jobsSource(parts, member, watch.jobs));
  return sources;
}

function needsFeed({ watch }: Specialist): boolean {
  return watch.feed !== undefined || watch.mentions;
}

function feedSource(
  parts: PollingDependencies,
  member: Member,
  name: string,
  input: JsonObject,
  watching: FeedWatching | undefined,
): Source {
  const reader = feedReader(member, watching);
  return {
    name,
    operation: "posts.list",
    kind: watching === undefined ? "mention.created" : "post.created",
    input,
    read: (items, cursor) => readFeed(items.filter(isPost), cursor, reader, parts.networkNow()),
  };
}

export function feedReader(member: Member, watching: FeedWatching | undefined): FeedReader {
  const { specialist } = member;
  const known = (kind: string): boolean => handlerOf(specialist, kind) !== undefined;
  return {
    handle: specialist.handle,
    accountId: member.accountId,
    ...freshness(watching),
    // A feed read only for mentions brings no other events.
    handles: (kind) => known(kind) && (kind !== "post.created" || watching !== undefined),
    inThread: () => false, // replies come from the followed threads, where their order is known
  };
}

function jobsSource(parts: PollingDependencies, member: Member, watching: JobsWatching): Source {
  const reader = jobsReader(member, watching);
  return {
    name: "jobs",
    ...OFFERS,
    kind: "job.listed",
    read: (items, cursor) => readJobs(items.filter(isJob), cursor, reader, parts.networkNow()),
  };
}

export function jobsReader({ specialist, accountId }: Member, watching: JobsWatching): JobsReader {
  return {
    handle: specialist.handle,
    accountId,
    ...freshness(watching),
    skills: watching.skills,
    handles: (kind) => handlerOf(specialist, kind) !== undefined,
  };
}

function freshness(watching: FeedWatching | undefined): Freshness {
  if (watching === undefined) return { fromMs: Infinity, maxAgeMs: DEFAULT_MAX_AGE_MS };
  const fromMs = watching.from === "now" ? Infinity : watching.from === "start" ? 0 : watching.from;
  return { fromMs, maxAgeMs: watching.maxAgeMs };
}

function isPost(record: NetworkRecord): record is Post {
  return record.kind === "post";
}

function isJob(record: NetworkRecord): record is Job {
  return record.kind === "job";
}
