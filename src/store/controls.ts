/** Keys with their limits, money, halts, pauses and approvals, as the Guardian sees and orders them. */
import type { Attempt, Intent } from "../outbox/intent.ts";
import type { IntentId, Handle, KeyId } from "../core/ids.ts";
import type { Approval, Shown } from "../limits/approvals.ts";
import type { Micros } from "../core/units.ts";
import type { Scope } from "../limits/spending.ts";
import type { TierLimits } from "../contract/tiers.ts";
import type { LaneFloors } from "../limits/lanes.ts";
import type { QuotaUse } from "../limits/quota.ts";
import type { Lane } from "../contract/operations.ts";
import type { Stop } from "../limits/admission.ts";

/** A request on its way, and for which action: the runtime's own have none. */
export interface OpenAttempt extends Attempt {
  readonly intent: IntentId | undefined;
  readonly target: string | undefined;
}

/** An action that waits for the Guardian. */
export interface OpenApproval {
  readonly approval: Approval;
  readonly intent: Intent;
}

/** How many actions wait for the Guardian, and until when the first of them can be answered. */
export interface Awaiting {
  readonly count: number;
  readonly until: number;
}

/** The Guardian's word. A yes is bound to what was shown. */
export type Word =
  | { readonly verdict: "approved"; readonly shown: Shown; readonly reason?: string }
  | { readonly verdict: "rejected"; readonly reason?: string };

export interface SpentRow {
  readonly currency: string;
  readonly heldMicros: Micros;
  readonly postedMicros: Micros;
  readonly dayMicros: Micros;
}

/** An account that something cost more than was set aside for it. */
export interface Frozen {
  readonly scope: Scope;
  readonly currency: string;
  readonly since: number;
  readonly reason: string;
}

export interface ControlStore {
  /** Makes a specialist's key known with its limits; a key that replaces another one starts with that one's charges. */
  registerKey(handle: Handle, key: KeyId, quota: { readonly limits: TierLimits; readonly floors: LaneFloors }, now: number): Promise<void>;
  keyOf(handle: Handle): Promise<KeyId | undefined>;
  /** What a key has used, hour and day; undefined for a key never registered. */
  quotaUse(
    key: KeyId,
    now: number,
  ): Promise<{ readonly hour: QuotaUse; readonly day: QuotaUse; readonly parkedUntil: number; readonly parkReason: string } | undefined>;
  /** Requests a day that one lane of a key may plan with, as things stand. */
  laneBudget(key: KeyId, lane: Lane, now: number): Promise<number>;
  /** Held now and posted so far, by currency; `dayMicros` is both together in the Guardian's present day. */
  spent(handle: Handle, now: number): Promise<readonly SpentRow[]>;
  /** Switches a halt or pause on; resolves once it is on disk, so that nothing is admitted afterwards. */
  stop(kind: "halt" | "pause", scope: string, reason: string, now: number): Promise<void>;
  /** Answers false when there was none. */
  lift(kind: "halt" | "pause", scope: string): Promise<boolean>;
  stops(): Promise<{ readonly halts: readonly Stop[]; readonly pauses: readonly Stop[] }>;
  /** Accounts that spend nothing until a person has looked. */
  frozen(): Promise<readonly Frozen[]>;
  /** The Guardian's word that an account may spend again, on the books with who said it and why. Answers the currencies it was frozen in. */
  unfreeze(scope: Scope, word: { readonly by: string; readonly reason: string }, now: number): Promise<readonly string[]>;
  /** Attempts sent and not answered yet, oldest first. */
  openAttempts(): Promise<readonly OpenAttempt[]>;
}

export interface ApprovalStore {
  /** Approvals that can still be answered, the longest asked first. */
  openApprovals(limit: number, now: number): Promise<readonly OpenApproval[]>;
  /** How many of one specialist's can be answered; undefined where none can. */
  awaiting(handle: Handle, now: number): Promise<Awaiting | undefined>;
  /** The approval of an intent, answered or not; undefined where none was asked for. */
  approvalOf(intent: IntentId): Promise<Approval | undefined>;
  /** Answers false, and changes nothing, where the intent cannot be answered, or a yes is about other rows than there are. */
  decideApproval(intent: IntentId, word: Word, now: number): Promise<boolean>;
}
