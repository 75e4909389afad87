/** What both shipped profiles assume where the interface shows nothing. Every entry is listed as a guess by its set. */
import type { EndpointSet } from "../operations.ts";
import { TIER_LIMITS, tierLimits, TIERS, type TierLimits } from "../tiers.ts";

const PERSON_ID = [
  "author.id",
  "author_id",
  "authorId",
  "agent.id",
  "agent_id",
  "agentId",
  "user.id",
  "user_id",
  "creator.id",
  "creator_id",
];
const PERSON_HANDLE = [
  "author.handle",
  "author.username",
  "author_handle",
  "authorHandle",
  "author",
  "agent.handle",
  "agent_handle",
  "agentHandle",
  "user.handle",
  "username",
  "creator.handle",
  "author.name",
];
const CREATED = ["created_at", "createdAt", "created", "timestamp", "published_at", "date"];

export const records = {
  post: {
    id: ["id", "_id", "uuid", "reply_id", "comment_id", "post_id", "postId"],
    authorId: PERSON_ID,
    authorHandle: PERSON_HANDLE,
    content: ["content", "text", "body", "message"],
    community: ["community.handle", "community.id", "community_handle", "community_id", "communityId", "community"],
    parentId: ["parent_id", "parentId", "in_reply_to", "inReplyTo", "reply_to", "replyTo", "parent.id"],
    createdAtMs: CREATED,
    votes: ["votes", "score", "vote_count", "voteCount", "likes", "like_count", "likeCount"],
    replyCount: ["reply_count", "replyCount", "replies_count", "comment_count", "commentCount"],
    likedBy: ["liked_by", "likedBy", "likers", "voters"],
    replies: ["replies", "comments", "children"],
  },
  job: {
    id: ["id", "job_id", "jobId", "_id", "uuid"],
    authorId: [
      "poster.id",
      "poster_id",
      "posterId",
      "client.id",
      "client_id",
      "owner.id",
      "owner_id",
      ...PERSON_ID.slice(0, 3),
      "creator.id",
      "creator_id",
    ],
    authorHandle: [
      "poster.handle",
      "poster_handle",
      "posterHandle",
      "poster",
      "client.handle",
      "client",
      "owner.handle",
      "author.handle",
      "author",
      "creator.handle",
    ],
    title: ["title", "name", "subject"],
    description: ["description", "details", "content", "body"],
    skills: ["skills", "required_skills", "requiredSkills", "tags"],
    reward: ["reward.amount", "reward", "budget.amount", "budget", "price", "payment", "amount"],
    status: ["status", "state"],
    assigneeId: ["assignee.id", "assignee_id", "assigneeId", "assigned_to.id", "worker.id", "worker_id"],
    assigneeHandle: [
      "assignee.handle",
      "assignee_handle",
      "assigneeHandle",
      "assignee",
      "assigned_to.handle",
      "assigned_to",
      "assignedTo",
      "worker.handle",
      "worker",
    ],
    deadlineMs: ["deadline", "due_at", "dueAt", "due", "expires_at", "expiresAt"],
    createdAtMs: CREATED,
    applicantIds: ["applicants", "applicant_ids", "applicantIds", "applications"],
    input: ["input", "payload", "data", "attachment"],
    verdict: ["verdict", "rejection_reason", "rejectionReason", "feedback", "reason"],
  },
  agent: {
    id: ["id", "agent_id", "agentId", "_id", "uuid", "handle"],
    handle: ["handle", "username", "slug"],
    name: ["name", "display_name", "displayName"],
    bio: ["bio", "description", "about"],
    skills: ["skills", "capabilities", "tags"],
    tier: ["tier", "plan"],
    trust: ["trust_tier", "trustTier", "trust", "trust_level"],
    reputation: ["reputation.score", "reputation", "karma"],
    apiKey: ["api_key", "apiKey", "key", "secret"],
  },
  community: {
    id: ["id", "community_id", "communityId", "_id", "uuid", "handle"],
    handle: ["handle", "slug"],
    name: ["name", "title", "display_name"],
    description: ["description", "about"],
    memberCount: ["member_count", "memberCount", "members_count", "members", "subscribers"],
    joined: ["joined", "is_member", "isMember", "member"],
  },
  webhook: {
    id: ["id", "webhook_id", "webhookId", "_id", "uuid"],
    url: ["url", "target_url", "endpoint"],
    events: ["events", "event_types", "topics"],
    active: ["active", "enabled"],
    webhookSecret: ["secret", "signing_secret", "signingSecret"],
  },
  stats: { id: ["id", "agent_id", "agentId", "agent.id", "handle", "agent"], reputation: ["reputation.score", "reputation", "karma"] },
  result: {
    id: ["id", "_id"],
    title: ["title", "name"],
    url: ["url", "link", "href"],
    snippet: ["snippet", "description", "summary", "excerpt", "content"],
  },
  application: {
    id: ["id", "application_id", "applicationId", "bid_id"],
    jobId: ["job_id", "jobId", "job.id", "job"],
    status: ["status", "state"],
  },
  token: {
    expiresInMs: ["expires_in", "expiresIn"],
    accessToken: ["access_token", "accessToken", "token"],
    refreshToken: ["refresh_token", "refreshToken"],
  },
};

const around = (...names: string[]): string[] => names.flatMap((name) => [name, `data.${name}`, `result.${name}`]);

export const lists = {
  post: around("posts", "feed"),
  job: around("jobs"),
  agent: around("agents", "specialists"),
  community: around("communities"),
  webhook: around("webhooks"),
  result: around("results"),
  any: ["$", "data", "items", "results", "list", "records", "data.items", "data.results", "result", "content"],
};

export const singles = {
  post: ["$", ...around("post", "reply", "comment")],
  job: ["$", ...around("job")],
  agent: ["$", ...around("agent", "specialist")],
  community: ["$", ...around("community")],
  webhook: ["$", ...around("webhook")],
  stats: ["$", ...around("stats", "statistics")],
  application: ["$", ...around("application")],
  token: ["$", ...around("token")],
  any: ["data", "result", "item"],
};

export const statuses = {
  open: ["open", "available", "listed", "active", "new", "published"],
  applied: ["applied", "bidding"],
  assigned: ["assigned", "in_progress", "awarded", "claimed", "hired", "started"],
  submitted: ["submitted", "delivered", "in_review", "under_review", "review"],
  accepted: ["accepted", "approved", "completed", "complete", "done"],
  rejected: ["rejected", "declined", "failed", "revision_requested"],
  paid: ["paid", "settled", "released"],
  expired: ["expired", "overdue", "timed_out"],
  cancelled: ["cancelled", "canceled", "closed", "withdrawn"],
};

export const speech = {
  times: "auto",
  headers: {},
  idempotencyHeader: "idempotency-key",
  paging: {
    style: "cursor",
    parameter: "cursor",
    limitParameter: "limit",
    next: [
      "next_cursor",
      "nextCursor",
      "next",
      "cursor.next",
      "meta.next_cursor",
      "meta.next",
      "pagination.next_cursor",
      "paging.next",
      "links.next",
      "data.next_cursor",
    ],
    firstPage: 1,
    maxLimit: 100,
  },
  errors: {
    code: ["error.code", "error.type", "code", "error_code", "errorCode", "errors.0.code", "type", "error"],
    message: [
      "error.message",
      "message",
      "error.detail",
      "detail",
      "error_description",
      "errors.0.message",
      "errors.0",
      "title",
      "error",
      "msg",
    ],
    failed: ["success", "ok"],
    retryAfter: ["retry_after", "retryAfter", "error.retry_after", "error.retryAfter"],
  },
  pending: {
    statuses: [202],
    at: ["status", "state", "code", "error.code", "approval.status"],
    words: [
      "pending_approval",
      "approval_required",
      "requires_approval",
      "awaiting_approval",
      "pending_guardian",
      "guardian_approval_required",
      "needs_approval",
    ],
    reference: ["approval_id", "approvalId", "approval.id", "request_id", "reference", "id"],
  },
  limitHeaders: {
    remaining: ["x-ratelimit-remaining", "ratelimit-remaining", "x-rate-limit-remaining"],
    remainingHour: ["x-ratelimit-remaining-hour", "x-ratelimit-hour-remaining", "ratelimit-remaining-hour"],
    remainingDay: ["x-ratelimit-remaining-day", "x-ratelimit-day-remaining", "ratelimit-remaining-day"],
    reset: ["x-ratelimit-reset-after", "ratelimit-reset", "x-ratelimit-reset", "x-rate-limit-reset"],
    retryAfter: ["retry-after", "x-retry-after"],
    structured: ["ratelimit"],
  },
  auth: { header: "authorization", prefix: "Bearer ", exchange: false, tokenLifetimeMs: "10m", refreshEarlyMs: "60s" },
  webhooks: {
    scheme: "standard",
    signature: ["webhook-signature", "x-signature-256", "x-hub-signature-256", "x-signature"],
    signaturePrefix: "sha256=",
    deliveryIdHeaders: ["webhook-id", "x-webhook-id", "x-delivery-id", "x-event-id"],
    timestampHeaders: ["webhook-timestamp", "x-webhook-timestamp", "x-timestamp"],
    deliveryId: ["delivery_id", "event_id", "id"],
    kind: ["type", "event", "kind", "event_type", "topic"],
    object: ["data", "payload", "object", "$"],
    occurrence: ["version", "sequence", "occurred_at", "created_at", "timestamp"],
    kinds: {
      "post.created": "post.created",
      "post.liked": "post.liked",
      "post.voted": "post.liked",
      "reply.created": "reply.created",
      "post.replied": "reply.created",
      "mention.created": "mention.created",
      mention: "mention.created",
      "job.listed": "job.listed",
      "job.created": "job.listed",
      "job.assigned": "job.assigned",
      "job.accepted": "job.accepted",
      "job.rejected": "job.rejected",
      "job.paid": "job.paid",
      "follower.new": "follower.new",
      "approval.required": "approval.required",
    },
  },
  timing: { deadlineMs: "30s", lateLandingMs: "2m", readLagMs: "60s" },
};

/** The tiers a set publishes. */
export function tiersOf(set: EndpointSet): Record<string, TierLimits> {
  return Object.fromEntries(TIERS.filter((tier) => TIER_LIMITS[tier].sets.includes(set)).map((tier) => [tier, tierLimits(tier, set)]));
}

/** Whole sections nobody published. */
export const SHARED_GUESSES = [
  "records",
  "lists",
  "singles",
  "statuses",
  "times",
  "idempotencyHeader",
  "paging",
  "errors",
  "pending",
  "limitHeaders",
  "auth.exchange",
  "auth.tokenLifetimeMs",
  "auth.refreshEarlyMs",
  "timing",
];

/** A price nobody published: free, so that work can start; money that an operation moves is stated by its input. */
export const PRICES = {
  "agents.create": { price: "unknown" },
  "jobs.create": { price: { input: "reward" } },
} as const;
