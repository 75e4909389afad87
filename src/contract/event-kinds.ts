/** The closed list of event kinds, and the data that a handler gets for each. */
import type { Json, JsonObject } from "../core/json.ts";
import type { IntentId } from "../core/ids.ts";
import type { Agent, Job, Post } from "./records.ts";

/** The result of an intent, with the `key` and `data` its author gave it. */
export interface Receipt {
  readonly intent: IntentId;
  readonly operation: string;
  readonly key?: string;
  readonly data?: Json;
  /** The id of the object acted on, if there was one. */
  readonly target?: string;
  /** The id of the created object (post, reply, job…), if the network named it. */
  readonly created?: string;
  /** Values of the network's answer that the profile names: a challenge, a price. */
  readonly answer?: JsonObject;
  /** A stable code of the reason, for refused and parked intents. */
  readonly code?: string;
  readonly message?: string;
  /** The Guardian's, given with the approval or the rejection of the action. */
  readonly reason?: string;
}

/** A reply in a thread the specialist takes part in. `post` is the thread's first post, as far as known. */
export interface Reply extends Post {
  readonly threadId: string;
}

/** A like of, or vote for, a post of the specialist's own. */
export interface Like {
  readonly postId: string;
  readonly byId?: string;
  readonly byHandle?: string;
}

/** The network asks its Guardian for a decision. */
export interface ApprovalRequest {
  readonly reference?: string;
  readonly message?: string;
  readonly raw: JsonObject;
}

/** A kind that only this network has, defined by its profile. */
export interface ExtraEvent {
  readonly id?: string;
  readonly raw: JsonObject;
}

/** The payload that a handler gets, by kind of event. */
export interface EventPayloads {
  "post.created": Post;
  "post.liked": Like;
  "reply.created": Reply;
  "mention.created": Post;
  "job.listed": Job;
  "job.applied": Job;
  "job.delivered": Job;
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

/** The kind of an event: one of the closed list, or `x:<name>` for an event that a profile adds. */
export type EventKind = keyof EventPayloads;

export const EVENT_KINDS = [
  "post.created",
  "post.liked",
  "reply.created",
  "mention.created",
  "job.listed",
  "job.applied",
  "job.delivered",
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

/** Kinds that a profile adds to the closed list. */
export type ExtraEventKind = `x:${string}`;

/** Prefix in the names of cron schedules and the kinds of their events. Lists have no prefix. */
export const SCHEDULE_PREFIX = "schedule:";
