/** Read-backs: the read that shows an action's effect, and the recognition of that effect. Pure. */
import type { Call } from "../contract/call.ts";
import { MAY_BE_CUT_OFF } from "../contract/reading/read-answer.ts";
import type { Job, JobStatus, NetworkRecord, Post, Webhook } from "../contract/records.ts";
import { DAY, MINUTE } from "../core/units.ts";
import { dateOf } from "./sent-at.ts";
import type { Intent } from "./intent.ts";

/**
 * Older objects cannot be the effect. Wide, since both clocks may differ, even by a day: effects of other intents are claimed by them,
 * while an overlooked effect would be repeated.
 */
const CLOCK_SKEW_MS = 2 * DAY;
/** The same bound if any text matches: nothing claims earlier texts that others of our making posted. */
const UNSENT_SKEW_MS = 15 * MINUTE;

export interface Myself {
  readonly handle: string;
  readonly accountId: string | undefined;
}

/** The read-back of one kind of action. */
export interface ReadBack {
  readonly call: Call;
  /** A list: complete only once all pages back to the sending are read. */
  readonly list: boolean;
  /** True if a complete check without the effect proves its absence. */
  readonly provesAbsence: boolean;
}

/** The read that shows the intent's effect, or undefined if the interface has none. With `inThread`, only the thread's first post can be read. */
export function readBackOf(intent: Intent, inThread = false): ReadBack | undefined {
  const { operation, thread } = intent;
  const target = inThread && operation === "posts.reply" ? (thread ?? intent.target) : intent.target;
  switch (operation) {
    case "posts.reply":
    case "posts.vote":
      return target === undefined ? undefined : { call: { operation: "posts.get", target, input: {} }, list: false, provesAbsence: true };
    case "posts.create":
      return { call: { operation: "posts.list", input: {} }, list: true, provesAbsence: true };
    case "jobs.apply":
    case "jobs.submit":
      return target === undefined ? undefined : { call: { operation: "jobs.get", target, input: {} }, list: false, provesAbsence: true };
    case "jobs.create":
      // A list of available jobs does not show one that somebody took meanwhile.
      return { call: { operation: "jobs.list", input: {} }, list: true, provesAbsence: false };
    case "webhooks.create":
      return { call: { operation: "webhooks.list", input: {} }, list: true, provesAbsence: true };
    default:
      return undefined;
  }
}

/** States of a job without a delivery. One sent again to a job that has ended is refused, in the network's own words. */
const NOT_HANDED_IN: readonly (JobStatus | undefined)[] = ["open", "applied", "assigned", "expired", "cancelled"];

/** True if the read would show the effect, so that its absence means something. */
export function wouldShow({ operation, input }: Intent, records: readonly NetworkRecord[]): boolean {
  return records.every((record) => {
    if (operation === "posts.reply" && record.kind === "post") {
      const { replyCount, replies = [] } = record;
      return (replyCount !== undefined || replies.length < MAY_BE_CUT_OFF) && !replies.some((reply) => mayBe(reply, input));
    }
    if (operation === "posts.create" && record.kind === "post") return !mayBe(record, input);
    if (operation === "webhooks.create" && record.kind === "webhook") return record.url !== undefined;
    if (operation === "posts.vote" && record.kind === "post") return tellsVote(record, input);
    if (operation === "jobs.submit" && record.kind === "job") return NOT_HANDED_IN.includes(record.status);
    // A network may show who got a job, and not who applied for it.
    return operation !== "jobs.apply" || record.kind !== "job" || record.applied !== undefined || record.applicantIds !== undefined;
  });
}

/** True for a post in the same words that does not say whose it is: ours looks like that once the network shows no authors any more. */
function mayBe({ authorId, authorHandle, content }: Post, input: Intent["input"]): boolean {
  return authorId === undefined && authorHandle === undefined && normal(content) === normal(input["content"]);
}

/**
 * True if finding the effect proves that reading back works. An assigned job proves our application, and not that applicants are shown; a
 * list of voters does not prove that our own vote is reported.
 */
export function provesReading({ operation, input }: Intent, records: readonly NetworkRecord[], me: Myself): boolean {
  if (operation === "jobs.apply") return records.some((record) => record.kind === "job" && isApplicant(record, me));
  if (operation !== "posts.vote") return true;
  const { direction = "up" } = input;
  return records.every((record) => record.kind !== "post" || record.ownVote === undefined || record.ownVote === direction);
}

/**
 * Ids of our posts there since then whose text differs from those of `others`: networks escape, shorten and mask text, so one of these may
 * be the intent's.
 */
export function findOtherWords(
  intent: Intent,
  records: readonly NetworkRecord[],
  me: Myself,
  others: readonly Intent[],
): readonly string[] {
  const theirs = new Set(others.flatMap((other) => findSame(other, records, me)));
  const skewMs = intent.attempt > 0 ? CLOCK_SKEW_MS : UNSENT_SKEW_MS;
  return findAlike(intent, records, me, skewMs).filter((ref) => !theirs.has(ref));
}

/**
 * Candidates for the effect in a complete read, by id (an empty id if the effect is a fact without its own object).
 *
 * An intent in doubt that this store never sent may have been sent by the original of a restored copy, with another text, since a model
 * seldom repeats itself exactly. So every own post there since then is a candidate, the same text first, and never the text of one of
 * `others`, which are in doubt too.
 */
export function findEffect(
  intent: Intent,
  records: readonly NetworkRecord[],
  me: Myself,
  others: readonly Intent[] = [],
): readonly string[] {
  const same = findSame(intent, records, me);
  return intent.attempt > 0 ? same : [...new Set([...same, ...findOtherWords(intent, records, me, others)])];
}

function findAlike(intent: Intent, records: readonly NetworkRecord[], me: Myself, skewMs: number): readonly string[] {
  const since = dateOf(intent) - skewMs;
  const ours = (post: Pick<Post, "authorId" | "authorHandle" | "createdAtMs">): boolean =>
    isMine(post, me) && (post.createdAtMs ?? since) >= since;
  const posts = records.filter((record) => record.kind === "post");
  if (intent.operation === "posts.reply") return posts.flatMap(({ replies = [] }) => replies.filter(ours).map(idOf));
  return intent.operation === "posts.create" ? posts.filter(ours).map(idOf) : [];
}

/** Finds the exact text, if the intent has one. */
export function findSame(intent: Intent, records: readonly NetworkRecord[], me: Myself): readonly string[] {
  const since = dateOf(intent) - CLOCK_SKEW_MS;
  const recent = (at: number | undefined): boolean => at === undefined || at >= since;
  return records.flatMap((record): readonly string[] => {
    switch (intent.operation) {
      case "posts.reply":
        return record.kind === "post"
          ? (record.replies ?? []).filter((reply) => says(reply, intent, me) && recent(reply.createdAtMs)).map(idOf)
          : [];
      case "posts.create":
        return record.kind === "post" && says(record, intent, me) && recent(record.createdAtMs) ? [record.id] : [];
      case "posts.vote":
        return record.kind === "post" && hasVoted(record, intent.input, me) ? [""] : [];
      case "jobs.apply":
        return record.kind === "job" && hasApplied(record, me) ? [""] : [];
      case "jobs.submit":
        return record.kind === "job" && isAssignee(record, me) && isSubmitted(record) ? [""] : [];
      case "jobs.create":
        return record.kind === "job" && isOffer(record, intent) && isMine(record, me) && recent(record.createdAtMs) ? [record.id] : [];
      case "webhooks.create":
        return record.kind === "webhook" && isWebhook(record, intent) ? [record.id] : [];
      default:
        return [];
    }
  });
}

function idOf(post: { readonly id: string }): string {
  return post.id;
}

function says(post: Pick<Post, "content" | "authorId" | "authorHandle">, intent: Intent, me: Myself): boolean {
  return isMine(post, me) && normal(post.content) === normal(intent.input["content"]);
}

/** Normalises white space: networks trim and re-break text. */
function normal(text: unknown): string {
  return typeof text === "string" ? text.normalize("NFC").replace(/\s+/g, " ").trim() : "";
}

function isMine(record: { readonly authorId?: string | undefined; readonly authorHandle?: string | undefined }, me: Myself): boolean {
  if (me.accountId !== undefined && record.authorId === me.accountId) return true;
  return record.authorHandle?.toLowerCase() === me.handle.toLowerCase();
}

/** True if the post shows the vote. A list of voters knows votes up only. */
function hasVoted({ ownVote, likedBy }: Post, { direction = "up" }: Intent["input"], me: Myself): boolean {
  return ownVote === direction || (direction === "up" && me.accountId !== undefined && likedBy?.includes(me.accountId) === true);
}

/** True if a post without the vote states its absence. */
function tellsVote({ ownVote, likedBy }: Post, { direction = "up" }: Intent["input"]): boolean {
  if (direction === "up") return ownVote !== undefined || (likedBy !== undefined && likedBy.length < MAY_BE_CUT_OFF);
  return ownVote !== undefined && ownVote !== "not-up";
}

function isAssignee(job: Job, me: Myself): boolean {
  return isMine({ authorId: job.assigneeId, authorHandle: job.assigneeHandle }, me);
}

function hasApplied(job: Job, me: Myself): boolean {
  return isAssignee(job, me) || isApplicant(job, me);
}

function isApplicant(job: Job, me: Myself): boolean {
  return job.applied === true || (me.accountId !== undefined && job.applicantIds?.includes(me.accountId) === true);
}

function isSubmitted(job: Job): boolean {
  return job.status === "submitted" || job.status === "accepted" || job.status === "rejected" || job.status === "paid";
}

/** Compares offers. An equal title is not enough: two offers made at once may differ in their reward. */
function isOffer(job: Job, { input }: Intent): boolean {
  const sameReward = job.reward === undefined || input["reward"] === undefined || job.reward === input["reward"];
  return normal(job.title) === normal(input["title"]) && sameReward && beginsWith(input["description"], job.description);
}

/** Lists may show only the beginning of a text. */
function beginsWith(text: unknown, shown: string | undefined): boolean {
  return normal(text).startsWith(
    normal(shown)
      .replace(/(…|\.{3})$/, "")
      .trimEnd(),
  );
}

function isWebhook(webhook: Webhook, intent: Intent): boolean {
  return webhook.url !== undefined && webhook.url === intent.input["url"];
}
