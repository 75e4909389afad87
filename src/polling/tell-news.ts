/**
 * News of a list that all keys see alike: one poll serves every specialist that watches it. A runtime remembers the items of which its
 * specialists were told. One that may lack some (it joined since, its events could not be stored, a page between was missed) is told of
 * the whole next page by its own cursor, and polls read back to the one that lacks most.
 */
import type { NewEvent } from "../contract/event.ts";
import type { NetworkRecord } from "../contract/records.ts";
import { nextTurn } from "../core/clock.ts";
import type { Member } from "../gateway/member.ts";
import { keepTold } from "./keep-told.ts";
import { withSeen } from "./list-cursor.ts";
import { listOf } from "./list-readers.ts";
import { readListState, type ListCursor } from "./list-state.ts";
import type { PollingDependencies } from "./polling-dependencies.ts";
import { agreement } from "./poll-sharing.ts";
import { idsOf } from "./shared-lists.ts";
import type { ListReading, PageOfAll, ToldList, ToldMember } from "./told-list.ts";
import { sourceOfList, type Source } from "./watched-lists.ts";

/** Specialists whose cursors are read in one turn of the event loop. */
const READ_AT_ONCE = 50;
/** Successive readings that were cut short, after which those who lack deeper pages are left to their own polls. */
const MOST_CUT_SHORT = 10;
/** Events that are stored together, in one turn of the event loop: a takeover waits for some turns. */
const MAX_EVENTS = 1_000;

/** Items to which a poll reads back. */
export interface Reach {
  /** One of the ids of each of these has to be read. */
  readonly targets: readonly ReadonlySet<string>[];
  /** Ids of which the specialist was told, with nothing missing before them. */
  readonly told: ReadonlySet<string> | undefined;
  /** Network's time of the oldest poll among the targets. Infinity: nobody else's poll is one. */
  readonly oldestPollAt: number;
}

export const NO_REACH: Reach = { targets: [], told: undefined, oldestPollAt: Infinity };

/** True for a list of which one poll tells what others lack. */
export function servesAll(parts: PollingDependencies, source: Source): boolean {
  return source.isOwn !== true && source.itemsLeave !== true && parts.shared.isForAll(listOf(source));
}

/** Finds the items to which a specialist's poll of a list reads back for all of its runtime. `page` has the ids of its first page. */
export async function reachOf(parts: PollingDependencies, member: Member, source: Source, page: readonly string[]): Promise<Reach> {
  const list = listOf(source);
  const told = parts.told.get(list);
  const seen = told === undefined || told.seen.length === 0 ? undefined : new Set(told.seen);
  const lacks = (one: Member): boolean => one !== member && told?.members.get(one)?.isOwed !== false;
  // While they are given a page nothing is read back for them again.
  const oldest = told?.isTelling === true ? undefined : await oldestCursor(parts, list, lacks);
  // A key that gets another list than the rest has items of which nobody tells it.
  const isAlike = told !== undefined && agreement(page, told.seen) !== "different";
  return {
    targets: [seen, oldest?.seen && new Set(oldest.seen)].filter((one) => one !== undefined),
    told: isAlike && told.members.get(member)?.isWhole === true ? seen : undefined,
    oldestPollAt: oldest === undefined ? Infinity : timeOf(oldest),
  };
}

/** The oldest poll of those who lack pages. Undefined if nobody does. */
async function oldestCursor(parts: PollingDependencies, list: string, lacks: (member: Member) => boolean): Promise<ListCursor | undefined> {
  let oldest: ListCursor | undefined;
  let looked = 0;
  for (const member of parts.members()) {
    if (member.retired || !lacks(member) || awaitsPast(parts, member)) continue;
    const source = sourceOfList(parts, member, list);
    if (source === undefined) continue;
    if (++looked % READ_AT_ONCE === 0) await nextTurn(parts.clock);
    const cursor = await cursorOf(parts, member, source);
    if (cursor?.seen !== undefined && (oldest === undefined || timeOf(cursor) < timeOf(oldest))) oldest = cursor;
  }
  return oldest;
}

const timeOf = ({ lookedAt, startedAt }: ListCursor): number => lookedAt ?? startedAt;

/** A poll of a public list. */
interface PollOfAll {
  /** The first page. */
  readonly items: readonly NetworkRecord[];
  /** Those that are new to this process. */
  readonly news: readonly NetworkRecord[];
  readonly reading: ListReading;
}

/** Tells every watcher of a list that all see alike, once the poll is stored: N keys discover its news N times sooner. */
export async function tellOthers(
  parts: PollingDependencies,
  member: Member,
  source: Source,
  { items, news, reading }: PollOfAll,
): Promise<void> {
  const list = listOf(source);
  const page = { list, ids: idsOf(items), news, reading: parts.shared.isForAll(list) ? reading : undefined };
  if (parts.spread === undefined) await hearPage(parts, page, member);
  else await parts.spread(page, member);
}

/**
 * Stores the news of a page that this process has read for the specialists that lack it, except the one that read it, and wakes them. If it
 * rejects, the next page brings the same news. All lack pages if the list is not known to be the same for all.
 */
export async function hearPage(
  parts: PollingDependencies,
  { list, reading }: Pick<PageOfAll, "list" | "reading">,
  reader: Member,
): Promise<void> {
  if (reading === undefined) return void parts.told.delete(list);
  const ids = idsOf(reading.items);
  if (ids.length === 0) return; // perhaps a failure of the network
  const isOurs = parts.members().includes(reader);
  const before = parts.told.get(list);
  const isLinked = before === undefined || reading.isEnd || before.seen.length === 0 || overlaps(ids, before.seen);
  // Nothing further is read back for this runtime: each is told by its own cursor.
  const told = before === undefined || (!isLinked && isOurs) ? renewed(parts, list) : before;
  const others = parts.members().filter((member) => member !== reader && !member.retired);
  const isNew = told !== before;
  const isNewest = reading.beganAt >= told.at && (isNew || reading.beganAt >= missedAt(told, reader));
  told.at = Math.max(told.at, reading.beganAt);
  if (isOurs) told.cutShort = reading.isCutShort ? told.cutShort + 1 : 0;
  if (!isNew) await tellNew(parts, { list, told, items: unseenOf(reading, told.seen) }, others);
  if (isLinked || isNew) told.seen = withSeen(told.seen, ids);
  if (isOurs && isNewest) told.members.set(reader, reading.reader);
  else told.members.delete(reader); // it may lack what a newer page brought before its own first poll
  if (!told.isTelling)
    await tellWhole(parts, { list, told, reading: isLinked ? reading : asDeepest(reading), ids: new Set(ids), isOurs, isNew }, others);
  await keepTold(parts, list, told, { members: others, firstPage: reading.firstPage });
}

/** Stores the news of a page that another process has read. Those who lack pages still do. Rejects as {@link hearPage} does. */
export async function hearNews(parts: PollingDependencies, { list, ids, news }: Pick<PageOfAll, "list" | "ids" | "news">): Promise<void> {
  const told = parts.told.get(list);
  if (told !== undefined) told.at = parts.clock.monotonic();
  const seen = new Set(told?.seen);
  const all = parts.members().filter(({ retired }) => !retired);
  await tellNew(parts, { list, told, items: news.filter((item) => !idsOf([item]).some((id) => seen.has(id))) }, all);
  const known = new Set([...idsOf(news), ...seen]);
  if (told !== undefined && overlaps(ids, told.seen) && ids.every((id) => known.has(id))) told.seen = withSeen(told.seen, ids);
}

/** A page that shares nothing with the one before: everything that can be read was read. */
const asDeepest = (reading: ListReading): ListReading => ({ ...reading, oldestPollAt: -Infinity });

function renewed(parts: PollingDependencies, list: string): ToldList {
  const told = {
    seen: [],
    at: -Infinity,
    since: parts.clock.monotonic(),
    passedOver: new WeakMap<Member, number>(),
    isTelling: false,
    cutShort: 0,
    unkept: 0,
    members: new WeakMap<Member, ToldMember>(),
  };
  parts.told.set(list, told);
  return told;
}

/** A page that was requested before this lacks items that were told meanwhile, and not to this specialist. */
const missedAt = ({ passedOver, since }: ToldList, member: Member): number => passedOver.get(member) ?? since;

interface News {
  readonly list: string;
  readonly told: ToldList | undefined;
  readonly items: readonly NetworkRecord[];
}

/**
 * Gives news to all who watch the list. Specialists that lack pages get what came since they joined. One whose past is still being read gets
 * nothing, because everybody would wait for it.
 */
async function tellNew(parts: PollingDependencies, { list, told, items }: News, members: readonly Member[]): Promise<void> {
  if (items.length === 0) return;
  const atOnce = Math.max(1, Math.floor(MAX_EVENTS / items.length));
  for (let done = 0; done < members.length; done += atOnce) {
    if (done > 0) await nextTurn(parts.clock);
    const some = members.slice(done, done + atOnce);
    const events = some.flatMap((member) => {
      const source = sourceOfList(parts, member, list);
      const known = told?.members.get(member);
      const isPassedOver = awaitsPast(parts, member);
      if (source !== undefined && isPassedOver) told?.passedOver.set(member, parts.clock.monotonic());
      if (source === undefined || isPassedOver) told?.members.delete(member);
      if (isPassedOver) return [];
      return source?.read(items, { seen: [], startedAt: known?.startedAt ?? enlistedAt(parts, member) }).events ?? [];
    });
    await store(parts, some, events);
  }
  if (told !== undefined) told.unkept += items.length;
}

interface WholePage {
  readonly list: string;
  readonly told: ToldList;
  readonly reading: ListReading;
  readonly ids: ReadonlySet<string>;
  /** One of this runtime has read it. */
  readonly isOurs: boolean;
  /** Nobody of this runtime was told of anything before. */
  readonly isNew: boolean;
}

/** Gives a whole page to those who lack some, each by its own cursor. They are told of news from then on. */
async function tellWhole(parts: PollingDependencies, page: WholePage, members: readonly Member[]): Promise<void> {
  const { list, told, reading, isNew } = page;
  const isDeep = reading.isEnd || reading.items.length > reading.firstPage;
  const lacking = members.filter((member) => {
    const known = told.members.get(member);
    if (known !== undefined && !(known.isOwed && isDeep)) return false;
    if (!isNew && reading.beganAt < missedAt(told, member)) return false;
    // News that came before it joined may be newer than this page.
    return member.enlistedAt < reading.at && !awaitsPast(parts, member) && sourceOfList(parts, member, list) !== undefined;
  });
  const atOnce = Math.max(1, Math.min(READ_AT_ONCE, Math.floor(MAX_EVENTS / Math.max(1, reading.items.length))));
  let most = 0;
  told.isTelling = true;
  try {
    for (let done = 0; done < lacking.length; done += atOnce) {
      if (done > 0) await nextTurn(parts.clock);
      const some = lacking.slice(done, done + atOnce);
      const given = await Promise.all(some.map((member) => wholeFor(parts, page, member)));
      await store(
        parts,
        some,
        given.flatMap(({ events }) => events),
      );
      // One that was defined anew meanwhile has another watch.
      for (const { member, standing } of given) if (member.enlistedAt < reading.at) told.members.set(member, standing);
      most = Math.max(most, ...given.map(({ items }) => items));
    }
  } finally {
    told.isTelling = false;
    told.unkept += most;
  }
}

/** The events of a whole page for one specialist, and its standing once they are stored. */
async function wholeFor(
  parts: PollingDependencies,
  { list, told, reading, ids, isOurs }: WholePage,
  member: Member,
): Promise<{ readonly member: Member; readonly items: number; readonly events: readonly NewEvent[]; readonly standing: ToldMember }> {
  const source = sourceOfList(parts, member, list);
  const cursor = source && (await cursorOf(parts, member, source));
  // Its first poll decides where it begins.
  if (source === undefined || cursor?.seen === undefined)
    return { member, items: 0, events: [], standing: { startedAt: enlistedAt(parts, member), isWhole: false, isOwed: false } };
  const isReached = reading.isEnd || cursor.seen.some((id) => ids.has(id));
  const isWhole = isReached && source.itemsLeave !== true;
  const isReadBackFor = isOurs && (!reading.isCutShort || told.cutShort > MOST_CUT_SHORT) && timeOf(cursor) >= reading.oldestPollAt;
  const isOwed = !isReached && source.itemsLeave !== true && !isReadBackFor;
  const items = unseenOf(reading, cursor.seen);
  const { events } = source.read(items, cursor);
  return { member, items: items.length, events, standing: { startedAt: cursor.startedAt, isWhole, isOwed } };
}

async function store(parts: PollingDependencies, members: readonly Member[], events: readonly NewEvent[]): Promise<void> {
  if (events.length === 0) return;
  const { fresh } = await parts.store.putEvents({ events }, parts.clock.now());
  const woken = new Set(fresh.map(({ specialist }) => specialist));
  for (const member of members) if (woken.has(member.specialist.handle)) parts.wake(member, "events");
}

/** By the network's clock. */
const enlistedAt = ({ networkNow, clock }: PollingDependencies, member: Member): number => member.enlistedAt + (networkNow() - clock.now());

const awaitsPast = ({ store }: PollingDependencies, { specialist }: Member): boolean => store.awaitsPast(specialist.handle);

/** Items that are not among these. An undated one below the last that is may be old, so it counts on the first page only. */
function unseenOf({ items, firstPage }: ListReading, seen: readonly string[]): readonly NetworkRecord[] {
  const known = new Set(seen);
  const isKnown = (item: NetworkRecord): boolean => idsOf([item]).some((id) => known.has(id));
  const last = Math.max(firstPage - 1, items.findLastIndex(isKnown));
  return items.filter((item, place) => !isKnown(item) && (place <= last || ("createdAtMs" in item && item.createdAtMs !== undefined)));
}

function overlaps(ids: readonly string[], seen: readonly string[]): boolean {
  const known = new Set(seen);
  return ids.some((id) => known.has(id));
}

async function cursorOf({ store, networkNow }: PollingDependencies, member: Member, source: Source): Promise<ListCursor | undefined> {
  const row = (await store.sources(member.specialist.handle)).find(({ name }) => name === source.name);
  return row && readListState(row.cursor, networkNow()).cursor;
}
