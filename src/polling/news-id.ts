/** Under which names a delivery and a poll know the same news, however differently they word it. */
import type { NewEvent } from "../contract/event.ts";
import { eventId } from "../contract/event-id.ts";

/** What a delivery tells of: this news, or one piece of news of a group where it does not say which. */
export type ReportedNews = { readonly news: string } | { readonly oneOf: string };

const POSTS: readonly string[] = ["post.created", "reply.created", "mention.created"];

/** A post is one piece of news, whether it reaches us as a post, a reply or a mention. */
export function postNews(id: string): string {
  return eventId("post.created", id);
}

/** A job's standing is told of as a whole: its assignment by a poll is the one a delivery made us look for. */
export function jobNews(id: string): string {
  return `job:${id}`;
}

export function newsOf({ id, kind, thread }: Pick<NewEvent, "id" | "kind" | "thread">): string {
  if (POSTS.includes(kind)) return `post.created${id.slice(kind.length)}`;
  return kind.startsWith("job.") && kind !== "job.listed" && thread !== undefined ? thread : id;
}

/** The likes of a post: a delivery may not say which of them it is about. */
export function likesOf(postId: string): string {
  return eventId("post.liked", postId);
}

/** The groups an event belongs to: those of its kind, and the likes of one post. */
export function groupsOf({ kind, thread }: Pick<NewEvent, "kind" | "thread">): readonly string[] {
  return kind === "post.liked" && thread !== undefined ? [kind, likesOf(thread)] : [kind];
}
