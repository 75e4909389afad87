/** Processes stored deliveries into the inbox: each becomes events, or a read of the changed object, or waits for a person. */
import type { NewEvent } from "../contract/event.ts";
import type { Notification } from "../contract/records.ts";
import { messageOf } from "../core/errors.ts";
import { MINUTE, SECOND } from "../core/units.ts";
import { meaningOf, namesItself, postEvents, type NeededRead, type Meaning, type Meant } from "./interpret.ts";
import type { WorkKind } from "../store/sources.ts";
import { noteRejection } from "./note-rejection.ts";
import { decidePending } from "./remote-approval.ts";
import type { Member } from "../gateway/member.ts";
import { isKeysFault, readResult, shownFrom, whyUnread, type Unread } from "../gateway/read-result.ts";
import type { WebhookDependencies } from "./webhook-dependencies.ts";
import { feedReader, jobsReader } from "../polling/list-readers.ts";
import { endOfRefusal } from "../gateway/end-of-refusal.ts";
import { handlerOf } from "../specialist/handlers.ts";
import type { DeliveryEnd, NewDelivery, Nudge, StoredDelivery } from "../store/deliveries.ts";

const BATCH = 32;
/** Delay of reads of lists and threads, so that a burst of deliveries costs one read. */
export const MERGE_MS = 2 * SECOND;
/** Due at any clock: a wall clock may step back by a millisecond between the delivery and the read. */
const AT_ONCE = 0;
/** Time for which a fetched post is reused: networks report one reply as a reply and as a mention. */
const READ_AGAIN_MS = 2 * SECOND;
const MAX_POSTS_READ = 32;
const MAX_MISSED_NUDGES = 200;
/** Delays before the retries of a delivery whose content cannot be fetched, which is then parked. */
const DELIVERY_RETRY_DELAYS_MS: readonly number[] = [5 * SECOND, MINUTE, 10 * MINUTE];

/** Delay after a 429 or 401, which are not caused by the delivery. */
const KEYS_FAULT_MS = MINUTE;

type Fetch = Extract<Meaning, { readonly kind: "fetch" }>;
/** The result without the delivery's identity. */
type End = Omit<DeliveryEnd, "seq" | "specialist" | "kind">;

/** A delivery, with its body as text if that is known already. */
type ReceivedDelivery = NewDelivery & { readonly text?: string | undefined };

/**
 * Stores a delivery, and processes it in the same transaction if its bytes alone determine the result. Resolves once it is on disk; the
 * following work begins earlier, since its writes reach the disk later.
 */
export function receiveDelivery(
  parts: WebhookDependencies,
  member: Member,
  delivery: ReceivedDelivery,
): Promise<"stored" | "known" | "full"> {
  const now = parts.clock.now();
  const read = readPlainly(delivery, meantFor(parts, member), now);
  const onStored = (fresh: readonly NewEvent[], waits: boolean): void => {
    if (read !== undefined && delivery.scheme !== LISTED) tellHealth(parts, member, read.meaning);
    if (waits || read?.end === undefined) parts.wake(member, "deliveries");
    else announceEnd(parts, member, read.meaning, read.end, fresh);
  };
  const plain = read?.end === undefined ? undefined : { ...read.end, kind: wordOf(read.meaning) };
  return parts.store.putDelivery({ delivery, plain, onStored }, now);
}

/** The scheme of a notification that a list showed: our own read vouches for it, and it says nothing of deliveries. */
const LISTED = "listed";

/** Stores notifications of a polled list as deliveries; those known by their id are stored already. False if there is no room for one. */
export async function reportListed(parts: WebhookDependencies, member: Member, notifications: readonly Notification[]): Promise<boolean> {
  for (const { id, raw } of notifications) {
    const body = Buffer.from(JSON.stringify(raw));
    const delivery = { specialist: member.specialist.handle, id: `${LISTED}:${id}`, kind: undefined, scheme: LISTED, body };
    if ((await receiveDelivery(parts, member, delivery)) === "full") return false;
  }
  return true;
}

/**
 * The reads for a repeated delivery with the same bytes: an unnamed like may be another one. None if the bytes identify the delivery or
 * contain the whole event: it is then the one already processed.
 */
export function readsAgain(
  parts: WebhookDependencies,
  member: Member,
  delivery: Pick<NewDelivery, "kind" | "body">,
): readonly NeededRead[] {
  const meaning = readPlainly(delivery, meantFor(parts, member), parts.clock.now())?.meaning;
  if (meaning?.kind !== "hint" || namesItself(delivery.body, parts.profile.webhooks)) return [];
  tellHealth(parts, member, meaning);
  return meaning.looks;
}

function readPlainly(
  delivery: Parameters<typeof meaningOf>[0],
  meant: Meant,
  now: number,
): { readonly meaning: Meaning; readonly end: End | undefined } | undefined {
  try {
    const meaning = meaningOf(delivery, meant);
    return { meaning, end: plainEnd(meaning, now) };
  } catch {
    return undefined; // the pass over waiting deliveries meets the same error, reports it, and finally parks the delivery
  }
}

/** Processes the waiting deliveries of one specialist. Returns true if there may be more. */
export async function takeDeliveries(parts: WebhookDependencies, member: Member): Promise<boolean> {
  const now = parts.clock.now();
  const { handle } = member.specialist;
  // Deliveries wait here, within a bound that senders see (503).
  if (!(await parts.store.hasRoomForEvents(handle))) {
    parts.deliveries.deferred.add(member);
    return false;
  }
  const deliveries = await parts.store.dueDeliveries(handle, now, BATCH);
  if (deliveries.length === 0) return false;
  const meant = meantFor(parts, member);
  // One read serves all deliveries of a batch about one post.
  const reads = new Map<string, Promise<FetchedPost>>();
  await Promise.all(deliveries.map((delivery) => take(parts, member, delivery, meant, reads)));
  return deliveries.length === BATCH;
}

async function take(parts: WebhookDependencies, member: Member, delivery: StoredDelivery, meant: Meant, reads: Reads): Promise<void> {
  try {
    const meaning = meaningOf(delivery, meant);
    const end = await endOf(parts, member, delivery, meaning, meant, reads);
    if (end !== undefined) await finish(parts, member, delivery, meaning, end);
  } catch (error) {
    await putOff(parts, member, delivery, undefined, messageOf(error));
  }
}

/** The result of a delivery by its bytes alone; undefined if a request or a person is needed. */
function plainEnd(meaning: Meaning, now: number): End | undefined {
  switch (meaning.kind) {
    case "events":
      return { state: "done", events: meaning.events, nudges: nudgesFor(meaning.looks, now) };
    case "hint":
      return { state: "done", events: [], nudges: nudgesFor(meaning.looks, now) };
    case "unhandled":
      return { state: "unhandled", events: [], nudges: [] };
    case "unreadable":
      return { state: "parked", note: meaning.why, events: [], nudges: [] };
    case "fetch":
    case "decision":
    case "rejection":
      return undefined;
  }
}

/** The result of a delivery; undefined if it has to wait. */
async function endOf(
  parts: WebhookDependencies,
  member: Member,
  delivery: StoredDelivery,
  meaning: Meaning,
  meant: Meant,
  reads: Reads,
): Promise<End | undefined> {
  const none = { events: [], nudges: [] };
  switch (meaning.kind) {
    case "fetch":
      return fetched(parts, member, delivery, meaning, meant, reads);
    case "decision":
      return { ...none, ...(await decidePending(parts, member, meaning)) };
    case "rejection": {
      const now = parts.clock.now();
      if (await noteRejection(parts, member, meaning.job, delivery.id))
        return { ...none, state: "done", nudges: nudgesFor(meaning.looks, now) };
      await putOff(parts, member, delivery, now + MERGE_MS, "the job is being read");
      return undefined;
    }
    default:
      return plainEnd(meaning, parts.clock.now());
  }
}

async function finish(parts: WebhookDependencies, member: Member, delivery: StoredDelivery, meaning: Meaning, end: End): Promise<void> {
  const { handle } = member.specialist;
  const ended = { ...end, seq: delivery.seq, specialist: handle, kind: wordOf(meaning) };
  const { fresh } = await parts.store.endDelivery(ended, parts.clock.now());
  announceEnd(parts, member, meaning, end, fresh);
}

function wordOf(meaning: Meaning): string | undefined {
  return "word" in meaning ? meaning.word : undefined;
}

/** Called once per delivery, on arrival: its object may be read much later, and a poll may find it first. */
function tellHealth({ profile, coverage }: WebhookDependencies, { specialist }: Member, meaning: Meaning): void {
  const word = wordOf(meaning);
  const kind = word !== undefined && Object.hasOwn(profile.webhooks.kinds, word) ? profile.webhooks.kinds[word] : undefined;
  if (kind !== undefined && "reports" in meaning) coverage.reported(specialist.handle, kind, meaning.reports);
}

function announceEnd(parts: WebhookDependencies, member: Member, meaning: Meaning, end: End, fresh: readonly NewEvent[]): void {
  const { clock, announcer } = parts;
  const { handle } = member.specialist;
  if (announcer.listenerCount("delivery") > 0)
    announcer.emit("delivery", {
      at: clock.now(),
      handle,
      kind: wordOf(meaning) ?? "",
      state: end.state,
      fresh: fresh.length,
      ...(end.note === undefined ? {} : { message: end.note }),
    });
  if (fresh.length > 0) parts.wake(member, "events");
  wakeFor(parts, member, end.nudges);
}

/** Records reads that a running pass may have missed, for another pass. A pass that comes too early for a read sets its timer. */
export function wakeFor(
  parts: Pick<WebhookDependencies, "isBusy" | "deliveries" | "wake">,
  member: Member,
  nudges: readonly Nudge[],
): void {
  for (const nudge of nudges) {
    const part: WorkKind = nudge.kind === "source" ? "sources" : "watches";
    if (parts.isBusy(member, part)) noteMissed(parts, member, nudge);
    else parts.wake(member, part);
  }
}

/** The next regular poll covers the earliest ones beyond the bound. */
function noteMissed({ deliveries }: Pick<WebhookDependencies, "deliveries">, member: Member, nudge: Nudge): void {
  const missed = deliveries.missedNudges.of(member).add(nudge);
  for (const oldest of missed) if (missed.size > MAX_MISSED_NUDGES) missed.delete(oldest);
}

/** Makes the recorded reads after a pass. Returns true if one is due now. */
export async function readAgain(
  parts: Pick<WebhookDependencies, "deliveries" | "store" | "clock">,
  member: Member,
  part: "sources" | "watches",
): Promise<boolean> {
  const { missedNudges } = parts.deliveries;
  const missed = missedNudges.find(member);
  if (missed === undefined) return false;
  const ours = [...missed].filter((nudge) => (nudge.kind === "source") === (part === "sources"));
  for (const nudge of ours) missed.delete(nudge);
  missedNudges.tidy(member);
  if (ours.length === 0) return false;
  const now = parts.clock.now();
  await parts.store.nudge(member.specialist.handle, ours, now);
  return ours.some(({ at }) => at <= now);
}

/** Resumes deliveries that waited for events to be handled. */
export function takeDeferred({ deliveries, wake }: Pick<WebhookDependencies, "deliveries" | "wake">, member: Member): void {
  if (deliveries.deferred.delete(member)) wake(member, "deliveries");
}

export function nudgesFor(looks: readonly NeededRead[], now: number): readonly Nudge[] {
  return looks.map((look): Nudge => {
    switch (look.kind) {
      case "job":
        return { ...look, at: AT_ONCE };
      case "source":
        return { ...look, at: now + MERGE_MS };
      case "newest":
        return { ...look, at: now + MERGE_MS };
      case "thread":
      case "own_job":
        return { ...look, at: now + MERGE_MS };
    }
  });
}

/** Made once for each definition and account: nothing in it changes with a delivery. */
function meantFor(parts: WebhookDependencies, member: Member): Meant {
  const { specialist, accountId } = member;
  const known = parts.deliveries.meant.get(specialist);
  if (known !== undefined && known.feed.accountId === accountId) return known;
  const meant: Meant = {
    profile: parts.profile,
    feed: feedReader(member, specialist.watch.feed),
    jobs: specialist.watch.jobs === undefined ? undefined : jobsReader(member, specialist.watch.jobs),
    handles: (kind) => handlerOf(specialist, kind) !== undefined,
    networkNow: parts.networkNow,
  };
  parts.deliveries.meant.set(specialist, meant);
  return meant;
}

type FetchedPost =
  | { readonly kind: "post"; readonly post: Parameters<typeof postEvents>[0] }
  /** The meaning depends on the time since the network's report. */
  | { readonly kind: "gone"; readonly read: Extract<Unread, { readonly kind: "gone" }> }
  /** The network will not show it, however often it is requested. */
  | { readonly kind: "refused"; readonly why: string }
  | { readonly kind: "later"; readonly at: number | undefined; readonly why: string };
type Reads = Map<string, Promise<FetchedPost>>;

/** Fetches the post, or reads its thread if that is watched: forty replies then cost one read. */
async function fetched(
  parts: WebhookDependencies,
  member: Member,
  delivery: StoredDelivery,
  { post, thread, as }: Fetch,
  meant: Meant,
  reads: Reads,
): Promise<End | undefined> {
  if (thread !== undefined && as !== "post.created") {
    const watch = await parts.store.findWatch(member.specialist.handle, "thread", thread);
    if (watch !== undefined && watch.dueAt !== null)
      return { state: "done", events: [], nudges: nudgesFor([{ kind: "thread", object: thread, follow: false }], parts.clock.now()) };
  }
  const read = reads.get(post) ?? readPost(parts, member, post);
  reads.set(post, read);
  const answer = await read;
  switch (answer.kind) {
    case "post": {
      const events: readonly NewEvent[] = postEvents(answer.post, as, meant);
      return { state: "done", events, nudges: [] };
    }
    case "gone": {
      const at = shownFrom(answer.read, delivery.receivedAt, parts);
      if (at === undefined) return { state: "done", events: [], nudges: [], note: "what it was about is gone" };
      await putOff(parts, member, delivery, at, whyUnread(answer.read));
      return undefined;
    }
    case "refused":
      return { state: "parked", events: [], nudges: [], note: answer.why };
    case "later":
      await putOff(parts, member, delivery, answer.at, answer.why);
      return undefined;
  }
}

async function readPost(parts: WebhookDependencies, member: Member, target: string): Promise<FetchedPost> {
  const { postsRead } = parts.deliveries;
  const now = parts.clock.monotonic();
  const known = postsRead.find(member);
  for (const [id, { at }] of known ?? []) if (at <= now - READ_AGAIN_MS) known?.delete(id);
  const lately = known?.get(target);
  postsRead.tidy(member);
  if (lately !== undefined) return { kind: "post", post: lately.post };
  const answer = await askPost(parts, member, target);
  if (answer.kind === "post") {
    const posts = postsRead.of(member).set(answer.post.id, { post: answer.post, at: parts.clock.monotonic() });
    for (const oldest of posts.keys()) if (posts.size > MAX_POSTS_READ) posts.delete(oldest);
  }
  return answer;
}

async function askPost(parts: WebhookDependencies, member: Member, target: string): Promise<FetchedPost> {
  const answer = await parts.gateway.read(member, { operation: "posts.get", target, input: {} }, { lane: "watch", signal: parts.ending });
  const result = readResult(answer);
  switch (result.kind) {
    case "value":
      if (result.value.record?.kind === "post") return { kind: "post", post: result.value.record };
      return { kind: "later", at: undefined, why: "the answer is no post" };
    case "gone":
      return { kind: "gone", read: result };
    case "wait":
      return { kind: "later", at: result.until, why: result.message };
    case "refused": {
      const why = `the post could not be read: ${whyUnread(result)}`;
      const end = endOfRefusal(parts, member, "posts.get", result);
      if (end.kind === "never") return { kind: "refused", why };
      return { kind: "later", at: end.kind === "stop" ? end.until : undefined, why };
    }
    case "failed": {
      const at = isKeysFault(result) ? parts.clock.now() + KEYS_FAULT_MS : undefined;
      return { kind: "later", at, why: `the post could not be read: ${whyUnread(result)}` };
    }
  }
}

/** Waiting for quota is no failure; anything else is retried a few times, then left to a person. */
async function putOff(
  parts: WebhookDependencies,
  member: Member,
  delivery: StoredDelivery,
  at: number | undefined,
  note: string,
): Promise<void> {
  const { store, clock, log } = parts;
  const now = clock.now();
  const delay = DELIVERY_RETRY_DELAYS_MS[delivery.attempts];
  if (at !== undefined) await store.delayDelivery(delivery.seq, { dueAt: at, failed: false, note });
  else if (delay !== undefined) await store.delayDelivery(delivery.seq, { dueAt: now + delay, failed: true, note });
  else {
    const { handle } = member.specialist;
    await store.endDelivery(
      { seq: delivery.seq, specialist: handle, state: "parked", kind: delivery.kind, note, events: [], nudges: [] },
      now,
    );
    log.warn("a webhook delivery was parked", { handle, delivery: delivery.id, message: note });
  }
}
