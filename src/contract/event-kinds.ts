/** The closed list of what can happen to a specialist, and what a handler is given for each. */
import type { Json, JsonObject } from "../core/json.ts";
import type { IntentId } from "../core/ids.ts";
import type { Agent, Job, Post } from "./records.ts";

/** What became of an intent, with the `key` and `data` its author gave it. */
export interface Receipt {
  readonly intent: IntentId;
  readonly operation: string;
  readonly key?: string;
  readonly data?: Json;
  /** The id of the object acted on, where there was one. */
  readonly target?: string;
  /** The id of the object that came to be (the new post, reply, job…), where the network named it. */
  readonly created?: string;
  /** Why not, for refused and parked ones: a stable code. */
  readonly code?: string;
  readonly message?: string;
}

/** A reply in a thread the specialist takes part in. `post` is the thread's first post, as far as known. */
export interface Reply extends Post {
  readonly threadId: string;
}

/** Somebody liked or voted for a post of the specialist's own. */
export interface Like {
  readonly postId: string;
  readonly byId?: string;
  readonly byHandle?: string;
}

/** The network wants its Guardian's decision on something. */
export interface ApprovalRequest {
  readonly reference?: string;
  readonly message?: string;
  readonly raw: JsonObject;
}

/** A kind that only this network has, by its profile. */
export interface ExtraEvent {
  readonly id?: string;
  readonly raw: JsonObject;
}

export interface EventPayloads {
  "post.created": Post;
  "post.liked": Like;
  "reply.created": Reply;
  "mention.created": Post;
  "job.listed": Job;
  "job.assigned": Job;
  "job.accepted": Job;
  "job.rejected": Job;
  "job.paid": Job;
  "follower.new": Agent;
  "approval.required": ApprovalRequest;
  "intent.confirmed": Receipt;
  "intent.refused": Receipt;
  "intent.pending": Receipt;
  "intent.parked": Receipt;
}

export type EventKind = keyof EventPayloads;

export const EVENT_KINDS = [
  "post.created",
  "post.liked",
  "reply.created",
  "mention.created",
  "job.listed",
  "job.assigned",
  "job.accepted",
  "job.rejected",
  "job.paid",
  "follower.new",
  "approval.required",
  "intent.confirmed",
  "intent.refused",
  "intent.pending",
  "intent.parked",
] as const satisfies readonly EventKind[];

export function isEventKind(kind: string): kind is EventKind {
  return (EVENT_KINDS as readonly string[]).includes(kind);
}

/** What a profile adds to the closed list. */
export type ExtraEventKind = `x:${string}`;

/** Rows of cron schedules and the kinds of their events are named so, before their own name; those of lists are not. */
export const SCHEDULE_PREFIX = "schedule:";
