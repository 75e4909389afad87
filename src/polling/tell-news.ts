/**
 * News of a list that all keys see alike: one poll serves every specialist that watches it. A runtime remembers the items of which its
 * specialists were told. One that may lack some (it joined since, its events could not be stored, a page between was missed) is told of
 * the whole next page by its own cursor, and the poll of that page reads back to the one that lacks most.
 */
import type { NewEvent } from "../contract/event.ts";
import type { NetworkRecord } from "../contract/records.ts";
import type { Member } from "../gateway/member.ts";
import { withSeen } from "./list-cursor.ts";
import { listOf } from "./list-readers.ts";
import { readListState, type ListCursor } from "./list-state.ts";
import type { PollingDependencies } from "./polling-dependencies.ts";
import { idsOf } from "./shared-lists.ts";
import type { ListReading, PageOfAll, ToldList, ToldMember } from "./told-list.ts";
import { sourcesOf, type Source } from "./watched-lists.ts";

/** Specialists that are told of a whole page in one turn of the event loop, and whose events are stored together. */
const TOLD_AT_ONCE = 50;
/** Events of news that are stored together. */
const MAX_EVENTS = 5_000;

/** Items to which a poll reads back. */
export interface Reach {
  /** One of the ids of each of these has to be read. */
  readonly targets: readonly ReadonlySet<string>[];
  /** Ids of which the specialist was told, with nothing missing before them. */
  readonly told: ReadonlySet<string> | undefined;
}

export const NO_REACH: Reach = { targets: [], told: undefined };

/** True for a list of which one poll tells all that anybody lacks. */
export function servesAll(parts: PollingDependencies, source: Source): boolean {
  return source.isOwn !== true && source.itemsLeave !== true && parts.shared.isForAll(listOf(source));
}

/** Finds the items to which a specialist's poll of a list reads back for all of its runtime. */
export async function reachOf(parts: PollingDependencies, member: Member, source: Source): Promise<Reach> {
  const list = listOf(source);
  const told = parts.told.get(list);
  const seen = told === undefined || told.seen.length === 0 ? undefined : new Set(told.seen);
  const oldest = await oldestCursor(parts, list, (one) => one !== member && told?.members.has(one) !== true);
  return {
    targets: [seen, oldest].filter((one) => one !== undefined),
    told: told?.members.get(member)?.isWhole === true ? seen : undefined,
  };
}

/** The items of the oldest poll of those who lack pages. Undefined if nobody does. */
async function oldestCursor(
  parts: PollingDependencies,
  list: string,
  lacks: (member: Member) => boolean,
): Promise<ReadonlySet<string> | undefined> {
  let oldest: ListCursor | undefined;
  let looked = 0;
  for (const member of parts.members()) {
    if (member.retired || !lacks(member) || parts.store.awaitsPast(member.specialist.handle)) continue;
    if (++looked % TOLD_AT_ONCE === 0) await nextTurn(parts);
    const source = watched(parts, member, list);
    const cursor = source && (await cursorOf(parts, member, source));
    if (cursor?.seen !== undefined && (oldest === undefined || timeOf(cursor) < timeOf(oldest))) oldest = cursor;
  }
  return oldest?.seen && new Set(oldest.seen);
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
  const isOurs = parts.members().includes(reader);
  const before = parts.told.get(list);
  const isLinked = before === undefined || reading.isEnd || before.seen.length === 0 || overlaps(ids, before.seen);
  // Nothing further is read back for this runtime: each is told by its own cursor.
  const told = before === undefined || (!isLinked && isOurs) ? renewed(parts, list) : before;
  const isNewest = reading.at >= told.at;
  told.at = Math.max(told.at, reading.at);
  const [those, lacking]: [Member[], Member[]] = [[], []];
  for (const member of parts.members()) if (member !== reader && !member.retired) (told.members.has(member) ? those : lacking).push(member);
  await tellNew(parts, { list, told, items: unseenOf(reading, told.seen) }, those);
  const joining = await tellWhole(parts, { list, reading, ids: new Set(ids), isOurs }, lacking);
  if (isLinked || told !== before) told.seen = withSeen(told.seen, ids);
  if (!isNewest) return;
  for (const [member, one] of joining) told.members.set(member, one);
  if (isOurs) told.members.set(reader, reading.reader);
}

/** Stores the news of a page that another process has read. Those who lack pages still do. Rejects as {@link hearPage} does. */
export async function hearNews(
  parts: PollingDependencies,
  { list, ids, news, at }: Pick<PageOfAll, "list" | "ids" | "news"> & { readonly at: number },
): Promise<void> {
  const told = parts.told.get(list);
  if (told !== undefined) told.at = Math.max(told.at, at);
  const seen = new Set(told?.seen);
  const all = parts.members().filter(({ retired }) => !retired);
  await tellNew(parts, { list, told, items: news.filter((item) => !idsOf([item]).some((id) => seen.has(id))) }, all);
  const known = new Set([...idsOf(news), ...seen]);
  if (told !== undefined && overlaps(ids, told.seen) && ids.every((id) => known.has(id))) told.seen = withSeen(told.seen, ids);
}

function renewed(parts: PollingDependencies, list: string): ToldList {
  const told = { seen: [], at: -Infinity, members: new WeakMap<Member, ToldMember>() };
  parts.told.set(list, told);
  return told;
}

interface News {
  readonly list: string;
  readonly told: ToldList | undefined;
  readonly items: readonly NetworkRecord[];
}

/** Gives news to all who watch the list. Those who lack pages get what came since they joined. */
async function tellNew(parts: PollingDependencies, { list, told, items }: News, members: readonly Member[]): Promise<void> {
  if (items.length === 0) return;
  const atOnce = Math.max(1, Math.floor(MAX_EVENTS / items.length));
  for (let done = 0; done < members.length; done += atOnce) {
    if (done > 0) await nextTurn(parts);
    const some = members.slice(done, done + atOnce);
    const events = some.flatMap((member) => {
      const source = watched(parts, member, list);
      const known = told?.members.get(member);
      if (source === undefined && known?.isWhole === true) told?.members.set(member, { ...known, isWhole: false });
      return source?.read(items, { seen: [], startedAt: known?.startedAt ?? member.enlistedAt }).events ?? [];
    });
    await store(parts, some, events);
  }
}

interface WholePage {
  readonly list: string;
  readonly reading: ListReading;
  readonly ids: ReadonlySet<string>;
  /** One of this runtime has read it, so that it goes back as far as can be read for those who were here. */
  readonly isOurs: boolean;
}

/** Gives a whole page to those who lack some, each by its own cursor. Returns those who lack nothing now that could be read. */
async function tellWhole(parts: PollingDependencies, page: WholePage, lacking: readonly Member[]): Promise<[Member, ToldMember][]> {
  const awaitsPast = ({ specialist }: Member): boolean => parts.store.awaitsPast(specialist.handle);
  const late = lacking.toSorted((a, b) => Number(awaitsPast(a)) - Number(awaitsPast(b))); // their events are stored once it is here
  const joining: [Member, ToldMember][] = [];
  for (let done = 0; done < late.length; done += TOLD_AT_ONCE) {
    if (done > 0) await nextTurn(parts);
    const some = late.slice(done, done + TOLD_AT_ONCE);
    const told = await Promise.all(some.map((member) => toldWhole(parts, page, member, awaitsPast(member))));
    await store(
      parts,
      some,
      told.flatMap(({ events }) => events),
    );
    joining.push(...told.flatMap(({ member, joins }): [Member, ToldMember][] => (joins === undefined ? [] : [[member, joins]])));
  }
  return joining;
}

/** The events of a whole page for one specialist, and its standing once they are stored: undefined if it still lacks pages. */
async function toldWhole(
  parts: PollingDependencies,
  { list, reading, ids, isOurs }: WholePage,
  member: Member,
  awaitedPast: boolean,
): Promise<{ readonly member: Member; readonly events: readonly NewEvent[]; readonly joins: ToldMember | undefined }> {
  const fromNow = { startedAt: member.enlistedAt, isWhole: false };
  const source = watched(parts, member, list);
  if (source === undefined) return { member, events: [], joins: fromNow };
  const cursor = await cursorOf(parts, member, source);
  // Before its first poll it is told of what came since it joined.
  if (cursor?.seen === undefined)
    return { member, events: source.read(unseenOf(reading, []), { seen: [], startedAt: member.enlistedAt }).events, joins: fromNow };
  const isWhole = source.itemsLeave !== true && (reading.isEnd || cursor.seen.some((id) => ids.has(id)));
  const isReadBack = isOurs && !reading.isCutShort && !awaitedPast && member.enlistedAt < reading.at;
  const joins = isWhole || isReadBack || source.itemsLeave === true ? { startedAt: cursor.startedAt, isWhole } : undefined;
  return { member, events: source.read(unseenOf(reading, cursor.seen), cursor).events, joins };
}

async function store(parts: PollingDependencies, members: readonly Member[], events: readonly NewEvent[]): Promise<void> {
  if (events.length === 0) return;
  const { fresh } = await parts.store.putEvents({ events }, parts.clock.now());
  const woken = new Set(fresh.map(({ specialist }) => specialist));
  for (const member of members) if (woken.has(member.specialist.handle)) parts.wake(member, "events");
}

/** Items that are not among these. One without a date may be older than the last that is: it counts on the first page alone. */
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

function watched(parts: PollingDependencies, member: Member, list: string): Source | undefined {
  return sourcesOf(parts, member).find((one) => listOf(one) === list);
}

function nextTurn({ clock }: PollingDependencies): Promise<void> {
  return new Promise((resolve) => clock.soon(resolve));
}
