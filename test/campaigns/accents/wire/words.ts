/** The words that networks of this kind might use, for each thing there is to name. */

/** Facts of each record, and what they may be called. Spaces become whatever case the accent writes in. */
export const NAMES = {
  post: {
    id: ["id", "uid", "post id", "pk", "key", "uuid", "ref", "_id"],
    content: ["content", "text", "body", "markdown", "message", "msg", "post text", "caption", "body text"],
    createdAt: ["created at", "posted at", "timestamp", "created", "published on", "date", "ts", "published at"],
    votes: ["votes", "score", "likes", "upvotes", "points", "vote count"],
    myVote: ["my vote", "viewer vote", "voted by me", "liked by me", "has voted", "own reaction"],
    replyCount: ["reply count", "replies count", "comment count", "num comments", "comments total", "answer count"],
    community: ["community", "group", "channel", "submolt", "space", "board"],
    parentId: ["parent id", "reply to", "in reply to", "parent post id", "parent", "thread id"],
    replies: ["replies", "comments", "answers", "children", "responses", "thread"],
  },
  job: {
    id: ["id", "uid", "job id", "task id", "ref", "key", "uuid", "gig id"],
    title: ["title", "subject", "headline", "summary", "name"],
    description: ["description", "details", "body", "brief", "instructions", "content"],
    skills: ["skills", "required skills", "tags", "requirements", "needs", "topics"],
    reward: ["reward", "budget", "price", "pay", "bounty", "payout", "amount"],
    status: ["status", "state", "phase", "stage"],
    deadline: ["deadline", "due at", "due", "expires at", "closes at", "due date"],
    createdAt: ["created at", "posted at", "created", "listed at", "published on"],
    verdict: ["verdict", "feedback", "rejection reason", "reason", "review note"],
    input: ["input", "payload", "data", "attachment", "material", "dataset"],
    applications: ["application count", "bids count", "n applicants", "proposals total"],
    applied: ["has applied", "applied", "already applied"],
  },
  agent: {
    id: ["id", "uid", "agent id", "key", "uuid", "account id"],
    handle: ["handle", "username", "slug", "login", "nick"],
    name: ["name", "display name", "title", "full name", "label"],
    bio: ["bio", "about", "description", "tagline", "profile"],
    skills: ["skills", "capabilities", "tags", "abilities"],
    tier: ["tier", "plan", "level"],
    trust: ["trust tier", "trust", "trust level"],
    reputation: ["reputation", "karma", "rep", "rating"],
    createdAt: ["created at", "joined at", "created", "since"],
    apiKey: ["api key", "key value", "secret", "token"],
  },
  community: {
    id: ["id", "uid", "community id", "group id", "key", "uuid"],
    handle: ["handle", "slug", "nick", "short name"],
    name: ["name", "title", "display name", "label"],
    description: ["description", "about", "summary", "tagline"],
    members: ["member count", "members", "subscribers", "members total", "size"],
    joined: ["joined", "is member", "member", "subscribed"],
    createdAt: ["created at", "founded at", "created"],
  },
  webhook: {
    id: ["id", "uid", "webhook id", "hook id", "uuid"],
    url: ["url", "target url", "endpoint", "callback url", "callback"],
    events: ["events", "event types", "topics", "kinds", "subscriptions"],
    active: ["active", "enabled", "is active"],
    secret: ["secret", "signing secret", "signing key"],
    createdAt: ["created at", "created"],
  },
  application: {
    id: ["id", "application id", "bid id", "uid"],
    jobId: ["job id", "job", "task id", "gig"],
    by: ["applicant id", "agent id", "bidder id"],
    status: ["status", "state"],
    createdAt: ["created at", "applied at", "created"],
  },
  stats: {
    handle: ["handle", "username", "agent"],
    reputation: ["reputation", "karma", "score"],
    followers: ["followers", "follower count"],
    posts: ["posts", "post count"],
    earned: ["earned", "total earned", "income"],
  },
  result: {
    title: ["title", "name", "heading"],
    url: ["url", "link", "href"],
    snippet: ["snippet", "summary", "excerpt", "description"],
  },
} as const;

export type Recorded = keyof typeof NAMES;

export const AUTHORS = ["author", "user", "agent", "creator", "poster", "sender", "account", "owner", "writer"] as const;
export const POSTERS = ["poster", "client", "owner", "author", "employer", "creator", "requester"] as const;
export const WORKERS = ["assignee", "worker", "assigned to", "contractor", "taker", "winner"] as const;
export const PERSON_IDS = ["id", "uid", "key"] as const;
export const PERSON_HANDLES = ["handle", "username", "name", "nick", "login", "slug"] as const;

/** What a job's states may be called. The first of each is what most networks say. */
export const STATES = {
  open: ["open", "available", "listed", "published", "looking", "unassigned"],
  applied: ["applied", "bidding", "has_bids", "in_selection"],
  assigned: ["assigned", "in_progress", "awarded", "claimed", "taken", "in_work"],
  submitted: ["submitted", "delivered", "in_review", "handed_in", "under_review"],
  accepted: ["accepted", "approved", "completed", "fulfilled", "done"],
  rejected: ["rejected", "declined", "returned", "failed"],
  paid: ["paid", "settled", "paid_out", "released"],
  expired: ["expired", "timed_out", "lapsed", "overdue"],
  cancelled: ["cancelled", "canceled", "withdrawn", "closed"],
} as const;

/** What stands in paths. */
export const NOUNS = {
  posts: ["posts", "threads", "notes", "updates", "messages"],
  reply: ["reply", "comments", "replies", "answers", "respond"],
  jobs: ["jobs", "gigs", "tasks", "bounties", "orders"],
  apply: ["apply", "bids", "applications", "proposals"],
  communities: ["communities", "submolts", "groups", "spaces", "channels"],
  agents: ["agents", "bots", "specialists", "users"],
  webhooks: ["webhooks", "hooks", "subscriptions"],
  vote: ["vote", "votes", "reactions", "upvote"],
  submit: ["submit", "deliver", "complete", "deliveries", "results"],
} as const;

/** What a request's fields may be called, by the set's own names. */
export const INPUTS = {
  content: ["content", "text", "body", "message", "markdown"],
  direction: ["direction", "value", "vote", "kind"],
  message: ["message", "cover letter", "proposal", "pitch", "note"],
  deliverable: ["deliverable", "result", "output", "work", "answer"],
  title: ["title", "subject", "headline", "name"],
  description: ["description", "details", "brief", "body"],
  skills: ["skills", "required skills", "tags", "requirements"],
  reward: ["reward", "budget", "price", "bounty"],
  deadline: ["deadline", "due at", "expires at"],
  community: ["community", "group", "channel", "space"],
  query: ["query", "q", "term", "search"],
  url: ["url", "target url", "callback url", "endpoint"],
  events: ["events", "event types", "topics"],
  secret: ["secret", "signing secret"],
  name: ["name", "display name", "title"],
  bio: ["bio", "about", "description"],
  handle: ["handle", "username", "login"],
} as const;

/** Kinds of events, and what they may be called instead. */
export const KINDS: { readonly [kind: string]: readonly string[] } = {
  "post.created": ["post.created", "post.new", "NewPost", "post:create"],
  "post.liked": ["post.liked", "post.voted", "PostUpvoted", "vote:create"],
  "post.replied": ["post.replied", "comment.created", "NewComment", "reply:create"],
  mention: ["mention", "mention.created", "Mentioned", "mention:create"],
  "follower.new": ["follower.new", "follow.created", "NewFollower", "follow:create"],
  "job.assigned": ["job.assigned", "bid.won", "JobAwarded", "job:assign"],
  "job.completed": ["job.completed", "job.accepted", "WorkAccepted", "job:accept"],
  "job.paid": ["job.paid", "payment.sent", "PaidOut", "job:pay"],
  "approval.required": ["approval.required", "approval.requested", "NeedsApproval", "approval:ask"],
};
