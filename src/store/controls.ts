/** Store interface of the Guardian's controls: keys with their limits, money, halts, pauses and approvals. */
import type { NewEvent } from "../contract/event.ts";
import type { Attempt, Intent } from "../outbox/intent.ts";
import type { IntentId, Handle, KeyId } from "../core/ids.ts";
import type { Approval, Shown } from "../limits/approvals.ts";
import type { Micros } from "../core/units.ts";
import type { Scope } from "../limits/spending.ts";
import type { TierLimits } from "../contract/tiers.ts";
import type { LaneFloors } from "../limits/lanes.ts";
import type { QuotaUse } from "../limits/quota.ts";
import type { Lane } from "../contract/operations.ts";
import type { Stop } from "../limits/verdict.ts";

/** An open request and its action; the runtime's own requests have none. */
export interface OpenAttempt extends Attempt {
  readonly intent: IntentId | undefined;
  readonly target: string | undefined;
}

/** A request that was sent and not answered, as people are told of it. */
export interface WriteInFlight {
  /** Of the action; absent for the runtime's own requests, such as registering a webhook. */
  readonly id?: string;
  readonly handle: string;
  readonly operation: string;
  readonly target?: string;
  readonly startedAt: number;
  /** An answer that has not come by then never will; one in doubt is then looked for on the network. */
  readonly deadlineAt: number;
}

/** An action that waits for the Guardian. */
export interface OpenApproval {
  readonly approval: Approval;
  readonly intent: Intent;
}

/** Number of actions that wait for the Guardian, and the end of the time to answer the first. */
export interface Awaiting {
  readonly count: number;
  readonly until: number;
}

/** The Guardian's answer. An approval is bound to what was shown. */
export type Word =
  | { readonly verdict: "approved"; readonly shown: Shown; readonly reason?: string }
  | {
      readonly verdict: "rejected";
      readonly reason?: string;
      /** The receipt for its author. */
      readonly events?: readonly NewEvent[];
    };

export interface SpentRow {
  readonly currency: string;
  readonly heldMicros: Micros;
  readonly postedMicros: Micros;
  readonly dayMicros: Micros;
}

/** Usage of a key, and its cooldown. */
export interface KeyUse {
  readonly hour: QuotaUse;
  readonly day: QuotaUse;
  readonly parkedUntil: number;
  readonly parkReason: string;
}

export interface Usage {
  /** By currency; `dayMicros` is the sum of held and posted amounts in the Guardian's present day. */
  readonly money: readonly SpentRow[];
  /** Undefined for a specialist whose key was never registered. */
  readonly quota: KeyUse | undefined;
}

/** An account whose action cost more than its hold. */
export interface Frozen {
  readonly scope: Scope;
  readonly currency: string;
  readonly since: number;
  readonly reason: string;
}

export interface ControlStore {
  /** Registers a specialist's key with its limits; a key that replaces another inherits its charges. */
  registerKey(handle: Handle, key: KeyId, quota: { readonly limits: TierLimits; readonly floors: LaneFloors }, now: number): Promise<void>;
  keyOf(handle: Handle): Promise<KeyId | undefined>;
  /** Usage of a key by hour and day; undefined for a key never registered. */
  quotaUse(key: KeyId, now: number): Promise<KeyUse | undefined>;
  /** Requests a day that one lane of a key may plan with now. */
  laneBudget(key: KeyId, lane: Lane, now: number): Promise<number>;
  /** Money and quota of every specialist that has run here, or of one, in a fixed number of queries. */
  usage(now: number, handle?: Handle): Promise<ReadonlyMap<Handle, Usage>>;
  /** Sets a halt or pause; resolves once it is on disk, so that nothing is admitted afterwards. */
  stop(kind: "halt" | "pause", scope: string, reason: string, now: number): Promise<void>;
  /** Returns false if there was none. */
  lift(kind: "halt" | "pause", scope: string): Promise<boolean>;
  stops(): Promise<{ readonly halts: readonly Stop[]; readonly pauses: readonly Stop[] }>;
  /** Accounts that spend nothing until a person unfreezes them. */
  frozen(): Promise<readonly Frozen[]>;
  /** Unfreezes an account and records by whom and why. Returns the currencies that were frozen. */
  unfreeze(scope: Scope, word: { readonly by: string; readonly reason: string }, now: number): Promise<readonly string[]>;
  /** Attempts sent and not answered yet, oldest first. */
  openAttempts(): Promise<readonly OpenAttempt[]>;
  /** Writes in doubt: each was sent, and may take effect yet. Those that wait in their rows are not among them. */
  writesInDoubt(): Promise<readonly WriteInFlight[]>;
}

export interface ApprovalStore {
  /** Approvals that can still be answered, the longest asked first. */
  openApprovals(limit: number, now: number): Promise<readonly OpenApproval[]>;
  /** The approval of an intent, answered or not; undefined if none was requested. */
  approvalOf(intent: IntentId): Promise<Approval | undefined>;
  /** Returns false and changes nothing if the intent cannot be answered, or if an approval is about other rows than the present ones. */
  decideApproval(intent: IntentId, word: Word, now: number): Promise<boolean>;
}
