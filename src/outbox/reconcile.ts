/** What a look at the network says of an intent in doubt. Pure. */
import type { AnyCode } from "../core/error-codes.ts";
import { DAY, HOUR, MINUTE, SECOND } from "../core/units.ts";
import { REFUSED_AFTER_UNKNOWN } from "./transitions.ts";
import { dateOf } from "./sent-at.ts";
import { UNDATED, type Intent, type IntentChange } from "./intent.ts";
import type { Proof } from "../store/outbox.ts";

/** "Absent" must be seen this often, after the quiet period, before an action is sent again. */
export const ABSENT_CHECKS = 2;
/** An action in doubt is sent this often at most before a person is asked: each time it is known that it has not happened. */
export const MAX_ATTEMPTS = 8;
/** Between two looks that both count. */
export const CHECK_AGAIN_MS = 10 * SECOND;
/** A read-back that could not be made or was incomplete counts as nothing. It is tried again after this, then ever more rarely. */
const READ_FAILED_MS = MINUTE;
const LONGEST_READ_FAILED_MS = HOUR;
/** What cannot be read back for so long is given to a person. */
const READ_FAILED_DAYS = 7;
/** What is not there for so long is taken for gone. */
const GONE_MS = DAY;
/** Looks before the quiet period is over: they can find, but never prove absence. */
const EARLY_LOOKS_MS: readonly number[] = [2 * SECOND, 10 * SECOND, 30 * SECOND];

export type Check =
  /** The effect, by the id of its object (empty where it has none), and whether that proves that reading back works. */
  | { readonly kind: "found"; readonly ref: string; readonly proves: boolean }
  /** A complete read that does not show it; where the interface has nothing better, it proves nothing. */
  | { readonly kind: "absent"; readonly proves: boolean }
  /** A complete read that does not show it, but something of ours in other words that no other action claims. */
  | { readonly kind: "other-words"; readonly ref: string }
  /** Seen, and it may as well be what another did in the same words, of which nobody knows what it brought about. */
  | { readonly kind: "contested"; readonly ref: string; readonly rival: string }
  /** What it was about is not there (any more): no read can show what happened to it. */
  | { readonly kind: "gone" }
  /** The read failed or was incomplete. */
  | { readonly kind: "unreadable" }
  /** The interface has no read that would show it. */
  | { readonly kind: "no-read" };

export interface ReconcileRules {
  readonly quietMs: number;
  readonly now: number;
  /** How long this process has known of the doubt, on a clock that cannot be set. */
  readonly knownForMs: number;
  readonly proof: Proof;
  /** Of its requests those that may have taken effect, as far as their answers say. */
  readonly attempts: number;
}

export function reconcile(intent: Intent, look: Check, rules: ReconcileRules): IntentChange {
  const change = judge(intent, look, rules);
  return change.state === "in_doubt" ? { ...change, ...refusalOf(intent) } : change;
}

/** Of what is parked: whether sending it again might do it twice, so that only somebody who has looked may say. */
export function mayHaveHappened({ everUnknown, effect, code }: Pick<Intent, "everUnknown" | "effect" | "code">): boolean {
  // After the last of many attempts it was looked for like after each one before, and was not there.
  return everUnknown && effect !== "idempotent" && code !== "attempts_spent";
}

/** The network's last word, which stays with the doubt until it is settled. */
export function refusalOf({ code, message }: Intent): Pick<IntentChange, "code" | "message"> | undefined {
  return code === REFUSED_AFTER_UNKNOWN && message !== undefined ? { code, message } : undefined;
}

function judge(intent: Intent, look: Check, { quietMs, now, knownForMs, proof, attempts }: ReconcileRules): IntentChange {
  const dated = dateOf(intent);
  // Where the clock that dated it was wrong, only how long it has been known counts.
  const sentAt = dated === UNDATED ? now - knownForMs : dated;
  // By both clocks: the wall clock may have been set, the other one knows nothing of the time before this process.
  const quietAt = Math.max(sentAt + quietMs, now + quietMs - knownForMs);
  switch (look.kind) {
    case "found":
      return { state: "confirmed", ...(look.ref === "" ? {} : { createdRef: look.ref }) };
    case "unreadable":
      return unreadable(sentAt, now);
    case "no-read":
      return park("no_read_back", "the interface shows no way to see whether it happened");
    case "other-words":
      // Another action may claim it yet.
      if (now < quietAt) return notYet(sentAt, quietAt, now, `not seen in these words; ${look.ref} is ours, in other words`);
      return park("other_words", `not seen in these words, but ${look.ref} is ours and may be this one, changed: a person decides`);
    case "contested":
      // Its own may still show.
      if (now < quietAt) return notYet(sentAt, quietAt, now, `${look.ref} is in these words, and may be that of ${look.rival}`);
      return park("same_words", `${look.ref} is this one or that of ${look.rival}, which said the same: a person decides`);
    case "gone":
      // It may be late to show, or hidden for a while; where it is gone for good, nothing hurries.
      if (now < quietAt) return notYet(sentAt, quietAt, now, "what it is about is not shown");
      if (now - sentAt < GONE_MS) return lookLater(sentAt, now, "not_seen_yet", "what it is about is not shown");
      return park("target_gone", "what it was about is gone, so nothing shows whether it happened: a person decides");
    case "absent": {
      if (now < quietAt) return notYet(sentAt, quietAt, now, "not seen yet; it may still land");
      if (intent.checks + 1 < ABSENT_CHECKS)
        return {
          state: "in_doubt",
          nextAt: now + CHECK_AGAIN_MS,
          checked: true,
          code: "not_seen_yet",
          message: "not seen; one more look before anything is decided",
        };
      if (intent.effect === "at-most-once")
        return park("absent_at_most_once", "it was not seen, and must never happen twice: a person decides");
      if (!look.proves) return park("absence_unprovable", "it was not seen, but the interface shows no read that would: a person decides");
      if (!proof.proven)
        return park(
          "absent_unproven",
          "it was not seen, but reading back has never been seen to work for this operation: a person decides",
        );
      const refusal = refusalOf(intent);
      // Nothing took effect, and the last answer was no: asking again would only hear it again.
      if (refusal !== undefined) return { state: "refused", checked: true, ...refusal };
      if (attempts >= MAX_ATTEMPTS) return park("attempts_spent", `not seen after ${attempts} attempts`);
      return { state: "ready", nextAt: now, checked: true, code: "absent", message: "it did not happen; it is sent again" };
    }
  }
}

function unreadable(sentAt: number, now: number): IntentChange {
  const message = "the network could not be read back, or not far enough";
  if (now - sentAt > READ_FAILED_DAYS * DAY) return park("read_back_failed", `${message}, for ${READ_FAILED_DAYS} days`);
  return lookLater(sentAt, now, "read_back_failed", message);
}

function lookLater(sentAt: number, now: number, code: AnyCode, message: string): IntentChange {
  const pause = Math.min(LONGEST_READ_FAILED_MS, Math.max(READ_FAILED_MS, (now - sentAt) / 4));
  return { state: "in_doubt", nextAt: now + pause, code, message };
}

function notYet(sentAt: number, quietAt: number, now: number, message: string): IntentChange {
  return { state: "in_doubt", nextAt: nextEarlyLook(sentAt, quietAt, now), code: "not_seen_yet", message };
}

function nextEarlyLook(sentAt: number, quietAt: number, now: number): number {
  const early = EARLY_LOOKS_MS.map((after) => sentAt + after).find((at) => at > now);
  return Math.min(early ?? quietAt, quietAt);
}

function park(code: AnyCode, message: string): IntentChange {
  return { state: "parked", code, message };
}
