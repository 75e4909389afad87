/** Resolves intents in doubt: the network is read back until it shows the effect, or a person decides. */
import type { NetworkRecord } from "../contract/records.ts";
import { dateOf, knownSentAt } from "./sent-at.ts";
import { UNDATED, type Intent, type IntentChange } from "./intent.ts";
import { findEffect, findSame, findOtherWords, provesReading, readBackOf, wouldShow, type Myself, type ReadBack } from "./read-back.ts";
import { ABSENT_CHECKS, MAX_ATTEMPTS, reconcile, refusalOf, type Check } from "./reconcile.ts";
import { disambiguate, type VisibleEffect, type Disambiguation } from "./disambiguate.ts";
import { announceIntent } from "./announce.ts";
import { noteParked, reopenUnproven } from "./reopen.ts";
import { follow } from "./follow-up.ts";
import { dropListReadings, readBackTo, type NoRoom, type Read } from "./read-back-list.ts";
import { MINUTE, SECOND } from "../core/units.ts";
import type { Member } from "../gateway/member.ts";
import type { OpenDoubt, WantedCheck } from "./outbox-memory.ts";
import { readResult } from "../gateway/read-result.ts";
import type { OutboxDependencies } from "./outbox-dependencies.ts";
import type { Proof } from "../store/outbox.ts";

const BATCH = 8;
/** A list is read back this far before the sending, because both clocks may differ. */
const BEFORE_SENDING_MS = 15 * MINUTE;
const MAX_DOUBTS_KNOWN = 10_000;
/** Most intents in doubt at one time after a copy was restored. */
const MAX_OTHERS = 1_000;
/** Intervals between looks at a process that is stopped: each is a read of the network. They grow with the time that it has been stopped for. */
const SENDER_MS = { least: 5 * SECOND, most: 5 * MINUTE, part: 1 / 5 };
/** Confirmed actions checked to prove that reading back works. */
const CONTROLS = 3;

/** The object of the action is gone. */
interface Gone {
  readonly kind: "gone";
}

/** A doubt and its due check. */
type Due = Pick<OpenDoubt, "knownAt"> & { readonly check: WantedCheck };

type Proven = Proof & { readonly kind: "proof" };
const UNPROVEN: Proof = { proven: false, found: 0, missed: 0, latenessMs: 0 };

/** Checks the due intents in doubt. Returns true if there may be more. */
export async function resolveInDoubt(parts: OutboxDependencies, member: Member): Promise<boolean> {
  const intents = await parts.store.doubtfulIntents(member.specialist.handle, parts.clock.now(), BATCH);
  // All at once, so that one reading of a list serves them all.
  const checks = intents.map((intent) => ({ intent, ...wantCheck(parts, member, intent) }));
  for (const { intent, doubt, check } of checks) {
    if (parts.stopping.aborted) return false;
    const noRoom = await resolveOne(parts, member, intent, { knownAt: doubt.knownAt, check });
    if (noRoom === undefined) doubt.check = undefined;
    else await waitForRoom(parts, intent, noRoom);
  }
  const awaited = [...(parts.outbox.doubts.find(member)?.values() ?? [])].some(({ check }) => check !== undefined);
  dropListReadings(parts, member, awaited);
  return intents.length === BATCH;
}

/** Makes one check; returns the end of its wait if the quota has no room. */
async function resolveOne(
  parts: OutboxDependencies,
  member: Member,
  intent: Intent,
  { knownAt, check: wanted }: Due,
): Promise<NoRoom | undefined> {
  const { store, clock, announcer, profile } = parts;
  // Before the check: without room for the control, checks in vain would use up the quota again and again.
  const proof = await proofFor(parts, member, intent, wanted);
  if (proof.kind === "no-room") return proof;
  const seen = await runCheck(parts, member, intent, wanted.since);
  if (seen.kind === "no-room") return seen;
  const { check, begunAt } = seen;
  const now = clock.now();
  const elsewhereUntil = parts.sentElsewhereUntil?.() ?? Number.NEGATIVE_INFINITY;
  const isSilent = elsewhereUntil === Number.POSITIVE_INFINITY;
  const rules = {
    quietMs: Math.max(profile.quietMs, 2 * proof.latenessMs),
    // A list that was read in parts is as old as its first page.
    now: now - (clock.monotonic() - begunAt),
    knownForMs: begunAt - (isSilent ? knownAt : Math.max(knownAt, elsewhereUntil)),
    proof,
    attempts: intent.attempt < MAX_ATTEMPTS ? intent.attempt : await store.unansweredAttempts(intent.seq),
  };
  const change = settled(intent, reconcile(intent, check, rules));
  if (isSilent && (change.state === "ready" || change.state === "refused")) return waitForSender(parts, intent, knownAt);
  const { events, watches } = follow(member, intent, change, now);
  if (!(await store.moveIntent({ seq: intent.seq, by: "read-back", change, now, events, watches }))) return undefined;
  if (change.state !== "in_doubt") {
    parts.outbox.doubts.find(member)?.delete(nameOf(intent));
    parts.outbox.doubts.tidy(member);
  }
  announceIntent(announcer, member, intent, change, now);
  if (change.state === "parked") noteParked(parts, member, intent, change.code, proof.missed);
  if (change.state === "confirmed" && member.keyId !== undefined) {
    const latenessMs = Math.max(proof.latenessMs, intent.attempt === 0 ? 0 : now - (knownSentAt(intent) ?? now));
    await store.saveProof(
      member.keyId,
      intent.operation,
      {
        proven: proof.proven || (check.kind === "found" && check.proves),
        found: proof.found + 1,
        missed: proof.missed,
        latenessMs: Math.min(latenessMs, profile.quietMs),
      },
      now,
    );
    await reopenUnproven(parts, member, intent.operation);
  }
  parts.wake(member, change.state === "ready" ? "intents" : "events");
  return undefined;
}

/** An intent that this store never sent, and the network does not show, counts as new. */
function settled<Change extends IntentChange>(intent: Intent, change: Change): Change {
  return change.state === "ready" && intent.attempt === 0 ? { ...change, everUnknown: false } : change;
}

async function waitForRoom(parts: OutboxDependencies, intent: Intent, { until }: NoRoom): Promise<void> {
  const change = {
    state: "in_doubt",
    nextAt: until,
    code: "read_back_waits",
    message: "reading back waits for room in the quota",
    ...refusalOf(intent),
  } as const;
  await parts.store.moveIntent({ seq: intent.seq, by: "read-back", change, now: parts.clock.now() });
}

/** The network does not show it, and whoever began to send it is stopped: it may still leave there. */
async function waitForSender(parts: OutboxDependencies, intent: Intent, knownAt: number): Promise<undefined> {
  const now = parts.clock.now();
  const { least, most, part } = SENDER_MS;
  const pauseMs = Math.min(most, Math.max(least, (parts.clock.monotonic() - knownAt) * part));
  const change = {
    state: "in_doubt",
    nextAt: now + pauseMs,
    code: "process_silent",
    message: "the process that began to send it is stopped, and may still send it",
    ...refusalOf(intent),
  } as const;
  await parts.store.moveIntent({ seq: intent.seq, by: "read-back", change, now });
}

function nameOf({ seq, attempt }: Intent): string {
  return `${seq}/${attempt}`;
}

/** The time when this process learnt of a doubt, and its due check. A wall clock set forward ends no quiet period. */
function wantCheck(
  { clock, outbox }: OutboxDependencies,
  member: Member,
  intent: Intent,
): { readonly doubt: OpenDoubt; readonly check: WantedCheck } {
  const now = clock.monotonic();
  const doubts = outbox.doubts.of(member);
  let doubt = doubts.get(nameOf(intent));
  if (doubt === undefined) {
    if (doubts.size >= MAX_DOUBTS_KNOWN) doubts.clear();
    doubts.set(nameOf(intent), (doubt = { knownAt: now, check: undefined }));
  }
  const check = (doubt.check ??= { since: now, controls: 0, proof: undefined });
  return { doubt, check };
}

/** True if replies are shown beside their post: a reply to one of them then stands in the thread of that post. */
function hasRepliesApart({ profile }: OutboxDependencies): boolean {
  return profile.operations.get("posts.get")?.replies !== undefined;
}

/** The result of a check and its start, on the monotonic clock. */
interface Seen {
  readonly kind: "seen";
  readonly check: Check;
  readonly begunAt: number;
}

async function runCheck(parts: OutboxDependencies, member: Member, intent: Intent, since: number): Promise<Seen | NoRoom> {
  const readBack = readBackOf(intent, hasRepliesApart(parts));
  const read = readBack === undefined ? undefined : await readAll(parts, member, intent, readBack, since);
  if (read?.kind === "no-room") return read;
  const begunAt = read?.kind === "read" ? read.begunAt : parts.clock.monotonic();
  const check = await checkObject(parts, member, intent, readBack, read);
  return { kind: "seen", check, begunAt };
}

async function checkObject(
  parts: OutboxDependencies,
  member: Member,
  intent: Intent,
  readBack: ReadBack | undefined,
  read: Read | Gone | undefined,
): Promise<Check> {
  if (readBack === undefined) return { kind: "no-read" };
  if (read === undefined) return { kind: "unreadable" };
  if (read.kind === "gone") return read;
  const { records, complete, isTooLong, networkAt } = read;
  const me = myself(member);
  const undated = undatedIn(networkAt);
  const sought = undated(intent);
  // Stored now: once the network's clock has caught up, the wrong date would look right.
  if (sought !== intent) await parts.store.forgetSentAt(intent.seq, parts.clock.now());
  const others = (await othersUnsettled(parts, member, intent)).map(undated);
  const found = await unclaimed(parts, intent, findEffect(sought, records, me, others));
  const { refs, otherIntent } = await ownOf(parts, intent, found, { records, complete, list: readBack.list }, me, undated);
  const [ref] = refs;
  if (ref !== undefined && otherIntent !== undefined) return { kind: "contested", ref, otherIntent: otherIntent.intent.id };
  if (ref !== undefined) return { kind: "found", ref, proves: provesReading(intent, records, me) };
  if (!complete) return { kind: isTooLong ? "too-long" : "unreadable" };
  const otherWords = findOtherWords(sought, records, me, others).filter((ref) => !found.includes(ref));
  const [other] = await unclaimed(parts, intent, otherWords);
  if (other !== undefined) return { kind: "other-words", ref: other };
  const proves = readBack.provesAbsence && wouldShow(intent, records) && !(await mayBeUndone(parts, intent));
  return { kind: "absent", proves };
}

async function ownOf(
  { store }: OutboxDependencies,
  intent: Intent,
  found: readonly string[],
  shown: VisibleEffect,
  me: Myself,
  undated: (intent: Intent) => Intent,
): Promise<Disambiguation> {
  if (found.every((ref) => ref === "")) return { refs: found, otherIntent: undefined };
  const { own, others } = await store.similarIntents(intent, MAX_OTHERS);
  return disambiguate(found, { own, others: others.map((other) => ({ ...other, intent: undated(other.intent) })) }, shown, me);
}

/** If a repeated vote takes the vote back, a missing vote may be two. */
async function mayBeUndone({ store }: OutboxDependencies, intent: Intent): Promise<boolean> {
  return intent.operation === "posts.vote" && (await store.similarIntents(intent, 1)).others.length > 0;
}

/**
 * An intent sent in the network's future was dated by a clock that was ahead, so its time is unknown: its effect would look older than its
 * sending.
 */
function undatedIn(networkAt = Infinity): (intent: Intent) => Intent {
  return (intent) => (dateOf(intent) > networkAt + BEFORE_SENDING_MS ? { ...intent, sentAt: UNDATED } : intent);
}

/** The effects that no other action has claimed. */
async function unclaimed({ store }: OutboxDependencies, intent: Intent, refs: readonly string[]): Promise<readonly string[]> {
  const claimed = await store.claimedRefs(
    intent,
    refs.filter((ref) => ref !== ""),
  );
  return refs.filter((ref) => !claimed.has(ref));
}

/** Reads everything that could show the effect; undefined if nothing could be read. A list read before `since` would not show it. */
async function readAll(
  parts: OutboxDependencies,
  member: Member,
  intent: Intent,
  { call, list }: ReadBack,
  since: number,
): Promise<Read | NoRoom | Gone | undefined> {
  if (list) {
    const { operation } = call;
    const sentAt = (skewMs: number | undefined, networkAt: number | undefined): number =>
      dateOf(undatedIn(networkAt)(intent)) + (skewMs ?? 0) - BEFORE_SENDING_MS;
    const dated = dateOf(intent);
    const ageMs = dated === UNDATED ? parts.clock.monotonic() - since : parts.clock.now() - dated;
    return readBackTo(parts, member, operation, { sentAt, since, ageMs });
  }
  const begunAt = parts.clock.monotonic();
  const answer = await parts.gateway.read(member, call, { lane: "obligation", signal: parts.ending });
  const result = readResult(answer);
  if (result.kind === "wait") return { kind: "no-room", until: result.until };
  if (result.kind === "gone") return { kind: "gone" };
  if (result.kind !== "value") return undefined;
  const { record, lacksMoved = false, skewMs } = result.value;
  if (record === undefined) return undefined;
  const networkAt = skewMs === undefined ? undefined : parts.wall.now() + skewMs;
  return { kind: "read", records: [record], complete: showsAll(record) && !lacksMoved, isTooLong: false, networkAt, begunAt };
}

/** A post shown with fewer replies than it counts may hide the sought one. */
function showsAll(record: NetworkRecord): boolean {
  return record.kind !== "post" || record.replyCount === undefined || (record.replies?.length ?? 0) >= record.replyCount;
}

/**
 * The positive control: reading back has found a confirmed effect of this operation with this key. Absence means nothing without it, so it
 * is made when first needed.
 */
async function proofFor(parts: OutboxDependencies, member: Member, intent: Intent, wanted: WantedCheck): Promise<Proven | NoRoom> {
  const { keyId } = member;
  if (keyId === undefined) return { ...UNPROVEN, kind: "proof" };
  const proof = { ...(wanted.proof ?? (await parts.store.loadProof(keyId, intent.operation))), kind: "proof" } as const;
  if (proof.proven || wanted.proof !== undefined || !needsProof(intent)) return proof;
  const controls = await confirmedLike(parts, member, intent);
  while (wanted.controls < controls.length) {
    const control = controls[wanted.controls];
    const readBack = control === undefined ? undefined : readBackOf(control, hasRepliesApart(parts));
    if (control === undefined || readBack === undefined) break;
    const read = await readAll(parts, member, control, readBack, wanted.since);
    if (read?.kind === "no-room") return read;
    wanted.controls += 1; // a completed read of this check is not repeated, if there is no room for the rest
    if (read === undefined || read.kind === "gone") continue;
    const { records } = read;
    const me = myself(member);
    const byId = findEffect(control, records, me).some((ref) => ref === "" || ref === control.createdRef);
    // The answer may have named an id that nothing has: an unclaimed object with the same text then counts.
    const shown = byId || (await unclaimed(parts, control, findSame(control, records, me))).length > 0;
    const found = shown && provesReading(control, records, me);
    if (!found && !read.complete) continue;
    const now = { ...proof, proven: found, found: proof.found + Number(found), missed: proof.missed + Number(!found) };
    await parts.store.saveProof(keyId, intent.operation, now, parts.clock.now());
    wanted.proof = now;
    return now;
  }
  return proof;
}

/** True if the next check, without an effect, decides that the action is sent again. */
function needsProof(intent: Intent): boolean {
  return intent.effect !== "at-most-once" && intent.checks + 1 >= ABSENT_CHECKS && readBackOf(intent)?.provesAbsence === true;
}

/** Other actions of its kind whose effect may be in what was read: those in doubt, and those whose answer is not here yet. */
async function othersUnsettled(parts: OutboxDependencies, member: Member, { id, operation }: Intent): Promise<readonly Intent[]> {
  const others = await parts.store.intents({
    specialist: member.specialist.handle,
    operation,
    states: ["in_doubt", "sending"],
    limit: MAX_OTHERS,
  });
  return others.filter((other) => other.id !== id);
}

async function confirmedLike(parts: OutboxDependencies, member: Member, intent: Intent): Promise<readonly Intent[]> {
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
