/** Decides the next state of an intent in doubt from a check of the network. Pure. */
import type { AnyCode, ErrorCode } from "../core/error-codes.ts";
import { DAY, HOUR, MINUTE, SECOND } from "../core/units.ts";
import { REFUSED_AFTER_UNKNOWN } from "./outcome-to-state.ts";
import { dateOf } from "./sent-at.ts";
import { UNDATED, type Intent, type IntentChange, type TargetOf } from "./intent.ts";
import type { Proof } from "../store/outbox.ts";

/** "Absent" checks required after the quiet period, before an action is sent again. */
export const ABSENT_CHECKS = 2;
/** Most attempts of an action in doubt before a person is asked: each repetition follows a proof of absence. */
export const MAX_ATTEMPTS = 8;
/** Most pages of a list that are read back to a sending. */
export const MOST_PAGES = 50;
/** Delay between two checks that both count. */
export const CHECK_AGAIN_MS = 10 * SECOND;
/** A failed or incomplete read-back counts as nothing. It is repeated after this, then at growing intervals. */
const READ_FAILED_MS = MINUTE;
const LONGEST_READ_FAILED_MS = HOUR;
/** Days without a successful read-back after which a person is asked. */
const READ_FAILED_DAYS = 7;
/** Time after which a missing object counts as gone. */
const GONE_MS = DAY;
/** Checks before the end of the quiet period: they can find an effect, but never prove its absence. */
const EARLY_LOOKS_MS: readonly number[] = [2 * SECOND, 10 * SECOND, 30 * SECOND];

export type Check =
  /** The effect, by the id of its object (empty if it has none), and whether it proves that reading back works. */
  | { readonly kind: "found"; readonly ref: string; readonly proves: boolean }
  /** A complete read without the effect; if the interface has no better read, it proves nothing. */
  | { readonly kind: "absent"; readonly proves: boolean }
  /** A complete read without the effect, but with a post of ours in another text that no other action claims. */
  | { readonly kind: "other-words"; readonly ref: string }
  /** An effect that may belong to a similar intent with the same text and an unknown effect. */
  | { readonly kind: "contested"; readonly ref: string; readonly otherIntent: string }
  /** The object of the action is gone: no read can show the effect. */
  | { readonly kind: "gone" }
  /** The read failed or was incomplete. */
  | { readonly kind: "unreadable" }
  /** The list does not reach back to the sending within the pages that are ever read. */
  | { readonly kind: "too-long" }
  /** The interface has no read that would show it. */
  | { readonly kind: "no-read" };

export interface ReconcileRules {
  readonly quietMs: number;
  readonly now: number;
  /** Time since this process learnt of the doubt, on a clock that cannot be set. */
  readonly knownForMs: number;
  readonly proof: Proof;
  /** Its requests that may have taken effect, by their answers. */
  readonly attempts: number;
}

export function reconcile(intent: Intent, check: Check, rules: ReconcileRules): IntentChange<TargetOf<"read-back">> {
  const change = judge(intent, check, rules);
  return change.state === "in_doubt" ? { ...change, ...refusalOf(intent) } : change;
}

/** Codes under which a read-back parks an action, with true if it may have happened. */
const PARKED = {
  no_read_back: true,
  read_back_failed: true,
  read_back_too_long: true,
  other_words: true,
  same_words: true,
  target_gone: true,
  absent_at_most_once: true,
  absence_unprovable: true,
  absent_unproven: true,
  /** After the last of many attempts it was checked as after each one before, and was absent. */
  attempts_spent: false,
} as const satisfies { readonly [code in ErrorCode]?: boolean };
const MAY_HAVE_HAPPENED: ReadonlyMap<string | undefined, boolean> = new Map(Object.entries(PARKED));

/**
 * True for a parked intent whose repetition might act twice, so that only somebody who has checked may decide. An idempotent one is read
 * back only if its key has lapsed.
 */
export function mayHaveHappened({ everUnknown, effect, code }: Pick<Intent, "everUnknown" | "effect" | "code">): boolean {
  return everUnknown && (MAY_HAVE_HAPPENED.get(code) ?? effect !== "idempotent");
}

/** The network's refusal, which stays with the doubt until it is resolved. */
export function refusalOf({ code, message }: Intent): Pick<IntentChange, "code" | "message"> | undefined {
  return code === REFUSED_AFTER_UNKNOWN && message !== undefined ? { code, message } : undefined;
}

function judge(
  intent: Intent,
  check: Check,
  { quietMs, now, knownForMs, proof, attempts }: ReconcileRules,
): IntentChange<TargetOf<"read-back">> {
  const dated = dateOf(intent);
  // If the clock that dated it was wrong, only the time since it became known counts.
  const sentAt = dated === UNDATED ? now - knownForMs : dated;
  // By both clocks: the wall clock may have been set, and the other one knows nothing before this process.
  const quietAt = Math.max(sentAt + quietMs, now + quietMs - knownForMs);
  switch (check.kind) {
    case "found":
      return { state: "confirmed", ...(check.ref === "" ? {} : { createdRef: check.ref }) };
    case "unreadable":
      return unreadable(sentAt, now);
    case "too-long":
      if (now < quietAt) return notYet(sentAt, quietAt, now, "not seen on the pages that were read");
      return park("read_back_too_long", `the list has more than ${MOST_PAGES} pages since it was sent: a person decides`);
    case "no-read":
      return park("no_read_back", "the interface has no read that shows if it happened");
    case "other-words":
      // Another action may claim it yet.
      if (now < quietAt) return notYet(sentAt, quietAt, now, `not seen with this text; ${check.ref} is ours, with another text`);
      return park("other_words", `not seen with this text, but ${check.ref} is ours and may be this one, changed: a person decides`);
    case "contested":
      // The intent's own effect may still appear.
      if (now < quietAt) return notYet(sentAt, quietAt, now, `${check.ref} has this text, and may be that of ${check.otherIntent}`);
      return park("same_words", `${check.ref} is this one or that of ${check.otherIntent}, which has the same text: a person decides`);
    case "gone":
      // It may appear late, or be hidden for a while; if it is gone for good, nothing is urgent.
      if (now < quietAt) return notYet(sentAt, quietAt, now, "its object is not shown");
      if (now - sentAt < GONE_MS) return checkLater(sentAt, now, "not_seen_yet", "its object is not shown");
      return park("target_gone", "its object is gone, so nothing shows if it happened: a person decides");
    case "absent": {
      if (now < quietAt) return notYet(sentAt, quietAt, now, "not seen yet; it may still take effect");
      if (intent.checks + 1 < ABSENT_CHECKS)
        return {
          state: "in_doubt",
          nextAt: now + CHECK_AGAIN_MS,
          checked: true,
          code: "not_seen_yet",
          message: "not seen; one more check before a decision",
        };
      if (intent.effect === "at-most-once")
        return park("absent_at_most_once", "it was not seen, and must never happen twice: a person decides");
      if (!check.proves)
        return park("absence_unprovable", "it was not seen, but the interface has no read that would show it: a person decides");
      if (!proof.proven)
        return park(
          "absent_unproven",
          "it was not seen, but reading back has never been seen to work for this operation: a person decides",
        );
      const refusal = refusalOf(intent);
      // Nothing took effect, and the last answer was a refusal: a repetition would be refused again.
      if (refusal !== undefined) return { state: "refused", checked: true, ...refusal };
      if (attempts >= MAX_ATTEMPTS) return park("attempts_spent", `not seen after ${attempts} attempts`);
      return { state: "ready", nextAt: now, checked: true, code: "absent", message: "it did not happen; it is sent again" };
    }
  }
}

function unreadable(sentAt: number, now: number): IntentChange<"in_doubt" | "parked"> {
  const message = "the network could not be read back, not far enough, or in another shape than before";
  if (now - sentAt > READ_FAILED_DAYS * DAY) return park("read_back_failed", `${message}, for ${READ_FAILED_DAYS} days`);
  return checkLater(sentAt, now, "read_back_failed", message);
}

function checkLater(sentAt: number, now: number, code: AnyCode, message: string): IntentChange<"in_doubt"> {
  const pause = Math.min(LONGEST_READ_FAILED_MS, Math.max(READ_FAILED_MS, (now - sentAt) / 4));
  return { state: "in_doubt", nextAt: now + pause, code, message };
}

function notYet(sentAt: number, quietAt: number, now: number, message: string): IntentChange<"in_doubt"> {
  return { state: "in_doubt", nextAt: nextEarlyCheck(sentAt, quietAt, now), code: "not_seen_yet", message };
}

function nextEarlyCheck(sentAt: number, quietAt: number, now: number): number {
  const early = EARLY_LOOKS_MS.map((after) => sentAt + after).find((at) => at > now);
  return Math.min(early ?? quietAt, quietAt);
}

function park(code: keyof typeof PARKED, message: string): IntentChange<"parked"> {
  return { state: "parked", code, message };
}
