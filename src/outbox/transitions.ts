/** The intent state machine: from one attempt's outcome to where the intent goes next. Pure. */
import type { AnyCode } from "../core/error-codes.ts";
import type { Outcome } from "../contract/call.ts";
import { backoffMs, type Backoff } from "../core/backoff.ts";
import { HOUR, MINUTE, SECOND } from "../core/units.ts";
import type { Intent, IntentChange } from "./intent.ts";

/** An idempotent action is sent again this often before a person is asked: an outage of most of a day is sat out. */
export const MAX_IDEMPOTENT_ATTEMPTS = 30;
/** Without an answer it is tried again after 1 s, 2 s, 4 s… up to this, since each try is charged. */
const UNKNOWN_BACKOFF: Backoff = { firstMs: SECOND, longestMs: HOUR };
/** A request that never left is tried again after 1 s, 2 s, 4 s… up to this. */
const NEVER_LEFT_BACKOFF: Backoff = { firstMs: SECOND, longestMs: 5 * MINUTE };
/** A key the network refused is tried again only after it has been read anew; this is how soon an intent asks. */
const UNAUTHORIZED_BACKOFF_MS = 5 * SECOND;

/** The code of a doubt whose last attempt was refused, while an earlier one may have taken effect. */
export const REFUSED_AFTER_UNKNOWN = "refused_after_unknown";

/** How long an unanswered request may still take effect or stay invisible, from the network's profile. */
export interface DoubtTiming {
  /** No read-back counts as "absent" before this much time has passed since sending. */
  readonly quietMs: number;
  /** The first look, since most lost answers can be found at once. */
  readonly firstCheckMs: number;
}

/** What follows from an outcome. `everUnknown` of the intent decides whether a refusal settles it. */
export function conclude(intent: Intent, outcome: Outcome, timing: DoubtTiming, now: number): IntentChange {
  switch (outcome.class) {
    case "confirmed": {
      const created = createdId(outcome, intent.target);
      return { state: "confirmed", ...(created === undefined ? {} : { createdRef: created }) };
    }
    case "refused":
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
      return { state: "ready", nextAt: now, code: "limited", message: "the network answered 429" };
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

/** With the network's reference in it, by which a later decision names this action. */
function pendingMessage({
  message = "the network wants its Guardian's decision",
  reference,
}: Extract<Outcome, { readonly class: "pending" }>): string {
  return reference === undefined ? message : `${message} (${reference})`;
}

function doubt(nextAt: number, code: AnyCode, message: string): IntentChange {
  return { state: "in_doubt", everUnknown: true, nextAt, code, message };
}

/** The id of what came to be, where the answer names one. What was acted on was there before: a vote is often answered with its post. */
export function createdId({ record }: Extract<Outcome, { readonly class: "confirmed" }>, target: string | undefined): string | undefined {
  if (record === undefined || !("id" in record)) return undefined;
  return record.id === target ? undefined : record.id;
}
