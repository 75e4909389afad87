/** Polls the network's lists into the inbox: feed, communities and jobs, each with a cursor and an interval. */
import type { NewEvent } from "../contract/event.ts";
import type { Lane } from "../contract/operations.ts";
import { cursorOf } from "../client/next-page.ts";
import { freshItems } from "../client/paging.ts";
import type { TierLimits } from "../contract/tiers.ts";
import { MAX_PAGE_ITEMS, MAY_BE_CUT_OFF } from "../contract/reading/read-answer.ts";
import type { NetworkRecord } from "../contract/records.ts";
import { backoffMs, type Backoff } from "../core/backoff.ts";
import { MINUTE, SECOND } from "../core/units.ts";
import {
  failedAgain,
  makeListDormant,
  NEW_PACE,
  readListState,
  REPORTED_AFTER,
  storeListState,
  withGap,
  type ListState,
} from "./list-state.ts";
import type { Reading } from "./feed-events.ts";
import { noteListed } from "./job-news.ts";
import { listOf, OFFERS_LIST } from "./list-readers.ts";
import { idsOf } from "./shared-lists.ts";
import { spreadPause } from "../limits/poll-budget.ts";
import { nextPollAt, type PollResult } from "./interval.ts";
import { readResult, whyUnread, type Confirmed, type Unread } from "../gateway/read-result.ts";
import type { Member } from "../gateway/member.ts";
import type { PollingDependencies } from "./polling-dependencies.ts";
import type { ListReading } from "./told-list.ts";
import { isSchedule, makeDormant } from "./dormant.ts";
import { NO_REACH, reachOf, servesAll, tellOthers, type Reach } from "./tell-news.ts";
import { sourceOfList, sourcesOf, type Source } from "./watched-lists.ts";

/** Further pages read to close a gap, one for each so many requests of the tier; the rest is recorded and shown as a gap. */
const GAP_PAGES = { fewest: 3, most: 20, anHour: 500, aDay: 5_000 } as const;
/** Consecutive failures to read a gap back, before it is recorded. */
const MAX_FAILED_PAGES = 5;
/** Delay after a failed poll, doubled each time: the list may have changed its shape for good. */
const FAILED_POLL: Backoff = { firstMs: 30 * SECOND, longestMs: 5 * MINUTE };

/** Polls every due source of a specialist. Returns false: the next one is due at a later time. */
export async function pollSources(parts: PollingDependencies, member: Member): Promise<boolean> {
  const { clock } = parts;
  const { sources, rows, known, others } = await listsOf(parts, member);
  const dropped = rows.filter((row) => !sources.some(({ name }) => name === row.name));
  await makeDormant(parts, member, dropped, (cursor) => storeListState(makeListDormant(readListState(cursor, parts.networkNow()))));
  for (const source of sources) {
    if (parts.stopping.aborted) return false;
    const { state, dueAt } = known.get(source.name) ?? { state: undefined, dueAt: null };
    // No due time: the list was dormant, or is new.
    if ((dueAt ?? 0) <= clock.now()) await poll(parts, member, source, { known: state, others: others(source) });
  }
  return false;
}

/** Polls the list of offers now, in the lane of what is owed, unless it could not be read lately. */
export async function pollOffers(parts: PollingDependencies, member: Member): Promise<void> {
  const { sources, known, others } = await listsOf(parts, member);
  const source = sources.find((one) => listOf(one) === OFFERS_LIST);
  const state = source && known.get(source.name)?.state;
  if (source === undefined || state === undefined || state.failure !== undefined) return;
  await poll(parts, member, source, { known: state, others: others(source), lane: "obligation" });
}

/** A specialist's lists, with their rows. */
async function listsOf(parts: PollingDependencies, member: Member) {
  const rows = (await parts.store.sources(member.specialist.handle)).filter((row) => !isSchedule(row));
  const sources = member.retired ? [] : sourcesOf(parts, member);
  const known = new Map(rows.map(({ name, cursor, dueAt }) => [name, { state: readListState(cursor, parts.networkNow()), dueAt }]));
  const others = (one: Source): PollResult[] =>
    sources.filter(({ name }) => name !== one.name).map(({ name, kind }) => ({ source: known.get(name)?.state.pace ?? NEW_PACE, kind }));
  return { sources, rows, known, others };
}

/** The state in which a list is polled. */
interface Asking {
  /** Undefined before its first poll. */
  readonly known: ListState | undefined;
  /** The specialist's other lists. */
  readonly others: readonly PollResult[];
  /** Default: that of polls. */
  readonly lane?: Lane;
}

async function poll(parts: PollingDependencies, member: Member, source: Source, { known, others, lane }: Asking): Promise<void> {
  const { clock, announcer, gateway, shared } = parts;
  const { handle } = member.specialist;
  const { operation, input } = source;
  const list = listOf(source);
  const before = known ?? readListState(undefined, parts.networkNow());
  const [askedAt, began] = [clock.now(), clock.monotonic()];
  // A list of one's own tells others nothing.
  const sharer = source.isOwn === true ? undefined : member.keyId;
  if (sharer !== undefined) shared.begins(list, sharer, askedAt);
  const answer = await gateway.read(member, { operation, input }, { signal: parts.ending, ...(lane === undefined ? {} : { lane }) });
  const lookedAt = parts.networkNow() - (clock.monotonic() - began); // the answer may be the first that states the time
  const result = readResult(answer);
  if (result.kind !== "value") return noteUnread(parts, member, source, before, result);
  const { items } = result.value;
  if (items === undefined)
    return noteUnread(parts, member, source, before, { kind: "failed", code: "read_failed", message: "the answer is no list" });
  const reach = servesAll(parts, source) ? await reachOf(parts, member, source, idsOf(items)) : NO_REACH;
  const pages = await readPages(parts, { member, source, before, reach }, result.value);
  const { reading, failedPage, isUnfinished, unreadPage } = pages;
  const isStored = reading.reported === undefined || (await parts.report(member, reading.reported));
  const now = clock.now();
  if (!isStored) return void (await keep(parts, member, source, { events: [], state: before, dueAt: now + FAILED_POLL.firstMs }));
  const read = { ...before, failure: undefined, dormant: false };
  if (failedPage && before.failedPages < MAX_FAILED_PAGES) {
    // The items read are kept, but the cursor stays, because the unreadable part lies beyond it.
    const state = { ...read, failedPages: before.failedPages + 1 };
    const fresh = await keep(parts, member, source, { events: reading.events, state, dueAt: now + FAILED_POLL.firstMs });
    if (fresh.length > 0) parts.wake(member, "events");
    return;
  }
  const next = await nextPollAt(parts, member, { source: before.pace, kind: source.kind }, reading.fresh, others);
  const reader = source.isOwn === true ? undefined : member.keyId; // known since its first request
  const news = reader === undefined ? [] : shared.looked(list, reader, items, askedAt);
  if (source.operation === "jobs.list") await noteListed(parts, member, items);
  const gaps = withGap(before.gaps, reading.gap, now);
  const lastItems = lastPageItems(result.value);
  const state = {
    ...read,
    cursor: { ...reading.cursor, lookedAt },
    pace: next.source,
    gaps,
    failedPages: 0,
    lastPageItems: lastItems,
    unreadPage,
  };
  const pauseMs = known === undefined ? spreadPause(next.delayMs, parts.random) : next.delayMs;
  const pause = { everyMs: next.delayMs, aloneMs: pauseMs };
  const nextAt = sharer === undefined ? now + pauseMs : shared.nextLook(list, sharer, pause, now);
  const dueAt = Math.round(Math.min(nextAt, isUnfinished ? now + FAILED_POLL.firstMs : Infinity));
  const fresh = await keep(parts, member, source, { events: reading.events, state, dueAt });
  announcer.emit("poll", { at: now, handle, source: source.name, fresh: fresh.length, skipped: reading.skipped });
  if (reading.gap !== undefined) announcer.emit("gap", { at: now, handle, source: source.name, ...reading.gap });
  parts.coverage.found(handle, fresh);
  if (fresh.length > 0) parts.wake(member, "events");
  if (reader !== undefined)
    await tellOthers(parts, member, source, {
      items,
      news,
      reading: listReading(pages, source, { at: askedAt, beganAt: began, oldestPollAt: reach.oldestPollAt }),
    });
}

function listReading(
  { listed, firstPage, isEnd, isCutShort, reading }: PagesRead,
  source: Source,
  times: Pick<ListReading, "at" | "beganAt" | "oldestPollAt">,
): ListReading {
  const { cursor, gap } = reading;
  const isWhole = gap === undefined && source.itemsLeave !== true;
  return { items: listed, firstPage, ...times, isEnd, isCutShort, reader: { startedAt: cursor.startedAt, isWhole, isOwed: false } };
}

/** The result of a poll. */
interface Look {
  readonly events: readonly NewEvent[];
  readonly state: ListState;
  readonly dueAt: number;
}

/** Stores it in one transaction. Returns the new events. */
async function keep(
  parts: PollingDependencies,
  member: Member,
  source: Source,
  { events, state, dueAt }: Look,
): Promise<readonly NewEvent[]> {
  const cursor = { specialist: member.specialist.handle, source: source.name, cursor: storeListState(state), dueAt };
  return (await parts.store.putEvents({ events, cursors: [cursor] }, parts.clock.now())).fresh;
}

/** The list is polled again once there is room, or at growing intervals if it is unreadable. */
async function noteUnread(parts: PollingDependencies, member: Member, source: Source, before: ListState, unread: Unread): Promise<void> {
  const now = parts.clock.now();
  if (unread.kind === "wait") return void (await keep(parts, member, source, { events: [], state: before, dueAt: unread.until }));
  const failure = failedAgain(before.failure, whyUnread(unread), now);
  const dueAt = now + backoffMs(FAILED_POLL, failure.times);
  if (failure.times === REPORTED_AFTER) parts.log.warn(`${source.name} of ${member.specialist.handle} cannot be read: ${failure.message}`);
  await keep(parts, member, source, { events: [], state: { ...before, failure, dormant: false }, dueAt });
}

/** Pages of a list that were read. */
interface PagesRead {
  /** Items of all of them, as they are listed. */
  readonly listed: readonly NetworkRecord[];
  /** Number of those of the first page. */
  readonly firstPage: number;
  /** The list has no further items. */
  readonly isEnd: boolean;
  /** Pages that some lack were not read, and may be read by the next poll. */
  readonly isCutShort: boolean;
  readonly reading: Reading;
  /** A page that the specialist itself lacks could not be read. */
  readonly failedPage: boolean;
  /** Some items wait to be read by themselves. */
  readonly isUnfinished: boolean;
  /** The deepest page with such items, or that of the last poll if it was not reached. */
  readonly unreadPage: number;
}

/** A poll whose first page was read. */
interface PollBegun {
  readonly member: Member;
  readonly source: Source;
  readonly before: ListState;
  readonly reach: Reach;
}

/**
 * Reads on while nothing on the page was seen before, so that a busy hour loses nothing, nor does a first poll that goes back; to the
 * page on which the last poll left items, or one further, since new ones move them on; and as far as others lack pages.
 */
async function readPages(parts: PollingDependencies, { member, source, before, reach }: PollBegun, first: Confirmed): Promise<PagesRead> {
  const { cursor } = before;
  const seen = new Set<string>();
  const items: NetworkRecord[] = [];
  const listed: NetworkRecord[] = [];
  let isUnfinished = false;
  let unreadPage = 0;
  let unreached = reach.targets;
  const take = async (page: readonly NetworkRecord[], number: number, isOwed = true): Promise<Reading> => {
    listed.push(...page);
    const ids = idsOf(page);
    unreached = unreached.filter((target) => !ids.some((id) => target.has(id)));
    if (isOwed) {
      const completed = await source.complete?.(page, cursor);
      items.push(...(completed?.items ?? page));
      isUnfinished ||= completed?.isUnfinished === true;
      if (completed?.leaves === true) unreadPage = number;
    }
    const own = source.read(items, cursor);
    const isTold = reach.told !== undefined && !unreached.includes(reach.told);
    return isTold ? { ...own, gap: undefined } : own;
  };
  const read = (change: Partial<PagesRead> = {}): PagesRead => ({
    listed,
    firstPage: firstItems.length,
    isEnd: false,
    isCutShort: false,
    reading,
    failedPage: false,
    isUnfinished,
    unreadPage,
    ...change,
  });
  // An empty page may be a failure of the network: for others it is no end.
  const whole = (lastPage: readonly NetworkRecord[]): PagesRead =>
    read({ reading: { ...reading, gap: undefined }, isEnd: lastPage.length > 0 });
  const firstItems = freshItems(first.items ?? [], seen);
  let reading = await take(firstItems, 0);
  let next = first.next === undefined ? undefined : cursorOf(first.next);
  // A first list is complete unless it has a next page. So is any list too short to be cut off, because offers leave it.
  const isShort = (cursor.seen ?? []).length === 0 || firstItems.length < MAY_BE_CUT_OFF;
  const isWhole = (isShort || (source.itemsLeave === true && statesItsEnd(first, before))) && !isCut(first);
  if (next === undefined && isWhole) return whole(firstItems.length < MAY_BE_CUT_OFF ? firstItems : []);
  const most = gapPages(member.limits);
  const isOwed = (page: number): boolean => reading.gap !== undefined || (before.unreadPage > 0 && page <= before.unreadPage);
  for (let page = 0; (isOwed(page) || unreached.length > 0) && next !== undefined && page < most; page++) {
    const answer = await parts.gateway.read(
      member,
      { operation: source.operation, input: { ...source.input, cursor: next } },
      { signal: parts.ending },
    );
    const result = readResult(answer);
    // Without room in the quota older items are given up.
    const failedPage = result.kind !== "wait" && isOwed(page);
    if (result.kind !== "value") return read({ failedPage, isCutShort: true, unreadPage: Math.max(unreadPage, before.unreadPage) });
    const more = result.value.items ?? [];
    const fresh = freshItems(more, seen);
    // A page that repeats itself has no next one.
    if (fresh.length === 0 && more.length > 0) return isWhole ? whole([]) : read();
    reading = await take(fresh, page + 1, isOwed(page));
    next = result.value.next === undefined ? undefined : cursorOf(result.value.next);
    if (next === undefined && !isCut(result.value)) return whole(more); // the whole list was read: nothing can be missing
  }
  const canReadOn = (one: Member): boolean =>
    !one.retired && gapPages(one.limits) > most && sourceOfList(parts, one, listOf(source)) !== undefined;
  const canOthersReadOn = unreached.length > 0 && next !== undefined && parts.members().some(canReadOn);
  return read({ isCutShort: canOthersReadOn });
}

function gapPages({ perHour, perDay }: TierLimits): number {
  const { fewest, most, anHour, aDay } = GAP_PAGES;
  return Math.max(fewest, Math.min(most, Math.floor(perHour / anHour), Math.floor(perDay / aDay)));
}

/** True if the network states that no page follows, unless it stated that of a page of this length before: then it may state it of any. */
function statesItsEnd(page: Confirmed, before: ListState): boolean {
  const items = lastPageItems(page);
  return items !== undefined && items !== before.lastPageItems;
}

function lastPageItems({ isLast, items = [], skipped = 0 }: Confirmed): number | undefined {
  return isLast === true ? items.length + skipped : undefined;
}

/** True for a page longer than any that is read whole. */
function isCut({ items = [], skipped = 0 }: Confirmed): boolean {
  return items.length + skipped > MAX_PAGE_ITEMS;
}
