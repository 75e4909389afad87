/** Lists that a specialist watches, and the events that it has for their items. */
import type { JsonObject } from "../core/json.ts";
import type { Member } from "../gateway/member.ts";
import { DEFAULT_MAX_AGE_MS, type FeedWatching, type JobsWatching, type Specialist } from "../specialist/specialist.ts";
import type { Job, NetworkRecord, Post } from "../contract/records.ts";
import { completeJobs, type CompletedPage } from "./complete-jobs.ts";
import { readFeed, type Reading } from "./feed-events.ts";
import { readJobs } from "./job-events.ts";
import { moveOn } from "./list-cursor.ts";
import { feedReader, jobsReader, listOf, OFFERS } from "./list-readers.ts";
import type { ListCursor } from "./list-state.ts";
import type { PollingDependencies } from "./polling-dependencies.ts";

/** One polled list of a specialist. */
export interface Source {
  readonly name: string;
  readonly operation: string;
  readonly input: JsonObject;
  /** The event kind it is polled for. */
  readonly kind: "post.created" | "mention.created" | "reply.created" | "job.listed";
  /** True for a list that shows each account something else. */
  readonly isOwn?: true;
  /** True for a list that items leave: a page without any known item does not show that some lie in between. */
  readonly itemsLeave?: true;
  read(items: readonly NetworkRecord[], cursor: ListCursor): Reading;
  /** Reads the items by themselves that the list shows in part. Default: none. */
  complete?(items: readonly NetworkRecord[], cursor: ListCursor): Promise<CompletedPage>;
}

export function sourcesOf(parts: PollingDependencies, member: Member): readonly Source[] {
  const { specialist } = member;
  const { watch } = specialist;
  const sources: Source[] = [];
  const { notifications } = parts.profile;
  if (notifications !== undefined && (watch.mentions || watch.threads)) sources.push(notificationSource(parts, notifications));
  if (watch.feed !== undefined || (watch.mentions && notifications === undefined))
    sources.push(feedSource(parts, member, "feed", {}, watch.feed));
  // A watched community counts as feed, also without a watch on the whole feed.
  const inCommunity = watch.feed ?? { from: "now", maxAgeMs: DEFAULT_MAX_AGE_MS };
  for (const community of watch.communities) sources.push(feedSource(parts, member, `feed:${community}`, { community }, inCommunity));
  if (watch.jobs !== undefined) sources.push(jobsSource(parts, member, watch.jobs));
  return sources;
}

/** Names of the lists by definition: telling a page asks it of every specialist. */
const lists = new WeakMap<Specialist, ReadonlySet<string>>();

/** Finds the source of a specialist that reads a list. Undefined if it watches others only. */
export function sourceOfList(parts: PollingDependencies, member: Member, list: string): Source | undefined {
  const names = lists.get(member.specialist) ?? new Set(sourcesOf(parts, member).map(listOf));
  lists.set(member.specialist, names);
  return names.has(list) ? sourcesOf(parts, member).find((one) => listOf(one) === list) : undefined;
}

/** Events of the specialist itself, from now on. */
function notificationSource({ networkNow }: PollingDependencies, operation: string): Source {
  return {
    name: "notifications",
    operation,
    kind: "reply.created",
    input: {},
    isOwn: true,
    read(items, cursor) {
      const reports = items.filter((item) => item.kind === "notification");
      const {
        fresh,
        skipped,
        gap,
        cursor: moved,
      } = moveOn(reports, cursor, { fromMs: Infinity, maxAgeMs: DEFAULT_MAX_AGE_MS }, networkNow());
      return { events: [], reported: fresh, cursor: moved, gap, fresh: fresh.length, skipped };
    },
  };
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

function jobsSource(parts: PollingDependencies, member: Member, watching: JobsWatching): Source {
  const reader = jobsReader(member, watching);
  return {
    name: "jobs",
    ...OFFERS,
    kind: "job.listed",
    itemsLeave: true,
    read: (items, cursor) => readJobs(items.filter(isJob), cursor, reader, parts.networkNow()),
    complete: (items, cursor) => completeJobs(parts, member, items, cursor, reader),
  };
}

function isPost(record: NetworkRecord): record is Post {
  return record.kind === "post";
}

function isJob(record: NetworkRecord): record is Job {
  return record.kind === "job";
}
