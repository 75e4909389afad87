/** Consequences of an intent's new state: the receipt for its author, and the objects to watch. */
import type { WatchWrite } from "../contract/event.ts";
import type { Outcome } from "../contract/call.ts";
import type { Profile } from "../contract/profile/profile.ts";
import type { Receipt } from "../contract/event-kinds.ts";
import type { JsonObject } from "../core/json.ts";
import { MINUTE, SECOND } from "../core/units.ts";
import { conclude, type DoubtTiming } from "./outcome-to-state.ts";
import { STATES, type Conclusion, type Intent, type IntentChange, type IntentState, type TargetOf } from "./intent.ts";
import { receiptEvent } from "./receipts.ts";
import { handlerOf } from "../specialist/handlers.ts";
import type { Member } from "../gateway/member.ts";
import { LOOKED_AT, newWatch } from "../store/sources.ts";

/** Events of a job that a specialist offered: without a handler for one, it is not watched and costs no request. */
const OWN_JOB_KINDS = ["job.applied", "job.delivered", "job.accepted"] as const;
/** First check of a job just offered. */
const FIRST_LOOK_MS = 5 * MINUTE;
/** First check after a lost answer: most effects are visible at once. */
const FIRST_CHECK_MS = 2 * SECOND;

export function doubtTiming(profile: Profile): DoubtTiming {
  return { quietMs: profile.quietMs, firstCheckMs: Math.min(FIRST_CHECK_MS, profile.quietMs) };
}

export function concludeOutcome(
  member: Member,
  intent: Intent,
  outcome: Outcome,
  profile: Profile,
  now: number,
): Conclusion<TargetOf<"answer">> {
  const details = "details" in outcome ? outcome.details : undefined;
  return follow(member, intent, conclude(intent, outcome, doubtTiming(profile), now), now, details);
}

/** The same for an answer, a read-back or a person's decision. */
export function follow<State extends IntentState>(
  member: Member,
  intent: Intent,
  change: IntentChange<State>,
  now: number,
  details?: JsonObject,
): Conclusion<State> {
  const kind = STATES[change.state].receipt;
  const isHeard = kind !== undefined && handlerOf(member.specialist, kind) !== undefined;
  const event = isHeard
    ? receiptEvent(
        member.specialist,
        kind,
        { ...receiptOf(intent, change), ...(details === undefined ? {} : { answer: details }) },
        intent.hops,
      )
    : undefined;
  return {
    change,
    events: event === undefined ? [] : [event],
    watches: change.state === "confirmed" || mayOwe(intent, change) ? watchesOf(member, intent, change, now) : [],
  };
}

/** True for an application that may stand: if the job is assigned to us, it has to be done, whatever is decided meanwhile. */
function mayOwe({ operation }: Intent, { state }: IntentChange): boolean {
  return operation === "jobs.apply" && (state === "pending" || state === "parked");
}

function receiptOf(intent: Intent, change: IntentChange): Receipt {
  return {
    intent: intent.id,
    operation: intent.operation,
    ...(intent.label === undefined ? {} : { key: intent.label }),
    ...(intent.data === undefined ? {} : { data: intent.data }),
    ...(intent.target === undefined ? {} : { target: intent.target }),
    ...(change.createdRef === undefined ? {} : { created: change.createdRef }),
    ...(change.code === undefined ? {} : { code: change.code }),
    ...(change.message === undefined ? {} : { message: change.message }),
    ...(intent.reason === undefined ? {} : { reason: intent.reason }),
  };
}

function watchesOf(member: Member, intent: Intent, change: IntentChange, now: number): readonly WatchWrite[] {
  const { handle, watch } = member.specialist;
  const thread = (object: string | undefined): readonly WatchWrite[] =>
    object === undefined || !(watch.threads || watch.mentions)
      ? []
      : [{ specialist: handle, kind: "thread", object, ...newWatch("thread", now), dueAt: now + 5 * SECOND }];
  switch (intent.operation) {
    case "posts.create":
      return thread(change.createdRef);
    case "posts.reply":
      return thread(intent.thread ?? intent.target);
    case "jobs.create":
      return change.createdRef === undefined || !OWN_JOB_KINDS.some((kind) => handlerOf(member.specialist, kind) !== undefined)
        ? []
        : [{ specialist: handle, kind: "own_job", object: change.createdRef, ...newWatch("own_job", now), dueAt: now + FIRST_LOOK_MS }];
    case "jobs.apply":
      return intent.target === undefined
        ? []
        : [{ specialist: handle, kind: "job", object: intent.target, ...applied(now), dueAt: now + SECOND }];
    default:
      return [];
  }
}

/** The first check is delayed: a job that was just applied for was open then. */
function applied(now: number): Pick<WatchWrite, "state" | "data"> {
  const { state, data } = newWatch("job", now);
  return { state, data: { ...data, [LOOKED_AT]: now } };
}
