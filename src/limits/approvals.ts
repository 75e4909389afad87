/** The Guardian's word on one action: bound to its payload, its amount and a time, used by one intent, no by default. */
import type { IntentId } from "../core/ids.ts";
import { sha256, type JsonObject } from "../core/json.ts";
import { DAY, showMoney, type Money } from "../core/units.ts";

/** How long an unanswered question, and an unused yes, stay valid. */
export const DEFAULT_APPROVAL_MS = 3 * DAY;

export interface Approval {
  readonly intent: IntentId;
  /** SHA-256 of what is to be sent: operation, target and input. */
  readonly payloadHash: string;
  /** The most it may cost. */
  readonly amount: Money | undefined;
  readonly state: "asked" | "approved" | "rejected";
  readonly askedAt: number;
  readonly decidedAt: number | undefined;
  readonly expiresAt: number;
  /** Why, in the Guardian's words. */
  readonly reason: string | undefined;
}

/** The part of an action that an approval is bound to, as an intent or its draft holds it. */
export interface Payload {
  readonly operation: string;
  readonly target?: string | undefined;
  /** The intent that creates the target: it names what does not exist yet, and still names it once it does. */
  readonly targetIntent?: string | undefined;
  readonly input: JsonObject;
}

export function payloadHash({ operation, target, targetIntent, input }: Payload): string {
  return sha256([operation, targetIntent ?? target ?? null, input]);
}

/** What is about to be sent. */
export interface Approvable {
  readonly intent: IntentId;
  readonly payloadHash: string;
  readonly worst: Money | undefined;
}

export type Approved =
  | { readonly ok: true }
  | { readonly ok: false; readonly code: "approval_wanted"; readonly since: number; readonly until: number | undefined }
  | {
      readonly ok: false;
      readonly code: "approval_rejected" | "approval_expired" | "approval_changed" | "approval_amount" | "approval_other";
      readonly message: string;
      readonly since: number;
    };

/** Whether an approval covers exactly this. A missing or unanswered one waits; everything but a full match refuses. */
export function approved(approval: Approval | undefined, action: Approvable, now: number): Approved {
  if (approval === undefined) return { ok: false, code: "approval_wanted", since: now, until: undefined };
  const since = approval.decidedAt ?? approval.askedAt;
  const no = (code: Exclude<Extract<Approved, { ok: false }>["code"], "approval_wanted">, message: string): Approved => ({
    ok: false,
    code,
    message,
    since,
  });
  if (approval.intent !== action.intent) return no("approval_other", "the approval was given for another intent");
  if (approval.payloadHash !== action.payloadHash)
    return no("approval_changed", "what is to be sent is no longer what was shown to the Guardian");
  if (approval.state === "rejected") return no("approval_rejected", approval.reason ?? "the Guardian said no");
  if (now >= approval.expiresAt) return no("approval_expired", "the Guardian's time to answer, or to use the answer, is over");
  if (approval.state === "asked") return { ok: false, code: "approval_wanted", since, until: approval.expiresAt };
  if (!covers(approval.amount, action.worst))
    return no(
      "approval_amount",
      `it may now cost ${action.worst === undefined ? "nothing" : showMoney(action.worst)}, more than was approved`,
    );
  return { ok: true };
}

/** All that a yes is bound to, as it is shown to a person. */
export interface Shown {
  readonly intent: IntentId;
  readonly payloadHash: string;
  /** The most it may cost. */
  readonly amount: Money | undefined;
  /** The end of the time to answer. */
  readonly answerBy: number;
}

/** The end of the time to answer: an action may expire before its approval does. */
export function answerBy({ expiresAt }: Approval, intent: { readonly expiresAt: number | undefined }): number {
  return Math.min(expiresAt, intent.expiresAt ?? expiresAt);
}

/** The place of each part in the hash, in hex digits: a hash that does not fit says which part changed. */
const SHOWN_PARTS = [
  ["payload", 0, 40],
  ["cost", 40, 52],
  ["deadline", 52, 64],
] as const;
export type ShownPart = (typeof SHOWN_PARTS)[number][0];
const SHOWN_HASH = /^[0-9a-f]{64}$/;

/** 64 hex digits, which an order to approve names. */
export function shownHash({ intent, payloadHash: payload, amount, answerBy: by }: Shown): string {
  const values = { payload: [intent, payload], cost: amount === undefined ? null : [amount.currency, amount.micros], deadline: by };
  return SHOWN_PARTS.map(([part, from, to]) => sha256(values[part]).slice(0, to - from)).join("");
}

export function isShownHash(text: string): boolean {
  return SHOWN_HASH.test(text);
}

/** The parts of an action that changed since a hash was made of it. */
export function changedSince(hash: string, shown: Shown): readonly ShownPart[] {
  const now = shownHash(shown);
  return SHOWN_PARTS.filter(([, from, to]) => hash.slice(from, to) !== now.slice(from, to)).map(([part]) => part);
}

function covers(amount: Money | undefined, worst: Money | undefined): boolean {
  if (worst === undefined || worst.micros === 0) return true;
  return amount !== undefined && amount.currency === worst.currency && worst.micros <= amount.micros;
}
