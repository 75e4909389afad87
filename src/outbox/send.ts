/** Sends due intents through the gateway, in order, as far as the limits permit. */
import type { AnyCode } from "../core/error-codes.ts";
import { messageOf } from "../core/errors.ts";
import { MINUTE, SECOND } from "../core/units.ts";
import { DRY_RUN, expiry, type Intent } from "./intent.ts";
import { announceIntent } from "./announce.ts";
import { follow } from "./follow-up.ts";
import { blocksLane, type WaitRule } from "../limits/wait-rules.ts";
import { isStoreLost } from "../store/store-lost.ts";
import { endPastWaits, freeLanes, holdLane, type Member } from "../gateway/member.ts";
import type { OutboxDependencies } from "./outbox-dependencies.ts";
import { RECEIPT_KINDS } from "./receipts.ts";
import { completePending } from "./complete-pending.ts";
import { createdId } from "./outcome-to-state.ts";
import { reopenUnproven } from "./reopen.ts";
import { handlerOf } from "../specialist/handlers.ts";

/** Intents loaded in one pass. */
const BATCH = 32;

const NO_INTENTS: readonly Intent[] = [];

/** The due intents of one specialist that may be sent now. */
export function sendable(parts: OutboxDependencies, member: Member): readonly Intent[] {
  const { store, clock, outbox } = parts;
  const now = clock.now();
  expire(parts, member, now);
  endPastWaits(member, now);
  const lanes = freeLanes(member);
  if (lanes.length === 0) return NO_INTENTS;
  const due = store.dueIntents(member.specialist.handle, lanes, now, BATCH);
  for (const { seq } of due) if (outbox.inFlight.has(seq)) return idle(due, outbox.inFlight);
  return due;
}

/** The intents that are not being sent. */
function idle(due: readonly Intent[], inFlight: ReadonlySet<number>): readonly Intent[] {
  return due.filter(({ seq }) => !inFlight.has(seq));
}

/** Makes one attempt. Returns true if it left, so that dependent intents may go next. */
export async function sendOne(parts: OutboxDependencies, member: Member, intent: Intent): Promise<boolean> {
  const { gateway, log, stopping } = parts;
  if (stopping.aborted || member.waits?.has(intent.lane) === true) return false;
  parts.outbox.inFlight.add(intent.seq);
  const { ordersSeen } = member;
  try {
    if (hasLapsed(parts, intent)) return await readBackFirst(parts, member, intent);
    const answer = await gateway.send(member, intent);
    switch (answer.kind) {
      case "answered":
        if (answer.outcome.class === "confirmed") {
          const { record } = answer.outcome;
          parts.learn(member, record);
          // A promise is made only where there is something to wait for.
          const completing = completePending(parts, member, intent, createdId(answer.outcome, intent.target));
          if (completing !== undefined) await completing;
          const reopening = reopenUnproven(parts, member, intent.operation);
          if (reopening !== undefined) await reopening;
          if (intent.operation === "jobs.submit" && intent.target !== undefined) parts.delivered(member, intent.target, record);
        }
        if (listens(member)) parts.wake(member, "events");
        return true;
      case "refused":
        await refuse(parts, member, intent, answer);
        return true;
      case "gone":
        return false;
      case "waits":
        // A Guardian's order came during the attempt: the wait may be over.
        if (member.ordersSeen !== ordersSeen) return true;
        await hold(parts, member, intent, answer);
        return false;
    }
  } catch (error) {
    if (isStoreLost(error)) throw error;
    // The rows hold its state: recovery or the next pass continues from there.
    log.error("a request could not be made or recorded", {
      handle: member.specialist.handle,
      intent: intent.id,
      message: messageOf(error),
    });
    return false;
  } finally {
    parts.outbox.inFlight.delete(intent.seq);
  }
}

/** True if an earlier request may have taken effect, and the network no longer knows its key: another would act again. */
function hasLapsed({ profile, clock }: OutboxDependencies, { everUnknown, effect, operation, createdAt, code }: Intent): boolean {
  const lifetimeMs = profile.operations.get(operation)?.keyLifetimeMs;
  // By its decision, which comes before the first request; another one may land late.
  const isOld = lifetimeMs !== undefined && clock.now() + profile.quietMs >= createdAt + lifetimeMs;
  return isOld && everUnknown && effect === "idempotent" && code !== SEEN_ABSENT;
}

async function readBackFirst({ store, clock, wake }: OutboxDependencies, member: Member, { seq }: Intent): Promise<boolean> {
  const now = clock.now();
  const message = "the network may have forgotten its idempotency key: it is read back before it is sent again";
  await store.moveIntent({ seq, by: "outbox", change: { state: "in_doubt", nextAt: now, code: "outcome_unknown", message }, now });
  wake(member, "doubts");
  return true;
}

/** The code of an action that was read back, and did not happen. */
const SEEN_ABSENT = "absent";

/** True if this specialist gets receipts at all. */
function listens({ specialist }: Member): boolean {
  return RECEIPT_KINDS.some((kind) => handlerOf(specialist, kind) !== undefined);
}

/** First delay of an intent that waits for another one's outcome; it grows, since most outcomes are known in seconds, some in days. */
const CONFLICT_LOOK_MS = 5 * SECOND;
const LONGEST_OPEN_LOOK_MS = 10 * MINUTE;

async function hold(
  parts: OutboxDependencies,
  member: Member,
  intent: Intent,
  wait: { readonly until: number; readonly open?: boolean; readonly rule: WaitRule; readonly message: string },
): Promise<void> {
  const now = parts.clock.now();
  if (blocksLane(wait.rule)) {
    holdLane(member, intent.lane, { until: wait.until, since: now, rule: wait.rule, message: wait.message });
    return;
  }
  const soonest = wait.rule === "conflict" ? CONFLICT_LOOK_MS : Math.max(0, wait.until - now);
  const openLookMs = Math.max(soonest, Math.min(LONGEST_OPEN_LOOK_MS, (now - intent.createdAt) / 8));
  const nextAt = wait.open === true ? Math.round(now + openLookMs) : wait.until;
  await parts.store.moveIntent({
    seq: intent.seq,
    by: "outbox",
    change: { state: "ready", nextAt, code: wait.rule, message: wait.message },
    now,
  });
}

/** Ends an intent that a rule refused for good. One that may have taken effect is not "refused": a person decides. */
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
  // A dry run's author gets no receipt of a refusal that a real run would not have; actions on the object it would have created continue.
  const follows = code === DRY_RUN ? { standIn: intent.id } : follow(member, intent, change, now);
  if (await store.moveIntent({ ...follows, seq: intent.seq, by: "outbox", change, now }))
    announceIntent(announcer, member, intent, change, now);
  parts.wake(member, "events");
}

function expire(parts: OutboxDependencies, member: Member, now: number): void {
  const { store, announcer } = parts;
  for (const intent of store.expireIntents(member.specialist.handle, now, BATCH))
    announceIntent(announcer, member, intent, expiry(intent), now);
}
