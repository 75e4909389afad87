/** The intent state machine: maps the outcome of one attempt to the intent's next state. Pure. */
import type { AnyCode } from "../core/error-codes.ts";
import type { Outcome } from "../contract/call.ts";
import { backoffMs, type Backoff } from "../core/backoff.ts";
import { HOUR, MINUTE, SECOND } from "../core/units.ts";
import { meansGone } from "../gateway/read-result.ts";
import type { Intent, IntentChange, TargetOf } from "./intent.ts";

/** Attempts of an idempotent action before a person is asked: enough for an outage of most of a day. */
export const MAX_IDEMPOTENT_ATTEMPTS = 30;
/** Longest delay after a lost answer; it grows as 1 s, 2 s, 4 s…, since each try is charged. */
const UNKNOWN_BACKOFF: Backoff = { firstMs: SECOND, longestMs: HOUR };
/** Longest delay after a request that never left; it grows as 1 s, 2 s, 4 s…. */
const NEVER_LEFT_BACKOFF: Backoff = { firstMs: SECOND, longestMs: 5 * MINUTE };
/** Delay after a refused key: the key must be read again before the next try. */
const UNAUTHORIZED_BACKOFF_MS = 5 * SECOND;

const CONFLICT = 409;

/** The code of a doubt whose last attempt was refused, while an earlier one may have taken effect. */
export const REFUSED_AFTER_UNKNOWN = "refused_after_unknown";

/** Bounds on a late or invisible effect of an unanswered request, from the network's profile. */
export interface DoubtTiming {
  /** No read-back counts as "absent" before this time has passed since sending. */
  readonly quietMs: number;
  /** Time of the first check: most effects of lost answers are visible at once. */
  readonly firstCheckMs: number;
}

/** Decides the next state. `everUnknown` of the intent decides if a refusal resolves it. */
export function conclude(intent: Intent, outcome: Outcome, timing: DoubtTiming, now: number): IntentChange<TargetOf<"answer">> {
  switch (outcome.class) {
    case "confirmed": {
      const created = createdId(outcome, intent.target);
      return { state: "confirmed", ...(created === undefined ? {} : { createdRef: created }) };
    }
    case "refused":
      if (intent.everUnknown && isAlreadySo(intent, outcome.status)) return { state: "confirmed" };
      if (intent.everUnknown && intent.effect !== "idempotent")
        return doubt(
          now + timing.firstCheckMs,
          REFUSED_AFTER_UNKNOWN,
          `the network answered ${outcome.code}, but an earlier request may have taken effect`,
        );
      return { state: "refused", code: outcome.code, message: outcome.message };
    case "pending":
      return { state: "pending", code: "pending_approval", message: pendingMessage(outcome) };
    case "limited":
      return { state: "ready", nextAt: now, code: "limited", message: `the network answered ${outcome.status}` };
    case "unauthorized":
      return { state: "ready", nextAt: now + UNAUTHORIZED_BACKOFF_MS, code: "unauthorized", message: "the network refused the key" };
    case "never-left":
      return {
        state: "ready",
        nextAt: now + backoffMs(NEVER_LEFT_BACKOFF, intent.attempt),
        code: "never_left",
        message: outcome.reason,
      };
    case "unknown":
      if (intent.effect !== "idempotent") return doubt(now + timing.firstCheckMs, "outcome_unknown", outcome.reason);
      return intent.attempt >= MAX_IDEMPOTENT_ATTEMPTS
        ? {
            state: "parked",
            everUnknown: true,
            code: "attempts_spent",
            message: `no complete answer in ${intent.attempt} attempts: ${outcome.reason}`,
          }
        : {
            state: "ready",
            everUnknown: true,
            nextAt: now + backoffMs(UNKNOWN_BACKOFF, intent.attempt),
            code: "outcome_unknown",
            message: outcome.reason,
          };
  }
}

/** True for the answer to a repetition that says that the first try took effect: 409, or 404 for an object that was to be deleted. */
function isAlreadySo({ effect, operation }: Intent, status: number): boolean {
  if (effect !== "idempotent") return false;
  return status === CONFLICT || (operation.endsWith(".delete") && meansGone(status));
}

/** The message carries the network's reference, by which a later decision names this action. */
function pendingMessage({
  message = "the network waits for its Guardian's decision",
  reference,
}: Extract<Outcome, { readonly class: "pending" }>): string {
  return reference === undefined ? message : `${message} (${reference})`;
}

function doubt(nextAt: number, code: AnyCode, message: string): IntentChange<"in_doubt"> {
  return { state: "in_doubt", everUnknown: true, nextAt, code, message };
}

/** The id of the created object, if the answer names one. The object acted on existed before: a vote is often answered with its post. */
export function createdId({ record }: Extract<Outcome, { readonly class: "confirmed" }>, target: string | undefined): string | undefined {
  if (record === undefined || !("id" in record)) return undefined;
  return record.id === target ? undefined : record.id;
}
