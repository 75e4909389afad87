/** From the outbox to the door: what is ready goes out, in order, as far as the limits let it. */
import { foreignCode, type AnyCode } from "../core/error-codes.ts";
import type { Lane } from "../contract/operations.ts";
import { messageOf } from "../core/errors.ts";
import { MINUTE, SECOND } from "../core/units.ts";
import { DRY_RUN, expiry, type Intent } from "./intent.ts";
import { announceIntent } from "./announce.ts";
import { follow } from "./follow-up.ts";
import { isStoreLost } from "../store/store-lost.ts";
import { endWaits, freeLanes, removeInFlight, addInFlight, type LaneWait, type Member } from "../gateway/member.ts";
import type { OutboxDependencies } from "./outbox-dependencies.ts";
import { RECEIPT_KINDS } from "./receipts.ts";
import { handlerOf } from "../specialist/handlers.ts";

/** Intents looked at in one go. */
const BATCH = 32;

/** Sends what is due for one specialist. Answers whether there may be more right away. */
export async function sendIntents(parts: OutboxDependencies, member: Member): Promise<boolean> {
  const { store, clock } = parts;
  const { handle } = member.specialist;
  await expire(parts, member);
  const now = clock.now();
  endWaits(member, ({ until }) => until <= now);
  const lanes = freeLanes(member);
  if (lanes.length === 0) return false;
  const due = (await store.dueIntents(handle, lanes, now, BATCH)).filter((intent) => member.inFlight?.has(intent.seq) !== true);
  const sent = await Promise.all(due.map((intent) => sendOne(parts, member, intent)));
  return sent.some(Boolean);
}

/** One attempt. Answers whether it left, so that what waited for it may go next. */
export async function sendOne(parts: OutboxDependencies, member: Member, intent: Intent): Promise<boolean> {
  const { gateway, log, stopping } = parts;
  if (stopping.aborted || member.waits?.has(intent.lane) === true) return false;
  addInFlight(member, intent.seq);
  const { ordersSeen } = member;
  try {
    const answer = await gateway.send(member, intent);
    switch (answer.kind) {
      case "answered":
        if (answer.outcome.class === "confirmed") parts.learn(member, answer.outcome.record);
        if (listens(member)) parts.wake(member, "events");
        return true;
      case "refused":
        await refuse(parts, member, intent, answer);
        return true;
      case "gone":
        return false;
      case "waits":
        // The Guardian's word came while it was on its way: what it was told to wait for may be over.
        if (member.ordersSeen !== ordersSeen) return true;
        await hold(parts, member, intent, answer);
        return false;
    }
  } catch (error) {
    if (isStoreLost(error)) throw error;
    // The rows say where it stood: recovery or the next pass goes on from there.
    log.error("a request could not be made or recorded", {
      handle: member.specialist.handle,
      intent: intent.id,
      message: messageOf(error),
    });
    return false;
  } finally {
    removeInFlight(member, intent.seq);
  }
}

/** Whether receipts are made for this specialist at all. */
function listens({ specialist }: Member): boolean {
  return RECEIPT_KINDS.some((kind) => handlerOf(specialist, kind) !== undefined);
}

/** A wait that concerns one intent alone must not hold its lane. */
const ALONE: readonly string[] = [
  "conflict",
  "approval_wanted",
  "spend_cap",
  "spend_frozen",
  "obligations_full",
  "network_limit",
  "drift",
  "capability",
];
/** What waits for another intent's outcome asks again this soon, and ever more rarely: most are known in seconds, some in days. */
const CONFLICT_LOOK_MS = 5 * SECOND;
const LONGEST_OPEN_LOOK_MS = 10 * MINUTE;

async function hold(
  parts: OutboxDependencies,
  member: Member,
  intent: Intent,
  wait: { readonly until: number; readonly open?: boolean; readonly rule: string; readonly message: string },
): Promise<void> {
  const now = parts.clock.now();
  if (!ALONE.includes(wait.rule)) {
    const waits = (member.waits ??= new Map<Lane, LaneWait>());
    const known = waits.get(intent.lane);
    waits.set(intent.lane, { until: wait.until, since: known?.since ?? now, rule: wait.rule, message: wait.message });
    return;
  }
  const soonest = wait.rule === "conflict" ? CONFLICT_LOOK_MS : Math.max(0, wait.until - now);
  const openLookMs = Math.max(soonest, Math.min(LONGEST_OPEN_LOOK_MS, (now - intent.createdAt) / 8));
  const nextAt = wait.open === true ? Math.round(now + openLookMs) : wait.until;
  await parts.store.moveIntent({
    seq: intent.seq,
    from: ["ready"],
    change: { state: "ready", nextAt, code: foreignCode(wait.rule), message: wait.message },
    now,
  });
}

/** A rule of ours said no for good. What may have happened already is not "refused": a person decides. */
async function refuse(
  parts: OutboxDependencies,
  member: Member,
  intent: Intent,
  why: { readonly code: AnyCode; readonly message: string },
): Promise<void> {
  const { store, clock, announcer } = parts;
  const { code, message } = why;
  const now = clock.now();
  const change = { state: intent.everUnknown ? "parked" : "refused", code, message } as const;
  // A dry run's author gets no receipt of a refusal that a real run would not meet; actions on what it would have created go on.
  const follows = code === DRY_RUN ? { standIn: intent.id } : follow(member, intent, change, now);
  if (await store.moveIntent({ ...follows, seq: intent.seq, from: ["ready"], change, now }))
    announceIntent(announcer, member, intent, change, now);
  parts.wake(member, "events");
}

async function expire(parts: OutboxDependencies, member: Member): Promise<void> {
  const { store, clock, announcer } = parts;
  const now = clock.now();
  for (const intent of await store.expireIntents(member.specialist.handle, now, BATCH))
    announceIntent(announcer, member, intent, expiry(intent), now);
}
