/** Lists that a specialist reads: the items it wants, and the lists that are the same for all keys. */
import { canonicalJson, type JsonObject } from "../core/json.ts";
import type { Member } from "../gateway/member.ts";
import { handlerOf } from "../specialist/handlers.ts";
import { DEFAULT_MAX_AGE_MS, type FeedWatching, type JobsWatching } from "../specialist/specialist.ts";
import type { FeedReader } from "./feed-events.ts";
import type { JobsReader } from "./job-events.ts";
import type { Freshness } from "./list-cursor.ts";

export function listOf({ operation, input }: { readonly operation: string; readonly input: JsonObject }): string {
  return `${operation} ${canonicalJson(input)}`;
}

/** The list of offered jobs, which is the same for all keys. */
export const OFFERS = { operation: "jobs.list", input: {} } as const;
/** Its name in {@link SharedLists}. */
export const OFFERS_LIST = listOf(OFFERS);

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
