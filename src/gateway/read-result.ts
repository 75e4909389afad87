/** The result of a read for its caller, from an answer of the gateway. */
import type { Outcome } from "../contract/call.ts";
import type { Profile } from "../contract/profile/profile.ts";
import type { Clock } from "../core/clock.ts";
import type { AnyCode } from "../core/error-codes.ts";
import { Refused, Retryable, type RetinueError } from "../core/errors.ts";
import type { GatewayAnswer } from "./gateway-answer.ts";

export type Confirmed = Extract<Outcome, { readonly class: "confirmed" }>;

export type ReadResult =
  | { readonly kind: "value"; readonly value: Confirmed }
  /** The requested object is gone (404 or 410). */
  | { readonly kind: "gone"; readonly status: number; readonly code: AnyCode; readonly message: string }
  /** No request was made, because there is no room for it now; `until` is the time of the next try. */
  | { readonly kind: "wait"; readonly until: number; readonly message: string }
  /** Refused by the network, or without a `status` by a rule of ours: the same read will be refused again. */
  | { readonly kind: "refused"; readonly status?: number; readonly code: AnyCode; readonly message: string }
  /** No complete answer came, or none for now: the read may be repeated. */
  | { readonly kind: "failed"; readonly code: FailedCode; readonly message: string };

type FailedCode = "limited" | "unauthorized" | "read_pending" | "read_lost" | "read_failed";

/** True for the status of an object that is not there, or no longer. */
export function meansGone(status: number): boolean {
  return GONE.includes(status);
}

export type Unread = Exclude<ReadResult, { readonly kind: "value" }>;

const GONE: readonly number[] = [404, 410];

/** Also for the runtime's own writes, which a later check repairs (`Gateway.perform`). */
export function readResult(answer: GatewayAnswer): ReadResult {
  return answer.kind === "answered" ? resultOf(answer.outcome) : notAnswered(answer);
}

/** The reason for a missing answer. */
export function notAnswered(answer: Exclude<GatewayAnswer, { readonly kind: "answered" }>): Unread {
  switch (answer.kind) {
    case "waits":
      return { kind: "wait", until: answer.until, message: answer.message };
    case "refused":
      return { kind: "refused", code: answer.code, message: answer.message };
    case "gone":
      return { kind: "failed", code: "read_lost", message: "no answer to the read" };
  }
}

function resultOf(outcome: Outcome): ReadResult {
  switch (outcome.class) {
    case "confirmed":
      return { kind: "value", value: outcome };
    case "refused": {
      const { status, code, message } = outcome;
      return meansGone(status) ? { kind: "gone", status, code, message } : { kind: "refused", status, code, message };
    }
    case "limited":
    case "unauthorized":
      return { kind: "failed", code: outcome.class, message: `the network answered ${outcome.status}` };
    case "pending":
      return { kind: "failed", code: "read_pending", message: "it waits for the network's Guardian" };
    case "never-left":
    case "unknown":
      return { kind: "failed", code: "read_failed", message: outcome.reason };
  }
}

/**
 * Time from which a read must show an object that the network reported at `toldAt`, because reads may lag. Undefined once that time is
 * over, so that a missing object is gone.
 */
export function shownFrom(
  { status }: Extract<Unread, { readonly kind: "gone" }>,
  toldAt: number,
  { profile, clock }: { readonly profile: Profile; readonly clock: Clock },
): number | undefined {
  const at = toldAt + profile.timing.readLagMs;
  return status === 404 && clock.now() < at ? at : undefined;
}

/** True if the network refused every request of this key then (429, 401), which says nothing of this one. */
export function isKeysFault(unread: Unread): boolean {
  return unread.kind === "failed" && (unread.code === "limited" || unread.code === "unauthorized");
}

/** The reason for a missing value, in a sentence for logs and notes. */
export function whyUnread(unread: Unread): string {
  return "status" in unread ? `${unread.code}: ${unread.message}` : unread.message;
}

/** The same as an error, for callers that cannot wait: `Refused` if a retry will not help. */
export function readError(unread: Exclude<Unread, { readonly kind: "wait" }>, operation: string): RetinueError {
  const isOurs = unread.kind === "refused" && unread.status === undefined;
  const message = isOurs ? unread.message : `${operation}: ${unread.message}`;
  return unread.kind === "failed" ? new Retryable(unread.code, message) : new Refused(unread.code, message);
}
