/** From stored deliveries to the inbox: each becomes events, or a look at what changed, or waits for a person to look at it. */
import type { NewEvent } from "../contract/event.ts";
import type { Outcome } from "../contract/call.ts";
import { messageOf } from "../core/errors.ts";
import { MINUTE, SECOND } from "../core/units.ts";
import { meaningOf, namesItself, postEvents, type NeededRead, type Meaning, type Meant } from "./interpret.ts";
import type { WorkKind } from "../store/sources.ts";
import { decidePending } from "./remote-approval.ts";
import { isBusy, type Member } from "../gateway/member.ts";
import type { WebhookDependencies } from "./webhook-dependencies.ts";
import { feedReader, jobsReader } from "../polling/poll-lists.ts";
import { endOfRefusal } from "../gateway/end-of-refusal.ts";
import { handlerOf } from "../specialist/handlers.ts";
import type { DeliveryEnd, NewDelivery, Nudge, StoredDelivery } from "../store/deliveries.ts";

const BATCH = 32;
/** Looks at lists and threads wait this long, so that a burst of deliveries costs one read. */
export const MERGE_MS = 2 * SECOND;
/** Due whatever the clock says: a wall clock may step back by a millisecond between the delivery and the look. */
const AT_ONCE = 0;
/** A post that was read is not read again so soon: networks tell of one reply as a reply and as a mention. */
const READ_AGAIN_MS = 2 * SECOND;
const MAX_POSTS_READ = 32;
/** Past this many, the earlier ones are covered by the next regular look. */
const MAX_MISSED_NUDGES = 200;
/** A delivery whose content cannot be fetched is tried again after these, then parked. */
const RETRY_DELAYS_MS: readonly number[] = [5 * SECOND, MINUTE, 10 * MINUTE];

type Fetch = Extract<Meaning, { readonly kind: "fetch" }>;
/** What is left of an end once its delivery is known. */
type End = Omit<DeliveryEnd, "seq" | "specialist" | "kind">;

/**
 * Stores a delivery, and works on it in the same transaction where its bytes alone say what it means. Resolves once it is on
 * disk; the work that it means begins before, since what that writes comes to disk after it.
 */
export function receiveDelivery(parts: WebhookDependencies, member: Member, delivery: NewDelivery): Promise<"stored" | "known" | "full"> {
  const now = parts.clock.now();
  const read = readPlainly(delivery, meantFor(parts, member), now);
  const onStored = (fresh: readonly NewEvent[], waits: boolean): void => {
    if (read !== undefined) tellHealth(parts, member, read.meaning);
    if (waits || read?.end === undefined) parts.wake(member, "deliveries");
    else announceEnd(parts, member, read.meaning, read.end, fresh);
  };
  const plain = read?.end === undefined ? undefined : { ...read.end, kind: wordOf(read.meaning) };
  return parts.store.putDelivery({ delivery, plain, onStored }, now);
}

/**
 * What is worth looking at because a delivery came again in the same words: a like by nobody in particular may be another one.
 * Nothing where the words name the delivery, or say all: then it is the one that was worked on.
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
  delivery: Pick<NewDelivery, "kind" | "body">,
  meant: Meant,
  now: number,
): { readonly meaning: Meaning; readonly end: End | undefined } | undefined {
  try {
    const meaning = meaningOf(delivery, meant);
    return { meaning, end: plainEnd(meaning, now) };
  } catch {
    return undefined; // the pass over what waits meets the same error, says it, and parks the delivery in the end
  }
}

/** Works on what was delivered for one specialist and waits. Answers whether there may be more. */
export async function takeDeliveries(parts: WebhookDependencies, member: Member): Promise<boolean> {
  const now = parts.clock.now();
  const { handle } = member.specialist;
  // What has to wait waits here, where there is a bound on it that senders are told of.
  if (!(await parts.store.hasRoomForEvents(handle))) {
    member.deliveriesDeferred = true;
    return false;
  }
  const deliveries = await parts.store.dueDeliveries(handle, now, BATCH);
  if (deliveries.length === 0) return false;
  const meant = meantFor(parts, member);
  // One read serves all deliveries of a batch that are about one post.
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

/** What a delivery comes to by its bytes alone; undefined where more has to be asked, or a person has to look. */
function plainEnd(meaning: Meaning, now: number): End | undefined {
  switch (meaning.kind) {
    case "events":
      return { state: "done", events: meaning.events, nudges: nudgesFor(meaning.looks, now) };
    case "hint":
      return { state: "done", events: [], nudges: nudgesFor(meaning.looks, now) };
    case "unhandled":
      return { state: "unhandled", events: [], nudges: [] };
    case "fetch":
    case "decision":
    case "unreadable":
      return undefined;
  }
}

/** What a delivery comes to; undefined where it has to wait. */
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
    case "unreadable":
      return { ...none, state: "parked", note: meaning.why };
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

/** Once for each delivery, as it comes: what it is about may be read much later, and a poll may find it first. */
function tellHealth({ profile, coverage }: WebhookDependencies, { specialist }: Member, meaning: Meaning): void {
  const word = wordOf(meaning);
  const kind = word !== undefined && Object.hasOwn(profile.webhooks.kinds, word) ? profile.webhooks.kinds[word] : undefined;
  if (kind !== undefined && "told" in meaning) coverage.told(specialist.handle, kind, meaning.told);
}

function announceEnd(parts: WebhookDependencies, member: Member, meaning: Meaning, end: End, fresh: readonly NewEvent[]): void {
  const { clock, announcer } = parts;
  const { handle } = member.specialist;
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

/**
 * Looks that a running pass may have read past are noted, and made again after it. A pass that comes too early for a look
 * is what sets the timer for it.
 */
export function wakeFor(parts: WebhookDependencies, member: Member, nudges: readonly Nudge[]): void {
  for (const nudge of nudges) {
    const part: WorkKind = nudge.kind === "source" ? "sources" : "watches";
    if (isBusy(member, part)) member.missedNudges = [...member.missedNudges, nudge].slice(-MAX_MISSED_NUDGES);
    else parts.wake(member, part);
  }
}

/** Makes the looks again that came while a pass over the part was reading. Answers whether one is due now. */
export async function readAgain(parts: WebhookDependencies, member: Member, part: "sources" | "watches"): Promise<boolean> {
  if (member.missedNudges.length === 0) return false;
  const ours = member.missedNudges.filter((nudge) => (nudge.kind === "source") === (part === "sources"));
  member.missedNudges = member.missedNudges.filter((nudge) => !ours.includes(nudge));
  if (ours.length === 0) return false;
  const now = parts.clock.now();
  await parts.store.nudge(member.specialist.handle, ours, now);
  return ours.some(({ at }) => at <= now);
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
        return { ...look, at: now + MERGE_MS };
    }
  });
}

function meantFor({ profile, networkNow }: WebhookDependencies, member: Member): Meant {
  const { specialist } = member;
  return {
    profile,
    feed: feedReader(member, specialist.watch.feed),
    jobs: specialist.watch.jobs === undefined ? undefined : jobsReader(member, specialist.watch.jobs),
    handles: (kind) => handlerOf(specialist, kind) !== undefined,
    now: networkNow(),
  };
}

type FetchedPost =
  | { readonly kind: "post"; readonly post: Parameters<typeof postEvents>[0] }
  | { readonly kind: "gone" }
  /** It will not be shown, however often it is asked for. */
  | { readonly kind: "refused"; readonly why: string }
  | { readonly kind: "later"; readonly at: number | undefined; readonly why: string };
type Reads = Map<string, Promise<FetchedPost>>;

/** The post itself, or a look at its thread where that is followed: forty replies then cost one read. */
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
    case "gone":
      return { state: "done", events: [], nudges: [], note: "what it was about is gone" };
    case "refused":
      return { state: "parked", events: [], nudges: [], note: answer.why };
    case "later":
      await putOff(parts, member, delivery, answer.at, answer.why);
      return undefined;
  }
}

async function readPost(parts: WebhookDependencies, member: Member, target: string): Promise<FetchedPost> {
  const now = parts.clock.monotonic();
  member.postsRead = member.postsRead.filter(({ at }) => at > now - READ_AGAIN_MS);
  const lately = member.postsRead.find(({ post }) => post.id === target);
  if (lately !== undefined) return { kind: "post", post: lately.post };
  const answer = await askPost(parts, member, target);
  if (answer.kind === "post")
    member.postsRead = [...member.postsRead, { post: answer.post, at: parts.clock.monotonic() }].slice(-MAX_POSTS_READ);
  return answer;
}

async function askPost(parts: WebhookDependencies, member: Member, target: string): Promise<FetchedPost> {
  const answer = await parts.gateway.read(member, { operation: "posts.get", target, input: {} }, { lane: "watch", signal: parts.ending });
  switch (answer.kind) {
    case "waits":
      return { kind: "later", at: answer.until, why: answer.message };
    case "refused":
      return { kind: "refused", why: answer.message };
    case "gone":
      return { kind: "later", at: undefined, why: "the read was lost" };
    case "answered":
      return postIn(parts, member, answer.outcome);
  }
}

function postIn(parts: WebhookDependencies, member: Member, outcome: Outcome): FetchedPost {
  if (outcome.class === "confirmed" && outcome.record?.kind === "post") return { kind: "post", post: outcome.record };
  const why = `the post could not be read: ${"message" in outcome && outcome.message !== undefined ? outcome.message : outcome.class}`;
  if (outcome.class !== "refused") return { kind: "later", at: undefined, why };
  if (outcome.status === 404 || outcome.status === 410) return { kind: "gone" };
  const end = endOfRefusal(parts, member, "posts.get", outcome);
  if (end.kind === "never") return { kind: "refused", why };
  return { kind: "later", at: end.kind === "stop" ? end.until : undefined, why };
}

/** Waiting for quota is no failure; anything else is tried a few times, then kept for a person. */
async function putOff(
  parts: WebhookDependencies,
  member: Member,
  delivery: StoredDelivery,
  at: number | undefined,
  note: string,
): Promise<void> {
  const { store, clock, log } = parts;
  const now = clock.now();
  const delay = RETRY_DELAYS_MS[delivery.attempts];
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
