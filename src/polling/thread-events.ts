/** Converts a thread's first post to events: replies by others, and likes of the specialist's own posts. */
import type { NewEvent } from "../contract/event.ts";
import { eventId } from "../contract/event-id.ts";
import type { Post } from "../contract/records.ts";
import type { JsonObject } from "../core/json.ts";
import { isOwn, mentions, type FeedReader } from "./feed-events.ts";
import type { WatchChange } from "./watch-change.ts";
import type { ThreadProgress } from "./watch-state.ts";

/** Ids stored per thread; of a longer thread only the newest replies are watched. */
const MAX_SEEN = 300;
/** A watch of a thread ends after this time without news. */
export const THREAD_QUIET_MS = 48 * 60 * 60 * 1_000;

/** Times of a thread's check, in ms since the epoch. */
export interface Times {
  /** By the clock that dates our rows. */
  readonly now: number;
  /** By the network's clock, which dates the replies. */
  readonly networkNow: number;
}

export function followThread(
  post: Post,
  before: ThreadProgress,
  reader: FeedReader,
  { now, networkNow }: Times,
): WatchChange<ThreadProgress> {
  const known = new Set(before.seen);
  const replies = (post.replies ?? []).filter((reply) => !known.has(reply.id));
  const events = [...replies.flatMap((reply) => replyEvent(reply, post, reader, networkNow)), ...likeEvents(post, before, reader)];
  const news = replies.length > 0 || events.length > 0;
  const standing: ThreadProgress = {
    seen: [...replies.map((reply) => reply.id), ...before.seen].slice(0, MAX_SEEN),
    votes: post.votes ?? before.votes,
    newsAt: news ? now : before.newsAt,
  };
  return { state: "open", progress: standing, ended: now - standing.newsAt > THREAD_QUIET_MS, events, news };
}

function replyEvent(reply: Post, root: Post, reader: FeedReader, now: number): readonly NewEvent[] {
  if (isOwn(reply, reader)) return [];
  if (reply.createdAtMs !== undefined && reply.createdAtMs <= now - reader.maxAgeMs) return [];
  const kind = mentions(reply.content, reader.handle) && reader.handles("mention.created") ? "mention.created" : "reply.created";
  if (!reader.handles(kind)) return [];
  const payload = { ...reply, threadId: root.id };
  return [{ specialist: reader.handle, id: eventId(kind, reply.id), kind, thread: root.id, payload, via: "poll", hops: 0 }];
}

/** One event per person if the network names them, else one for each rise of the count. */
function likeEvents(post: Post, before: ThreadProgress, reader: FeedReader): readonly NewEvent[] {
  if (!reader.handles("post.liked") || !isOwn(post, reader)) return [];
  const like = (occurrence: string | number, by: JsonObject): NewEvent => ({
    specialist: reader.handle,
    id: eventId("post.liked", post.id, occurrence),
    kind: "post.liked",
    thread: post.id,
    payload: { postId: post.id, ...by },
    via: "poll",
    hops: 0,
  });
  if (post.likedBy !== undefined) return post.likedBy.filter((id) => id !== reader.accountId).map((id) => like(id, { byId: id }));
  const votes = post.votes ?? 0;
  return votes > before.votes ? [like(votes, {})] : [];
}
