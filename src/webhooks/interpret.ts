/** Interprets a verified delivery for a specialist: events, a read to make, or an object to fetch first. Pure. */
import type { NewEvent, WatchKind } from "../contract/event.ts";
import type { Profile } from "../contract/profile/profile.ts";
import { isEventKind } from "../contract/event-kinds.ts";
import { fieldPath, fieldPaths, firstAt } from "../contract/reading/field-path.ts";
import { eventId } from "../contract/event-id.ts";
import { readObject } from "../contract/reading/read-answer.ts";
import type { Agent, Job, Post } from "../contract/records.ts";
import { readId } from "../contract/reading/values.ts";
import { isObject, parseJson, type Json, type JsonObject } from "../core/json.ts";
import { feedEvents, isOwn, type FeedReader } from "../polling/feed-events.ts";
import { mustBeRead, readJobs, type JobsReader } from "../polling/job-events.ts";
import { jobNews, likesOf, newsOf, postNews, type ReportedNews } from "../polling/news-id.ts";
import { utf8 } from "./receiver/signatures.ts";

/** A read that a delivery suggests. */
export type NeededRead =
  /** The lists of this name: `feed` or `jobs`. */
  | { readonly kind: "source"; readonly name: "feed" | "jobs" }
  /** The watched objects of this kind with the latest news, if the delivery names none. */
  | { readonly kind: "newest"; readonly of: WatchKind }
  /** One object; `follow` if the delivery states that it is ours. */
  | { readonly kind: WatchKind; readonly object: string; readonly follow: boolean };

export type Decision = "approved" | "rejected";

export type Meaning =
  | {
      readonly kind: "events";
      readonly word: string;
      readonly events: readonly NewEvent[];
      readonly looks: readonly NeededRead[];
      readonly reports: readonly ReportedNews[];
    }
  /** The post has to be read first; `thread` is its thread, as far as known. */
  | {
      readonly kind: "fetch";
      readonly word: string;
      readonly post: string;
      readonly as: PostKind;
      readonly thread: string | undefined;
      readonly reports: readonly ReportedNews[];
    }
  /** The network's Guardian decided on one of our actions. */
  | { readonly kind: "decision"; readonly word: string; readonly decision: Decision; readonly body: JsonObject }
  /** Work of ours was sent back, which the job itself may not show. */
  | {
      readonly kind: "rejection";
      readonly word: string;
      readonly job: string;
      readonly looks: readonly NeededRead[];
      readonly reports: readonly ReportedNews[];
    }
  /** Something happened that a read will show. */
  | {
      readonly kind: "hint";
      readonly word: string | undefined;
      readonly looks: readonly NeededRead[];
      readonly reports: readonly ReportedNews[];
    }
  /** Nothing handles this. */
  | { readonly kind: "unhandled"; readonly word: string }
  | { readonly kind: "unreadable"; readonly why: string };

export type PostKind = "post.created" | "reply.created" | "mention.created";

export interface Meant {
  readonly profile: Profile;
  readonly feed: FeedReader;
  readonly jobs: JobsReader | undefined;
  /** Returns true if the kind has a handler. */
  readonly handles: (kind: string) => boolean;
  /** The network's time, asked for only where an object has one. */
  readonly networkNow: () => number;
}

/** The reads that show an event of which only the kind is known. */
export function readsFor(kind: string | undefined): readonly NeededRead[] {
  const feed: NeededRead = { kind: "source", name: "feed" };
  const jobs: NeededRead = { kind: "source", name: "jobs" };
  const threads: NeededRead = { kind: "newest", of: "thread" };
  const held: NeededRead = { kind: "newest", of: "job" };
  const own: NeededRead = { kind: "newest", of: "own_job" };
  switch (kind) {
    case "post.created":
      return [feed];
    case "mention.created":
      return [feed, threads];
    case "reply.created":
    case "post.liked":
      return [threads];
    case "job.listed":
      return [jobs];
    case "job.applied":
    case "job.delivered":
      return [own];
    case "job.accepted":
      return [held, own];
    case "job.assigned":
    case "job.rejected":
    case "job.paid":
      return [held];
    case "follower.new":
    case "approval.required":
      return []; // no list shows them
    default:
      return [feed, jobs, threads, held, own];
  }
}

/** The reads for a report that anyone may have sent. */
export function hintedReads(
  hint: { readonly body: Uint8Array; readonly kind: string | undefined },
  webhooks: Profile["webhooks"],
): readonly NeededRead[] {
  const body = parseJson(utf8(hint.body) ?? "");
  const word = isObject(body) ? kindOf(body, webhooks, hint.kind) : hint.kind;
  return readsFor(word !== undefined && Object.hasOwn(webhooks.kinds, word) ? webhooks.kinds[word] : undefined);
}

/** A delivery, with its body as text if that is known. */
type Readable = { readonly body: Uint8Array; readonly kind: string | undefined; readonly text?: string | undefined };

export function meaningOf(delivery: Readable, meant: Meant): Meaning {
  const text = delivery.text ?? utf8(delivery.body);
  if (text === undefined) return { kind: "unreadable", why: "the body is not UTF-8" };
  const body = parseJson(text);
  if (!isObject(body)) return { kind: "unreadable", why: "the body is not a JSON object within the depth limit" };
  const { webhooks } = meant.profile;
  const word = kindOf(body, webhooks, delivery.kind);
  if (word === undefined) return { kind: "hint", word: undefined, looks: readsFor(undefined), reports: [] };
  const decision = Object.hasOwn(webhooks.decisions, word) ? webhooks.decisions[word] : undefined;
  if (decision !== undefined) return { kind: "decision", word, decision, body };
  const kind = Object.hasOwn(webhooks.kinds, word) ? webhooks.kinds[word] : undefined;
  const object = objectOf(body, webhooks, word);
  switch (kind) {
    case "post.created":
    case "reply.created":
    case "mention.created":
      return postMeaning(word, kind, recordOf(meant, "post", object, body), meant);
    case "post.liked":
      return likeMeaning(word, recordOf(meant, "post", object, body), object, meant);
    case "job.listed":
      return listedMeaning(word, recordOf(meant, "job", object, body), meant);
    case "job.applied":
    case "job.delivered":
    case "job.assigned":
    case "job.accepted":
    case "job.rejected":
    case "job.paid":
      return jobMeaning(word, kind, recordOf(meant, "job", object, body));
    case "follower.new":
      return followerMeaning(word, recordOf(meant, "agent", object, body), meant);
    case "approval.required":
      return approvalMeaning(word, body, object, meant);
    default:
      return extraMeaning(word, kind, body, object, meant);
  }
}

/** The network's word for the event, with the state of its object where the profile gives both together a meaning. */
export function kindOf(body: JsonObject, webhooks: Profile["webhooks"], stated?: string): string | undefined {
  const word = firstAt(body, fieldPaths(webhooks.kind), (found) => (isWord(found) ? found : undefined)) ?? stated;
  const state = firstAt(body, fieldPaths(webhooks.state), (found) => (isWord(found) ? found : undefined));
  const both = `${word} ${state}`;
  const isKnown = state !== undefined && (Object.hasOwn(webhooks.kinds, both) || Object.hasOwn(webhooks.decisions, both));
  return word !== undefined && isKnown ? both : word;
}

function isWord(found: Json): found is string {
  return typeof found === "string" && /^[\w.:/-]+(?: [\w.:/-]+)*$/.test(found) && found.length <= MAX_WORD_LENGTH;
}

const MAX_WORD_LENGTH = 100;

/** Returns true if the body identifies its delivery. In a body without an envelope, `id` is that of the object. */
export function namesItself(body: Uint8Array, webhooks: Profile["webhooks"]): boolean {
  const parsed = parseJson(utf8(body) ?? "");
  if (!isObject(parsed)) return false;
  const id = idOf(parsed, webhooks);
  return id !== undefined && (objectOf(parsed, webhooks) !== parsed || id !== readId(parsed["id"] ?? null));
}

/** The object of a delivery: inside its envelope, where its kind says, or the envelope itself. */
export function objectOf(body: JsonObject, webhooks: Profile["webhooks"], word = ""): JsonObject {
  const own = [word, word.slice(0, Math.max(0, word.lastIndexOf(" ")))].find((one) => Object.hasOwn(webhooks.objects, one));
  const paths = own === undefined ? webhooks.object : (webhooks.objects[own] ?? []);
  return firstAt(body, fieldPaths(paths), (found) => (isObject(found) ? found : undefined)) ?? body;
}

type Read = { readonly post: Post; readonly job: Job; readonly agent: Agent };

/** Reads the record. An envelope without an object may still name one: `post_id`. */
function recordOf<Name extends keyof Read>({ profile }: Meant, name: Name, object: JsonObject, body: JsonObject): Read[Name] | undefined {
  const named = object === body ? readId(body[`${name}_id`] ?? body[`${name}Id`] ?? null) : undefined;
  const record = named === undefined ? readObject(profile, name, object) : { kind: name, id: named, raw: { id: named } };
  return record?.kind === name ? (record as Read[Name]) : undefined;
}

function postMeaning(word: string, as: PostKind, post: Post | undefined, meant: Meant): Meaning {
  if (post === undefined) return ofSome(word, as);
  const thread = post.parentId;
  const reports: readonly ReportedNews[] = [{ news: postNews(post.id) }];
  if (post.content === undefined || (post.authorId === undefined && post.authorHandle === undefined)) {
    // New posts by others cost one read of the feed, however many there are.
    if (as === "post.created") return { kind: "hint", word, looks: readsFor(as), reports };
    return { kind: "fetch", word, post: post.id, as, thread, reports };
  }
  return { kind: "events", word, events: postEvents(post, as, meant), looks: [], reports };
}

/** One unnamed event of the kind. */
function ofSome(word: string, kind: string): Meaning {
  return { kind: "hint", word, looks: readsFor(kind), reports: [{ oneOf: kind }] };
}

/** The delivery contains the whole event, so no read is needed. */
function happened(word: string, ...events: readonly NewEvent[]): Meaning {
  return { kind: "events", word, events, looks: [], reports: events.map((event) => ({ news: newsOf(event) })) };
}

/** The events of a complete post; shared with fetched posts. Old posts yield none. */
export function postEvents(post: Post, as: PostKind, { feed, networkNow }: Pick<Meant, "feed" | "networkNow">): readonly NewEvent[] {
  if (post.createdAtMs !== undefined && post.createdAtMs <= networkNow() - feed.maxAgeMs) return [];
  const events = feedEvents(post, feed, "webhook");
  if (events.length > 0 || as !== "mention.created" || isOwn(post, feed) || !feed.handles("mention.created")) return events;
  // The network reports a mention, whatever the text contains.
  const thread = post.parentId ?? post.id;
  return [
    {
      specialist: feed.handle,
      id: eventId("mention.created", post.id),
      kind: "mention.created",
      thread,
      payload: post,
      via: "webhook",
      hops: 0,
    },
  ];
}

/** Counts likes as a poll does: by person if the post lists them, else by the count; without either, the thread is read. */
function likeMeaning(word: string, post: Post | undefined, object: JsonObject, { feed, profile }: Meant): Meaning {
  if (post === undefined) return ofSome(word, "post.liked");
  const by = readObject(profile, "agent", object["by"] ?? object["actor"] ?? object["liker"]);
  const liker = by?.kind === "agent" ? by : undefined;
  const occurrence = post.likedBy !== undefined ? liker?.id : post.votes;
  if (occurrence === undefined) {
    const looks: readonly NeededRead[] = [{ kind: "thread", object: post.id, follow: false }];
    return { kind: "hint", word, looks, reports: [{ oneOf: likesOf(post.id) }] };
  }
  if (!feed.handles("post.liked") || (liker !== undefined && liker.id === feed.accountId)) return happened(word);
  const payload = {
    postId: post.id,
    ...(liker === undefined ? {} : { byId: liker.id, ...(liker.handle === undefined ? {} : { byHandle: liker.handle }) }),
  };
  const event: NewEvent = {
    specialist: feed.handle,
    id: eventId("post.liked", post.id, occurrence),
    kind: "post.liked",
    thread: post.id,
    payload,
    via: "webhook",
    hops: 0,
  };
  return happened(word, event);
}

function listedMeaning(word: string, job: Job | undefined, { jobs, networkNow }: Meant): Meaning {
  if (jobs === undefined) return { kind: "unhandled", word };
  const now = networkNow();
  if (job === undefined) return ofSome(word, "job.listed");
  if (job.title === undefined || mustBeRead(job, jobs, now))
    return { kind: "hint", word, looks: readsFor("job.listed"), reports: [{ news: eventId("job.listed", job.id) }] };
  const { events } = readJobs([job], { seen: [], startedAt: 0 }, jobs, now);
  return happened(word, ...events.map((event): NewEvent => ({ ...event, via: "webhook" })));
}

/** A job's progress is read from the job itself: its status counts the occurrences for webhooks and polls alike. */
function jobMeaning(word: string, kind: string, job: Job | undefined): Meaning {
  if (job === undefined) return ofSome(word, kind);
  const looks = readsFor(kind).flatMap((read): readonly NeededRead[] =>
    read.kind === "newest" ? [{ kind: read.of, object: job.id, follow: kind === "job.assigned" }] : [],
  );
  const reports = [{ news: jobNews(job.id) }];
  return kind === "job.rejected" ? { kind: "rejection", word, job: job.id, looks, reports } : { kind: "hint", word, looks, reports };
}

function followerMeaning(word: string, agent: Agent | undefined, { feed, handles }: Meant): Meaning {
  if (agent === undefined) return { kind: "unreadable", why: `${word} names nobody` };
  if (!handles("follower.new")) return { kind: "unhandled", word };
  return happened(word, single(feed, "follower.new", agent.id, agent));
}

const MESSAGES = ["message", "reason", "approval.message"].map(fieldPath);

function approvalMeaning(word: string, body: JsonObject, object: JsonObject, { feed, handles, profile }: Meant): Meaning {
  if (!handles("approval.required")) return { kind: "unhandled", word };
  const reference = referenceOf(profile, object) ?? referenceOf(profile, body);
  const message = firstAt(object, MESSAGES, (found) => (typeof found === "string" ? found : undefined));
  const payload = { ...(reference === undefined ? {} : { reference }), ...(message === undefined ? {} : { message }), raw: object };
  const id = reference ?? idOf(body, profile.webhooks);
  if (id === undefined) return { kind: "unreadable", why: `${word} names no approval` };
  return happened(word, single(feed, "approval.required", id, payload));
}

/** The approval that a delivery refers to, if it names one. */
export function referenceOf({ pending }: Profile, object: JsonObject): string | undefined {
  return firstAt(object, fieldPaths(pending.reference), readId);
}

const CREATED = ["created_id", "createdId", "created.id", "object_id", "objectId", "resource_id", "result.id"].map(fieldPath);

/** The id of the created object, if a decision names it. */
export function createdIdIn(object: JsonObject): string | undefined {
  return firstAt(object, CREATED, readId);
}

function extraMeaning(word: string, mapped: string | undefined, body: JsonObject, object: JsonObject, meant: Meant): Meaning {
  const kind = mapped ?? xKindOf(word);
  // A network never reports the runtime's own kinds.
  if (isEventKind(kind) || !meant.handles(kind)) return { kind: "unhandled", word };
  const id = idOf(body, meant.profile.webhooks) ?? readId(object["id"] ?? null);
  const occurrence = firstAt(body, fieldPaths(meant.profile.webhooks.occurrence), readId);
  if (id !== undefined) return happened(word, single(meant.feed, kind, id, { id, raw: body }, occurrence));
  if (occurrence === undefined) return { kind: "unreadable", why: `${word} has neither an id nor a time to identify it` };
  return happened(word, single(meant.feed, kind, occurrence, { id: occurrence, raw: body }));
}

/** The event kind for a word of the network that is not ours. */
export function xKindOf(word: string): string {
  return `x:${word.toLowerCase().replaceAll(/[^a-z0-9.-]/g, "-")}`;
}

function idOf(body: JsonObject, webhooks: Profile["webhooks"]): string | undefined {
  return firstAt(body, fieldPaths(webhooks.deliveryId), readId);
}

function single(feed: FeedReader, kind: string, object: string, payload: Json, occurrence?: string): NewEvent {
  return { specialist: feed.handle, id: eventId(kind, object, occurrence), kind, payload, via: "webhook", hops: 0 };
}
