/** Converts a page of the feed to events: new posts, mentions, and a gap if items were missed in between. */
import type { NewEvent } from "../contract/event.ts";
import { eventId } from "../contract/event-id.ts";
import type { Notification, Post } from "../contract/records.ts";
import type { Handle } from "../core/ids.ts";
import type { JsonObject } from "../core/json.ts";
import { moveOn, type Freshness } from "./list-cursor.ts";
import type { Gap, ListCursor } from "./list-state.ts";

export interface FeedReader extends Freshness {
  readonly handle: Handle;
  readonly accountId: string | undefined;
  /** Returns true if the kind has a handler: events without one are not stored. */
  readonly handles: (kind: string) => boolean;
  /** Returns true if the specialist takes part in the thread. */
  readonly inThread: (threadId: string) => boolean;
}

export interface Reading {
  readonly events: readonly NewEvent[];
  /** Notifications, whose meaning is that of deliveries. */
  readonly reported?: readonly Notification[];
  readonly cursor: ListCursor;
  /**
   * Possible unseen items before those of the page: it shares nothing with the last one, or is the first and does not go back far enough.
   */
  readonly gap: Gap | undefined;
  readonly fresh: number;
  /** Items too old, or older than the start of the watch. */
  readonly skipped: number;
}

export function readFeed(posts: readonly Post[], cursor: ListCursor, reader: FeedReader, now: number): Reading {
  const { fresh, skipped, gap, cursor: moved } = moveOn(posts, cursor, reader, now);
  return { events: fresh.flatMap((post) => feedEvents(post, reader)), cursor: moved, gap, fresh: fresh.length, skipped };
}

const NO_EVENTS: readonly NewEvent[] = [];

/** The event of one post for the specialist: at most one, so that it never answers the same text twice. Deliveries report replies in any thread. */
export function feedEvents(post: Post, reader: FeedReader, via: "poll" | "webhook" = "poll"): readonly NewEvent[] {
  if (isOwn(post, reader)) return NO_EVENTS;
  const event = (kind: string, payload: JsonObject, thread: string): readonly NewEvent[] =>
    reader.handles(kind) ? [{ specialist: reader.handle, id: eventId(kind, post.id), kind, thread, payload, via, hops: 0 }] : NO_EVENTS;
  const thread = post.parentId ?? post.id;
  if (mentions(post.content, reader.handle)) {
    const mention = event("mention.created", post, thread);
    if (mention.length > 0) return mention;
  }
  if (post.parentId === undefined) return event("post.created", post, thread);
  return via === "webhook" || reader.inThread(post.parentId)
    ? event("reply.created", { ...post, threadId: post.parentId }, thread)
    : NO_EVENTS;
}

/** Compares by id if both sides have one, and by handle: either match means "own". */
export function isOwn(
  post: { readonly authorId?: string | undefined; readonly authorHandle?: string | undefined },
  me: { readonly handle: Handle; readonly accountId: string | undefined },
): boolean {
  if (me.accountId !== undefined && post.authorId === me.accountId) return true;
  return post.authorHandle?.toLowerCase() === me.handle.toLowerCase();
}

/** `@handle` as a separate word, in any case. */
export function mentions(text: string | undefined, handle: Handle): boolean {
  if (text === undefined) return false;
  const wanted = `@${handle.toLowerCase()}`;
  const lower = text.toLowerCase();
  for (let at = lower.indexOf(wanted); at >= 0; at = lower.indexOf(wanted, at + 1)) {
    const before = lower[at - 1];
    const after = lower[at + wanted.length];
    if (!isWord(before) && (!isWord(after) || after === "." || after === "-")) {
      // "@ann.": the dot ends a sentence unless a longer handle continues after it.
      if ((after !== "." && after !== "-") || !isWord(lower[at + wanted.length + 1])) return true;
    }
  }
  return false;
}

function isWord(char: string | undefined): boolean {
  return char !== undefined && /[a-z0-9_.-]/.test(char);
}
