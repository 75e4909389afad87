/**
 * Public lists of a fleet: a page that one process has polled serves all of them. It goes to the others as a request that nobody answers;
 * one that is lost costs time only, because each process polls for itself as well.
 */
import { readListed, type NetworkRecord } from "../contract/records.ts";
import { messageOf } from "../core/errors.ts";
import { isObject } from "../core/json.ts";
import type { Logger } from "../core/log.ts";
import { MINUTE } from "../core/units.ts";
import { hearNews, hearPage } from "../polling/tell-news.ts";
import type { PollingDependencies } from "../polling/polling-dependencies.ts";
import type { PageOfAll } from "../polling/told-list.ts";
import type { SharedLists } from "../polling/shared-lists.ts";
import type { Member } from "../gateway/member.ts";
import type { Fleet } from "./fleet.ts";

/** The name of the request. */
export const LISTED = "listed";
/** A page without news is told this often, for the others to see that their keys get the same list. */
const COMPARED_EVERY_MS = 10 * MINUTE;
/** News that is longer is left to the polls of the others. */
const MAX_CHARACTERS = 256 * 1_024;
const MAX_IDS = 200;
const MAX_LISTS = 1_000;

export interface FleetNewsOptions {
  readonly fleet: Fleet;
  readonly shared: SharedLists;
  readonly log: Logger;
  readonly now: () => number;
}

export interface FleetNews {
  /** Tells the other specialists of this process, and the other processes. Never rejects. */
  spread(page: PageOfAll, by: Member): Promise<void>;
  /** Takes the page of another process. Never rejects. */
  hear(page: unknown): Promise<void>;
}

export function createFleetNews({ fleet, shared, log, now }: FleetNewsOptions): FleetNews {
  const toldAt = new Map<string, number>();
  /** A store that fails hinders no other. */
  const tellAll = async (tell: (parts: PollingDependencies) => Promise<void>): Promise<void> => {
    const working = fleet.parts.filter(({ runtime }) => runtime.phase !== "store_lost");
    const told = await Promise.allSettled(working.map(({ runtime }) => tell(runtime.parts)));
    for (const one of told) if (one.status === "rejected") throw one.reason;
  };
  const guarded = async (work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      log.warn("news of a public list did not reach all: the next page of the list brings it again", { message: messageOf(error) });
    }
  };
  const tellProcesses = async ({ list, ids, news }: PageOfAll): Promise<void> => {
    const receivers = fleet.others().filter(({ shards }) => shards.length > 0);
    const { membership } = fleet;
    const isDue = (toldAt.get(list) ?? -Infinity) <= now() - COMPARED_EVERY_MS;
    if (membership === undefined || receivers.length === 0 || (news.length === 0 && !isDue)) return;
    if (toldAt.size >= MAX_LISTS) toldAt.clear();
    toldAt.set(list, now());
    const page = { by: `process ${membership.number}`, list, ids: ids.slice(0, MAX_IDS), news: shortened(news) };
    await membership.tell(receivers, JSON.stringify({ do: LISTED, with: page }));
  };
  return {
    spread: (page, by) =>
      guarded(async () => void (await Promise.all([tellProcesses(page), tellAll((parts) => hearPage(parts, page, by))]))),
    hear: (page) =>
      guarded(async () => {
        const { by, list, ids, news } = isObject(page) ? page : {};
        if (typeof by !== "string" || typeof list !== "string" || !isTexts(ids)) throw new Error("the page cannot be read");
        const heard = { list, ids, news: readListed(news) };
        shared.heard(list, { by, ids }, now());
        await tellAll((parts) => hearNews(parts, heard));
      }),
  };
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.length <= MAX_IDS && value.every((one) => typeof one === "string");
}

/** The newest that are not too long together. */
function shortened(news: readonly NetworkRecord[]): readonly NetworkRecord[] {
  let length = 0;
  const end = news.findIndex((item) => (length += JSON.stringify(item).length) > MAX_CHARACTERS);
  return end < 0 ? news : news.slice(0, end);
}
