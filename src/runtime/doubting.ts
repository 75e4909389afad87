/** Intents in doubt: the network is read back until it shows what happened, or a person has to say. */
import { cursorOf } from "../client/next-page.ts";
import { MAY_BE_CUT_OFF } from "../contract/read.ts";
import type { NetworkRecord } from "../contract/records.ts";
import type { Intent, IntentChange, Proof } from "../outbox/port.ts";
import {
  findEffect,
  findSame,
  findOtherWords,
  provesReading,
  readBackOf,
  wouldShow,
  type Myself,
  type ReadBack,
} from "../outbox/readback.ts";
import { ABSENT_LOOKS, reconcile, refusalOf, type Look } from "../outbox/reconcile.ts";
import { tellApart, type Shown, type ToldApart } from "../outbox/rivals.ts";
import { announceIntent } from "./announcing.ts";
import { follow } from "./concluding.ts";
import { MINUTE } from "../core/units.ts";
import type { Member } from "./member.ts";
import type { Parts } from "./parts.ts";

const BATCH = 8;
/** Pages of a list read before a read-back counts as incomplete: a hundredth of an hour's requests, within these. */
const LEAST_PAGES = 5;
const MOST_PAGES = 50;
/** Asked for, so that few requests go far back; networks cut it to what they allow. */
const PAGE_SIZE = 100;
/** A list is read back to so long before the sending, since the clocks of both sides may differ. */
const BEFORE_SENDING_MS = 15 * MINUTE;
const MAX_DOUBTS_KNOWN = 10_000;
/** After a copy was put back: in doubt at one time. */
const MAX_OTHERS = 1_000;
/** Confirmed actions looked at to see whether reading back works at all. */
const CONTROLS = 3;

/** The quota has no place for a read now. */
interface NoRoom {
  readonly kind: "no-room";
  readonly until: number;
}

/** The object it was about is not there. */
interface Gone {
  readonly kind: "gone";
}

const GONE: readonly number[] = [404, 410];

/** What was read. Incomplete, it can show that something happened, and never that it did not. */
interface Read {
  readonly kind: "read";
  readonly records: readonly NetworkRecord[];
  readonly complete: boolean;
  /** What time it was for the network, where it told. */
  readonly networkAt: number | undefined;
}

/** Looks at what is in doubt and due. Answers whether there may be more. */
export async function settleDoubts(parts: Parts, member: Member): Promise<boolean> {
  const intents = await parts.store.doubtfulIntents(member.specialist.handle, parts.clock.now(), BATCH);
  for (const intent of intents) {
    if (parts.stopping.aborted) return false;
    await settleOne(parts, member, intent);
  }
  return intents.length === BATCH;
}

async function settleOne(parts: Parts, member: Member, intent: Intent): Promise<void> {
  const { store, clock, announcer, profile } = parts;
  // Before the look: made in vain for want of room for the control, looks would use up what there is, again and again.
  const proof = await proofFor(parts, member, intent);
  if (proof.kind === "no-room") return waitForRoom(parts, intent, proof);
  const look = await lookFor(parts, member, intent);
  if (look.kind === "no-room") return waitForRoom(parts, intent, look);
  const now = clock.now();
  const rules = { quietMs: Math.max(profile.quietMs, 2 * proof.latenessMs), now, knownForMs: knownForMs(parts, member, intent), proof };
  const change = settled(intent, reconcile(intent, look, rules));
  const { events, watches } = follow(member, intent, change, now);
  if (!(await store.moveIntent({ seq: intent.seq, from: ["in_doubt"], change, now, events, watches }))) return;
  announceIntent(announcer, member, intent, change, now);
  if (change.state === "confirmed" && member.keyId !== undefined) {
    const latenessMs = Math.max(proof.latenessMs, intent.attempt === 0 ? 0 : now - (intent.sentAt ?? now));
    await store.saveProof(
      member.keyId,
      intent.operation,
      {
        proven: proof.proven || (look.kind === "found" && look.proves),
        found: proof.found + 1,
        missed: proof.missed,
        latenessMs: Math.min(latenessMs, profile.quietMs),
      },
      now,
    );
  }
  parts.wake(member, change.state === "ready" ? "intents" : "events");
}

/** What this store never sent, and the network does not show, is as good as new. */
function settled(intent: Intent, change: IntentChange): IntentChange {
  return change.state === "ready" && intent.attempt === 0 ? { ...change, everUnknown: false } : change;
}

async function waitForRoom(parts: Parts, intent: Intent, { until }: NoRoom): Promise<void> {
  const change = {
    state: "in_doubt",
    nextAt: until,
    code: "read_back_waits",
    message: "reading back waits for room in the quota",
    ...refusalOf(intent),
  } as const;
  await parts.store.moveIntent({ seq: intent.seq, from: ["in_doubt"], change, now: parts.clock.now() });
}

/** How long this process has known of a doubt, by the clock that cannot be set. A wall clock set forward ends no quiet period. */
function knownForMs({ clock }: Parts, member: Member, { seq, attempt }: Intent): number {
  const doubt = `${seq}/${attempt}`;
  const known = (member.doubtsSince ??= new Map());
  const since = known.get(doubt);
  if (since !== undefined) return clock.monotonic() - since;
  if (known.size >= MAX_DOUBTS_KNOWN) known.clear();
  known.set(doubt, clock.monotonic());
  return 0;
}

async function lookFor(parts: Parts, member: Member, intent: Intent): Promise<Look | NoRoom> {
  const readBack = readBackOf(intent);
  if (readBack === undefined) return { kind: "no-read" };
  const read = await readAll(parts, member, intent, readBack);
  if (read === undefined) return { kind: "unreadable" };
  if (read.kind !== "read") return read;
  const { records, complete, networkAt } = read;
  const me = myself(member);
  const undated = undatedIn(networkAt);
  const sought = undated(intent);
  // Once the network's clock has come to where ours was, it could not be told any more.
  if (sought !== intent) await parts.store.undate(intent.seq);
  const others = (await othersInDoubt(parts, member, intent)).map(undated);
  const found = await unclaimed(parts, intent, findEffect(sought, records, me, others));
  const { refs, rival } = await ownOf(parts, intent, found, { records, complete, list: readBack.list }, me, undated);
  const [ref] = refs;
  if (ref !== undefined && rival !== undefined) return { kind: "contested", ref, rival: rival.intent.id };
  if (ref !== undefined) return { kind: "found", ref, proves: provesReading(intent, records, me) };
  if (!complete) return { kind: "unreadable" };
  const otherWords = findOtherWords(sought, records, me, others).filter((ref) => !found.includes(ref));
  const [other] = await unclaimed(parts, intent, otherWords);
  if (other !== undefined) return { kind: "other-words", ref: other };
  const proves = readBack.provesAbsence && wouldShow(intent, records) && !(await mayBeUndone(parts, intent));
  return { kind: "absent", proves };
}

async function ownOf(
  { store }: Parts,
  intent: Intent,
  found: readonly string[],
  shown: Shown,
  me: Myself,
  undated: (intent: Intent) => Intent,
): Promise<ToldApart> {
  if (found.every((ref) => ref === "")) return { refs: found, rival: undefined };
  const { own, others } = await store.intentsAlike(intent, MAX_OTHERS);
  return tellApart(found, { own, others: others.map((other) => ({ ...other, intent: undated(other.intent) })) }, shown, me);
}

/** Where the same vote again takes it back, a vote that is not there may be two. */
async function mayBeUndone({ store }: Parts, intent: Intent): Promise<boolean> {
  return intent.operation === "posts.vote" && (await store.intentsAlike(intent, 1)).others.length > 0;
}

/**
 * What was sent when it is yet to come for the network was dated by a clock that was ahead, so it may have been at any time:
 * what happened then would look older than its sending.
 */
function undatedIn(networkAt = Infinity): (intent: Intent) => Intent {
  return (intent) => (dateOf(intent) > networkAt + BEFORE_SENDING_MS ? { ...intent, sentAt: 0 } : intent);
}

function dateOf({ sentAt, createdAt }: Intent): number {
  return sentAt ?? createdAt;
}

/** Those of these that no other action is known to have brought about. */
async function unclaimed({ store }: Parts, intent: Intent, refs: readonly string[]): Promise<readonly string[]> {
  const claimed = await store.claimedRefs(
    intent,
    refs.filter((ref) => ref !== ""),
  );
  return refs.filter((ref) => !claimed.has(ref));
}

/** All that could show the effect, page by page; undefined when nothing could be read. */
async function readAll(parts: Parts, member: Member, intent: Intent, readBack: ReadBack): Promise<Read | NoRoom | Gone | undefined> {
  const records: NetworkRecord[] = [];
  const { call, list } = readBack;
  const pagesByNothing = parts.profile.paging.style === "none";
  let cursor: string | undefined;
  let networkAt: number | undefined;
  let unread = 0;
  const read = (complete: boolean): Read => ({ kind: "read", records, complete, networkAt });
  const pages = Math.min(MOST_PAGES, Math.max(LEAST_PAGES, Math.floor(member.limits.perHour / 100)));
  for (let page = 0; page < pages; page++) {
    const input = { ...call.input, ...(list ? { limit: PAGE_SIZE } : {}), ...(cursor === undefined ? {} : { cursor }) };
    const answer = await parts.door.read(member, { ...call, input }, { lane: "obligation", signal: parts.ending });
    if (answer.kind === "waits") return { kind: "no-room", until: answer.until };
    if (!list && answer.kind === "answered" && answer.outcome.class === "refused" && GONE.includes(answer.outcome.status))
      return { kind: "gone" };
    if (answer.kind !== "answered" || answer.outcome.class !== "confirmed") return undefined;
    const { record, items = [], next, skipped = 0, skewMs } = answer.outcome;
    networkAt = skewMs === undefined ? undefined : parts.wall.now() + skewMs;
    if (record !== undefined) records.push(record);
    if (!list) return record === undefined ? undefined : read(showsAll(record));
    records.push(...items);
    unread += skipped; // what could not be read may be what is looked for
    cursor = next === undefined ? undefined : cursorOf(next);
    const sentAt = dateOf(undatedIn(networkAt)(intent)) + (skewMs ?? 0) - BEFORE_SENDING_MS;
    if (reachesBack(items, sentAt)) return read(unread === 0);
    if (cursor === undefined) return read(unread === 0 && !(pagesByNothing && items.length >= MAY_BE_CUT_OFF));
  }
  return read(false);
}

/** A post shown with fewer replies than it counts may hide the one that is looked for. */
function showsAll(record: NetworkRecord): boolean {
  return record.kind !== "post" || record.replyCount === undefined || (record.replies?.length ?? 0) >= record.replyCount;
}

/** Whether a page of a list, newest first, goes back to before `since`. */
function reachesBack(items: readonly NetworkRecord[], since: number): boolean {
  const times = items.map((item) => ("createdAtMs" in item ? item.createdAtMs : undefined));
  const newestFirst = times.every((at, i) => at !== undefined && at <= (times[i - 1] ?? Infinity));
  return newestFirst && (times.at(-1) ?? Infinity) < since;
}

/**
 * Whether reading back has been seen to find a confirmed effect of this operation with this key. Absence is worth
 * nothing without that positive control, so it is made when first needed.
 */
async function proofFor(parts: Parts, member: Member, intent: Intent): Promise<(Proof & { readonly kind: "proof" }) | NoRoom> {
  const none = { kind: "proof", proven: false, found: 0, missed: 0, latenessMs: 0 } as const;
  const { keyId } = member;
  if (keyId === undefined) return none;
  const proof = { ...(await parts.store.loadProof(keyId, intent.operation)), kind: "proof" } as const;
  if (proof.proven || !needsProof(intent)) return proof;
  for (const control of await confirmedLike(parts, member, intent)) {
    const readBack = readBackOf(control);
    const read = readBack === undefined ? undefined : await readAll(parts, member, control, readBack);
    if (read === undefined || read.kind === "gone") continue;
    if (read.kind === "no-room") return read;
    const { records } = read;
    const me = myself(member);
    const byId = findEffect(control, records, me).some((ref) => ref === "" || ref === control.createdRef);
    // Its answer may have named an id that nothing goes by: then what is there in its words is nobody's.
    const shown = byId || (await unclaimed(parts, control, findSame(control, records, me))).length > 0;
    const found = shown && provesReading(control, records, me);
    if (!found && !read.complete) continue;
    const now = { ...proof, proven: found, found: proof.found + Number(found), missed: proof.missed + Number(!found) };
    await parts.store.saveProof(keyId, intent.operation, now, parts.clock.now());
    return now;
  }
  return proof;
}

/** Whether the next look, if it shows nothing, decides that the action is sent again. */
function needsProof(intent: Intent): boolean {
  return intent.effect !== "at-most-once" && intent.checks + 1 >= ABSENT_LOOKS && readBackOf(intent)?.provesAbsence === true;
}

/** Those of the same kind, whose effects must not be taken for this one's. */
async function othersInDoubt(parts: Parts, member: Member, { id, operation }: Intent): Promise<readonly Intent[]> {
  const doubts = await parts.store.doubtfulIntents(member.specialist.handle, Infinity, MAX_OTHERS);
  return doubts.filter((other) => other.id !== id && other.operation === operation);
}

async function confirmedLike(parts: Parts, member: Member, intent: Intent): Promise<readonly Intent[]> {
  const confirmed = await parts.store.intents({
    specialist: member.specialist.handle,
    operation: intent.operation,
    states: ["confirmed"],
    limit: CONTROLS,
  });
  return confirmed.filter((control) => control.id !== intent.id);
}

function myself(member: Member): Myself {
  return { handle: member.specialist.handle, accountId: member.accountId };
}
