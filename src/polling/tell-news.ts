/** The news of a list that all keys see alike: one poll serves every specialist that watches it. */
import type { NetworkRecord } from "../contract/records.ts";
import type { Member } from "../gateway/member.ts";
import { listOf } from "./list-readers.ts";
import { readListState } from "./list-state.ts";
import type { PageOfAll, PollingDependencies } from "./polling-dependencies.ts";
import { idsOf } from "./shared-lists.ts";
import { sourcesOf, type Source } from "./watched-lists.ts";

/** Specialists that are told of a page in one turn of the event loop. */
const TOLD_A_TURN = 20;

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
  const page = { list, ids: idsOf(items), news, whole: at === undefined ? undefined : { items: listed, since, at } };
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
    const same = sourcesOf(parts, other).find((one) => listOf(one) === list);
    const events = same?.read(news, { seen: [], startedAt: other.enlistedAt }).events ?? [];
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
  const late = parts.members().filter((one) => one !== except && !one.retired && (isBehind || one.enlistedAt >= since));
  for (const [i, other] of late.entries()) {
    if (i > 0 && i % TOLD_A_TURN === 0) await new Promise<void>((resolve) => clock.soon(resolve));
    const source = sourcesOf(parts, other).find((one) => listOf(one) === list);
    const row = source && (await store.sources(other.specialist.handle)).find(({ name }) => name === source.name);
    const cursor = row && readListState(row.cursor, parts.networkNow()).cursor;
    if (cursor?.seen === undefined) continue; // its first poll decides what it begins with
    const events = source?.read(items, cursor).events ?? [];
    if (events.length === 0) continue;
    const { fresh } = await store.putEvents({ events }, clock.now());
    if (fresh.length > 0) parts.wake(other, "events");
  }
}
