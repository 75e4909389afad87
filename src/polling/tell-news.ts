/** The news of a list that all keys see alike: one poll serves every specialist that watches it. */
import type { NewEvent } from "../contract/event.ts";
import type { NetworkRecord } from "../contract/records.ts";
import type { Member } from "../gateway/member.ts";
import { listOf } from "./list-readers.ts";
import { readListState } from "./list-state.ts";
import type { PageOfAll, PollingDependencies } from "./polling-dependencies.ts";
import { idsOf, newItems } from "./shared-lists.ts";
import { sourcesOf, type Source } from "./watched-lists.ts";

/** Specialists that are told of a page in one turn of the event loop, and whose events are stored together. */
const TOLD_AT_ONCE = 50;

export interface PollOfAll {
  /** The first page. */
  readonly items: readonly NetworkRecord[];
  /** Items of all pages that were read. */
  readonly listed: readonly NetworkRecord[];
  /** The time of the request. */
  readonly askedAt: number;
}

/** Tells every watcher of a list that all see alike: N keys discover its news N times sooner. */
export async function tellOthers(
  parts: PollingDependencies,
  member: Member,
  source: Source,
  { items, listed, askedAt }: PollOfAll,
): Promise<void> {
  if (member.keyId === undefined) return;
  const list = listOf(source);
  const since = parts.shared.heardAt(list) ?? -Infinity;
  const news = parts.shared.looked(list, member.keyId, items, askedAt);
  const at = parts.shared.heardAt(list);
  const all = () => [...listed, ...newItems(parts.shared.recent(list, askedAt), idsOf(listed))];
  const page = { list, ids: idsOf(items), news, whole: at === undefined ? undefined : { items: all(), since, at } };
  if (parts.spread === undefined) await hearNews(parts, page, member);
  else await parts.spread(page, member);
}

/**
 * Stores news of a public list for the specialists that watch it, except the one that has read it, and wakes them. After a failure, all of
 * them are told of the whole next page that this process reads.
 */
export async function hearNews(parts: PollingDependencies, page: Omit<PageOfAll, "ids">, except?: Member): Promise<void> {
  const { told } = parts;
  const { list, whole } = page;
  const lastTold = told.get(list);
  if (whole !== undefined) told.set(list, whole.at);
  try {
    if (whole !== undefined) await tellWhole(parts, list, whole, { isBehind: lastTold !== whole.since, except });
    await tellNew(parts, page, except);
  } catch (error) {
    told.delete(list);
    throw error;
  }
}

async function tellNew(parts: PollingDependencies, { list, news }: Omit<PageOfAll, "ids">, except: Member | undefined): Promise<void> {
  if (news.length === 0) return;
  const told = parts.members().flatMap((other) => {
    if (other === except || other.retired) return [];
    const events = watched(parts, other, list)?.read(news, { seen: [], startedAt: other.enlistedAt }).events ?? [];
    return events.length === 0 ? [] : [{ other, events }];
  });
  if (told.length === 0) return;
  await parts.store.putEvents({ events: told.flatMap(({ events }) => events) }, parts.clock.now());
  for (const { other } of told) parts.wake(other, "events");
}

/**
 * Gives a whole page to those who have joined since the one before, or to all if those of this runtime are behind; each by its own cursor,
 * since a poll of its own may be far.
 */
async function tellWhole(
  parts: PollingDependencies,
  list: string,
  { items, since }: NonNullable<PageOfAll["whole"]>,
  { isBehind, except }: { readonly isBehind: boolean; readonly except: Member | undefined },
): Promise<void> {
  const { clock, store } = parts;
  const lacksPast = ({ specialist }: Member): number => Number(store.awaitsPast(specialist.handle));
  const late = parts
    .members()
    .filter((one) => one !== except && !one.retired && (isBehind || one.enlistedAt >= since))
    .toSorted((a, b) => lacksPast(a) - lacksPast(b)); // their events are stored once it is here
  for (let told = 0; told < late.length; told += TOLD_AT_ONCE) {
    if (told > 0) await new Promise<void>((resolve) => clock.soon(resolve));
    const some = late.slice(told, told + TOLD_AT_ONCE);
    const events = (await Promise.all(some.map((other) => lackedBy(parts, other, list, items)))).flat();
    if (events.length === 0) continue;
    const { fresh } = await store.putEvents({ events }, clock.now());
    const woken = new Set(fresh.map(({ specialist }) => specialist));
    for (const other of some) if (woken.has(other.specialist.handle)) parts.wake(other, "events");
  }
}

/** The events that a specialist has for those of the items that its own cursor does not know; none before its first poll, which decides. */
async function lackedBy(
  parts: PollingDependencies,
  member: Member,
  list: string,
  items: readonly NetworkRecord[],
): Promise<readonly NewEvent[]> {
  const source = watched(parts, member, list);
  const row = source && (await parts.store.sources(member.specialist.handle)).find(({ name }) => name === source.name);
  const cursor = row && readListState(row.cursor, parts.networkNow()).cursor;
  return cursor?.seen === undefined ? [] : (source?.read(items, cursor).events ?? []);
}

function watched(parts: PollingDependencies, member: Member, list: string): Source | undefined {
  return sourcesOf(parts, member).find((one) => listOf(one) === list);
}
