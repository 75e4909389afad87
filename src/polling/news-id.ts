/** Ids under which a delivery and a poll recognise the same news, however each words it. */
import type { NewEvent } from "../contract/event.ts";
import { eventId } from "../contract/event-id.ts";

/** The news in a delivery: one item, or one item of a group if it does not say which. */
export type ReportedNews = { readonly news: string } | { readonly oneOf: string };

const POSTS: readonly string[] = ["post.created", "reply.created", "mention.created"];

/** A post is one item of news, as a post, a reply or a mention. */
export function postNews(id: string): string {
  return eventId("post.created", id);
}

/** A job's status is one item of news: an assignment found by a poll is the one whose delivery caused the check. */
export function jobNews(id: string): string {
  return `job:${id}`;
}

export function newsOf({ id, kind, thread }: Pick<NewEvent, "id" | "kind" | "thread">): string {
  if (POSTS.includes(kind)) return `post.created${id.slice(kind.length)}`;
  return kind.startsWith("job.") && kind !== "job.listed" && thread !== undefined ? thread : id;
}

/** The likes of a post: a delivery may not say which one it reports. */
export function likesOf(postId: string): string {
  return eventId("post.liked", postId);
}

/** The groups of an event: its kind, and the likes of one post. */
export function groupsOf({ kind, thread }: Pick<NewEvent, "kind" | "thread">): readonly string[] {
  return kind === "post.liked" && thread !== undefined ? [kind, likesOf(thread)] : [kind];
}
