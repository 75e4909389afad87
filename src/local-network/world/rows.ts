/** The world's rows and their parts. */
import type { EndpointSet } from "../../contract/operations.ts";
import type { Tier } from "../../contract/tiers.ts";
import type { Json } from "../../core/json.ts";

export interface Spending {
  /** Most credits one action may cost without the Guardian's approval. */
  perTransaction?: number;
  /** Most credits per calendar month (UTC). */
  perMonth?: number;
}

export interface Account {
  readonly id: string;
  readonly seq: number;
  readonly handle: string;
  /** Specialists belong to the one Guardian of this world; residents are simulated accounts. */
  readonly kind: "specialist" | "resident" | "guardian";
  name: string;
  bio: string;
  skills: string[];
  tier: Tier;
  reputation: number;
  readonly createdAt: number;
  suspended: boolean;
  deleted: boolean;
  followers: number;
  spending: Spending;
  spent: { month: string; credits: number };
  earned: number;
  keyHash?: string;
  tally: Tally;
}

/** Counts of an account's requests and jobs. */
export interface Tally {
  requests: number;
  refused429: number;
  posts: number;
  replies: number;
  seen: number;
  applied: number;
  assigned: number;
  delivered: number;
  accepted: number;
  rejected: number;
  paid: number;
}

export interface Token {
  readonly id: string;
  readonly accountId: string;
  readonly use: "access" | "refresh";
  readonly expiresAt: number;
}

export interface Post {
  readonly id: string;
  readonly seq: number;
  readonly authorId: string;
  readonly content: string;
  readonly createdAt: number;
  readonly community?: string;
  readonly parentId?: string;
  replyCount: number;
  /** 1 or -1 by account id. */
  readonly votes: Record<string, number>;
}

export type JobState = "open" | "applied" | "assigned" | "submitted" | "accepted" | "rejected" | "paid" | "expired" | "cancelled";

export interface Application {
  readonly id: string;
  readonly accountId: string;
  readonly message?: string;
  readonly at: number;
}

export interface Job {
  readonly id: string;
  readonly seq: number;
  readonly posterId: string;
  readonly title: string;
  readonly description: string;
  readonly skills: readonly string[];
  readonly reward: number;
  readonly createdAt: number;
  readonly deadlineAt: number;
  /** The task against which the deliverable is checked; absent on jobs that specialists offer. */
  readonly task?: { readonly kind: string; readonly seed: string };
  status: JobState;
  readonly applications: Application[];
  assigneeId?: string;
  assignedAt?: number;
  /** Number of the submission in this world: of two equal ones the later is the copy. */
  submission?: number;
  deliverableHash?: string;
  verdict?: string;
  /** The next step the network takes on its own. */
  due: { at: number; step: "assign" | "review" | "pay" | "expire" } | undefined;
  /** Specialists that were shown the job. */
  readonly seenBy: string[];
}

/** Input that a specialist gave its own job, stored apart so that a state change does not rewrite it. */
export interface JobInput {
  readonly id: string;
  readonly input: Json;
}

export interface Deliverable {
  readonly id: string;
  readonly accountId: string;
  readonly body: Json;
}

export interface Community {
  readonly id: string;
  readonly handle: string;
  readonly name: string;
  readonly description: string;
  readonly createdAt: number;
  members: string[];
}

export interface Webhook {
  readonly id: string;
  readonly accountId: string;
  readonly url: string;
  readonly events: readonly string[];
  /** Stored in the clear, because signing needs the shared secret. */
  readonly secret: string;
  readonly createdAt: number;
  failures: number;
  active: boolean;
}

export interface Approval {
  readonly id: string;
  readonly accountId: string;
  readonly operation: string;
  readonly set: EndpointSet;
  readonly target: string;
  readonly body: string;
  readonly credits: number;
  readonly createdAt: number;
  status: "pending" | "approved" | "rejected" | "failed";
}

/** A page that web search covers. */
export interface Page {
  readonly id: string;
  readonly title: string;
  readonly url: string;
  readonly text: string;
}

/** An event for the webhooks of the accounts it concerns. */
export interface WorldEvent {
  readonly type: string;
  /** The account whose webhooks get the event. Without it, everyone's but `except`. */
  readonly to?: string;
  readonly except?: string;
  readonly subject: { readonly post?: Post; readonly job?: Job; readonly agent?: Account; readonly approval?: Approval };
}

export function emptyTally(): Tally {
  return {
    requests: 0,
    refused429: 0,
    posts: 0,
    replies: 0,
    seen: 0,
    applied: 0,
    assigned: 0,
    delivered: 0,
    accepted: 0,
    rejected: 0,
    paid: 0,
  };
}
