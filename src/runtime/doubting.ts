/** Intents in doubt: the network is read back until it shows what happened, or a person has to say. */
import type { NetworkRecord } from "../contract/records.ts";
import type { Intent, Proof } from "../outbox/port.ts";
import { findEffect, readBackOf, type Myself, type ReadBack } from "../outbox/readback.ts";
import { reconcile, type Look } from "../outbox/reconcile.ts";
import { follow } from "./concluding.ts";
import { announceIntent } from "./door.ts";
import type { Member } from "./member.ts";
import type { Parts } from "./parts.ts";

const BATCH = 8;
/** Pages of a list read before a read-back counts as incomplete. */
const MAX_PAGES = 5;
/** Confirmed actions looked at to see whether reading back works at all. */
const CONTROLS = 3;

/** The quota has no place for a read now. */
interface NoRoom {
  readonly kind: "no-room";
  readonly until: number;
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
  const look = await lookFor(parts, member, intent);
  if (look.kind === "no-room") {
    const change = {
      state: "in_doubt",
      nextAt: look.until,
      code: "read_back_waits",
      message: "reading back waits for room in the quota",
    } as const;
    return void (await store.moveIntent({ seq: intent.seq, from: ["in_doubt"], change, now: clock.now() }));
  }
  const proof = await proofFor(parts, member, intent, look);
  const now = clock.now();
  const change = reconcile(intent, look, { quietMs: Math.max(profile.quietMs, 2 * proof.latenessMs), now, proof });
  const { events, watches } = follow(member, intent, change, now);
  if (!(await store.moveIntent({ seq: intent.seq, from: ["in_doubt"], change, now, events, watches }))) return;
  announceIntent(announcer, member, intent, change, now);
  if (change.state === "confirmed" && member.keyId !== undefined) {
    const latenessMs = Math.max(proof.latenessMs, now - (intent.sentAt ?? now));
    await store.saveProof(
      member.keyId,
      intent.operation,
      { ...proof, proven: true, found: proof.found + 1, latenessMs: Math.min(latenessMs, profile.quietMs) },
      now,
    );
  }
  parts.wake(member, change.state === "ready" ? "intents" : "events");
}

async function lookFor(parts: Parts, member: Member, intent: Intent): Promise<Look | NoRoom> {
  const readBack = readBackOf(intent);
  if (readBack === undefined) return { kind: "no-read" };
  const read = await readAll(parts, member, readBack);
  if (read === undefined) return { kind: "unreadable" };
  if ("until" in read) return read;
  const found = findEffect(intent, read, myself(member));
  const claimed = await parts.store.claimedRefs(
    member.specialist.handle,
    found.filter((ref) => ref !== ""),
  );
  const ref = found.find((candidate) => !claimed.has(candidate));
  return ref === undefined ? { kind: "absent" } : { kind: "found", ref };
}

/** The complete answer, page by page; undefined when it could not be read to its end. */
async function readAll(parts: Parts, member: Member, readBack: ReadBack): Promise<readonly NetworkRecord[] | NoRoom | undefined> {
  const records: NetworkRecord[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const input = cursor === undefined ? readBack.call.input : { ...readBack.call.input, cursor };
    const answer = await parts.door.read(member, { ...readBack.call, input }, { lane: "watch", signal: parts.ending });
    if (answer.kind === "waits") return { kind: "no-room", until: answer.until };
    if (answer.kind !== "answered" || answer.outcome.class !== "confirmed") return undefined;
    if (!readBack.list) return answer.outcome.record === undefined ? undefined : [answer.outcome.record];
    records.push(...(answer.outcome.items ?? []));
    cursor = answer.outcome.next?.cursor;
    if (cursor === undefined) return records;
  }
  return undefined;
}

/**
 * Whether reading back has been seen to find a confirmed effect of this operation with this key. Absence is worth
 * nothing without that positive control, so it is made when first needed.
 */
async function proofFor(parts: Parts, member: Member, intent: Intent, look: Look): Promise<Proof> {
  const none: Proof = { proven: false, found: 0, missed: 0, latenessMs: 0 };
  const { keyId } = member;
  if (keyId === undefined) return none;
  const proof = await parts.store.loadProof(keyId, intent.operation);
  if (proof.proven || look.kind !== "absent") return proof;
  for (const control of await confirmedLike(parts, member, intent)) {
    const readBack = readBackOf(control);
    const read = readBack === undefined ? undefined : await readAll(parts, member, readBack);
    if (read === undefined || "until" in read) continue;
    const found = findEffect(control, read, myself(member)).some((ref) => ref === "" || ref === control.createdRef);
    const now: Proof = { ...proof, proven: found, found: proof.found + Number(found), missed: proof.missed + Number(!found) };
    await parts.store.saveProof(keyId, intent.operation, now, parts.clock.now());
    return now;
  }
  return proof;
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
