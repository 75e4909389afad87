/** Lists everything the local network assumes because the interface does not show it. The important assumptions have switches. */
import type { OperationName } from "../contract/operations.ts";
import { DAY, HOUR, MINUTE, SECOND } from "../core/units.ts";

/** Cut of the hour and day windows: any span, calendar hours and days (UTC), or spans that start with the first request. */
export type WindowKind = "sliding" | "fixed" | "anchored";

/** Signature scheme of webhook deliveries. */
export type WebhookScheme = "sha256-header" | "standard" | "github" | "stripe" | "in-body" | "none";

/** The switches. Each name is the `switch` of its assumption. */
export interface Assumptions {
  /** Cut of the hour and day windows. */
  window: WindowKind;
  /** A request answered with 429 counts against the quota too. */
  refusedCounts: boolean;
  /** A regenerated key inherits the usage of its predecessor. */
  newKeyInherits: boolean;
  /** Form of the `Retry-After` header of a 429. */
  retryAfter: "seconds" | "date" | "none";
  /** Headers on every answer that state the remaining quota. */
  limitHeaders: "none" | "x-ratelimit" | "ratelimit-draft";
  /** Effect of the same vote cast again: none, or the vote is taken back. */
  repeatedVote: "ignored" | "toggles";
  /** A post lists its voters. */
  tellsVoters: boolean;
  /** A post's report of the asking account's own vote: correct, always "not voted", or absent. */
  ownVote: "shown" | "blank" | "left-out";
  /** Handling of `Idempotency-Key`. */
  idempotencyKeys: "ignored" | "honoured";
  /** How long it is honoured, in ms. */
  idempotencyKeyMs: number;
  /** Answer to an action over a spending limit: 202 until the Guardian approves, or 403. */
  overSpending: "approval" | "refused";
  /** Credits that an operation costs beside a job's reward. */
  prices: { readonly [operation in OperationName]?: number };
  /** The answer to an action states its cost. */
  tellsCost: boolean;
  /** Well-paid jobs require some trust. */
  trustGates: boolean;
  /** Time for which reads miss what was just written, in ms. */
  readLagMs: number;
  /** Lifetimes of Set A's access and refresh tokens, in ms. */
  accessTokenMs: number;
  refreshTokenMs: number;
  webhookScheme: WebhookScheme;
  /** Content of a delivery: the full record, or its id only. */
  deliveryDetail: "record" | "id";
  /** Delivery attempts, in ms after the event. */
  webhookRetriesMs: readonly number[];
  /** The longest body accepted, in bytes. */
  maxBodyBytes: number;
  /** The longest post or reply, in characters. */
  maxContentLength: number;
}

export const DEFAULT_ASSUMPTIONS: Assumptions = {
  window: "sliding",
  refusedCounts: false,
  newKeyInherits: true,
  retryAfter: "seconds",
  limitHeaders: "none",
  repeatedVote: "ignored",
  tellsVoters: false,
  ownVote: "shown",
  idempotencyKeys: "ignored",
  idempotencyKeyMs: DAY,
  overSpending: "approval",
  prices: {},
  tellsCost: false,
  trustGates: false,
  readLagMs: 0,
  accessTokenMs: HOUR,
  refreshTokenMs: 30 * DAY,
  webhookScheme: "sha256-header",
  deliveryDetail: "record",
  webhookRetriesMs: [0, 5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR],
  maxBodyBytes: 1_048_576,
  maxContentLength: 10_000,
};

export interface Assumption {
  readonly area: "wire" | "auth" | "limits" | "agents" | "posts" | "jobs" | "communities" | "search" | "webhooks" | "money";
  readonly assumed: string;
  /** The switch that changes this assumption, if there is one. */
  readonly switch?: keyof Assumptions;
}

const assume =
  (area: Assumption["area"]) =>
  (assumed: string, key?: keyof Assumptions): Assumption => ({ area, assumed, ...(key === undefined ? {} : { switch: key }) });

const wire = assume("wire");
const auth = assume("auth");
const limits = assume("limits");
const agents = assume("agents");
const posts = assume("posts");
const jobs = assume("jobs");
const communities = assume("communities");
const search = assume("search");
const webhooks = assume("webhooks");
const money = assume("money");

/** All assumptions. A test checks that every switch is named here. */
export const ASSUMPTIONS: readonly Assumption[] = [
  wire("Field names of every record but a post's `content` (src/local-network/wire)."),
  wire("Lists: Set A `{data, next_cursor}`, Set B `{items, pagination: {next_cursor, has_more}}`; `limit` 1-100, default 20; `cursor`."),
  wire("Errors: `{error: {code, message}}`, in Set B with a `request_id`; 400, 401, 403, 404, 405, 409, 413, 415, 422, 429."),
  wire("Times are ISO 8601 texts in UTC; ids are texts."),
  wire("Creating answers 201, deleting and leaving 200 with a body that says so, what needs the Guardian 202."),
  wire("Bodies over the limit answer 413.", "maxBodyBytes"),
  wire("`Idempotency-Key` does nothing.", "idempotencyKeys"),
  wire("Where it is honoured, it is so for a day.", "idempotencyKeyMs"),
  wire("Something written is readable at once.", "readLagMs"),
  auth("A key works on both sets of one world, whatever its prefix."),
  auth("The Guardian may hold a key of its own that manages specialists in Set B; a specialist's key may do so too."),
  auth("`auth.token` takes the API key as bearer and no body; access tokens then work as bearer.", "accessTokenMs"),
  auth("`auth.refresh` takes `refresh_token`, which is used up, and needs the API key or an access token as bearer.", "refreshTokenMs"),
  auth("A regenerated key ends its tokens as well."),
  limits("Windows slide.", "window"),
  limits("Every request with a valid key counts, whatever its answer, except the 429 itself.", "refusedCounts"),
  limits("A regenerated key goes on with the count of the old one.", "newKeyInherits"),
  limits("A 429 carries `Retry-After` in seconds, rounded up.", "retryAfter"),
  limits("Other answers say nothing of limits.", "limitHeaders"),
  limits("Set A applies Set B's daily figures, and Set B's other tiers, to the keys that have them."),
  agents("Handles are 2 to 40 of a-z, 0-9, `_` and `-`; unique; fixed once given."),
  agents("Set A lists every agent, Set B the specialists of the asking key's Guardian."),
  agents("In Set A an agent updates itself only; in Set B any specialist of its Guardian."),
  agents("Reputation: +5 for an accepted job, -3 for a rejected one, -2 for a missed deadline, +1 for a like; never under 0."),
  agents("Trust: newcomer from 0, member from 10, trusted from 50, veteran from 200; it only gates when told to.", "trustGates"),
  posts("The feed holds posts without replies, newest first; filters `author` and `community`."),
  posts("One post is sent with its first 200 replies, oldest first."),
  posts("Replies to replies are allowed and count for the post they name."),
  posts("Content is 1 to 10,000 characters.", "maxContentLength"),
  posts("The same vote again changes nothing; the opposite one replaces it; nobody votes on its own post.", "repeatedVote"),
  posts("A post says how many voted for it, and not who.", "tellsVoters"),
  posts("A post tells whoever asks how it voted itself: Set A as yes or no, Set B as 1, 0 or -1.", "ownVote"),
  posts("Only the author deletes a post; replies stay."),
  jobs("open → applied → assigned → submitted → accepted or rejected → paid; expired past the deadline; cancelled with its poster."),
  jobs("The list shows what can be applied for (open, applied); `status` asks for another state, `skill` for a skill."),
  jobs("`input` is sent with one job only, never in lists."),
  jobs("Applying twice is 409, applying for one's own job 403, for one that is taken 409."),
  jobs("Submitting by anyone but the assignee is 403, a second time 409; past the deadline it is taken and rejected."),
  jobs("Only an identical deliverable for the same task by someone else counts as copied, and is rejected."),
  jobs("A job that a specialist offers is assigned to its first applicant and accepted when anything is delivered."),
  communities("Posting does not need membership. Joining or leaving twice answers like once."),
  search("Search takes `query` in the body and answers like a list, best first."),
  webhooks(
    "Kinds: post.created (others' posts), post.liked, post.replied, mention, follower.new, job.applied, job.delivered, job.assigned, job.completed, job.paid, approval.required.",
  ),
  webhooks("A registration holds for its own specialist; no `events` means all; at most 10 each."),
  webhooks("The payload is `{id, type, created_at, agent_id, data}` with `data` as Set B sends that record.", "deliveryDetail"),
  webhooks(
    "Signed as `sha256=<hex>` of the raw body under the registration's secret, which is made up and shown once if not given.",
    "webhookScheme",
  ),
  webhooks("Any 2xx is received; otherwise tried again at 5 s, 5 min, 30 min, 2 h, 5 h, 10 h; redirects are failures.", "webhookRetriesMs"),
  money("Only a job's reward costs the one who offers it.", "prices"),
  money("Answers do not say what an action cost.", "tellsCost"),
  money("Over the per-transaction or monthly (UTC) limit the action waits for the Guardian: 202 `pending_approval`.", "overSpending"),
];
