/** Types of the admission check: the request, the view it is decided on, and the verdict. */
import type { AnyCode } from "../core/error-codes.ts";
import type { LimitHints } from "../contract/call.ts";
import type { Effect, Lane } from "../contract/operations.ts";
import type { Handle, IntentId, KeyId } from "../core/ids.ts";
import type { Micros, Money } from "../core/units.ts";
import type { Approval } from "./approvals.ts";
import type { Account, Cap, Price, Scope, SpendWindow } from "./spending.ts";
import type { WaitRule } from "./wait-rules.ts";
import type { WindowName } from "./window-counts.ts";
import type { QuotaState } from "./quota.ts";

/** One request to be admitted. */
export interface AdmissionRequest {
  readonly specialist: Handle;
  readonly key: KeyId;
  readonly operation: string;
  readonly effect: Effect;
  readonly lane: Lane;
  /** Number of requests. Default 1. */
  readonly cost?: number;
  /** Obligations that it adds: 1 for applying for a job. Default 0. */
  readonly promises?: number;
  /** Checks until what it promises is seen to be needed. Default {@link NOTICE_CALLS}. */
  readonly noticeCalls?: number;
  readonly price: Price;
  /** Limits of the network, beside those of the tier, that count this operation. */
  readonly ownLimits?: readonly OwnLimit[];
  /** For writes: the intent, the hash of its payload, and the time since which it has been ready. */
  readonly intent?: IntentId | undefined;
  readonly payloadHash?: string | undefined;
  readonly readyAt?: number | undefined;
}

/** A limit of the network's own: this many of these operations, together, in any span of that length. */
export interface OwnLimit {
  readonly name: string;
  readonly operations: readonly string[];
  /** True if requests of every key count together. */
  readonly ofAllKeys?: boolean;
  /** Lanes of these operations. Default: that of the request alone. */
  readonly lanes?: readonly Lane[];
  readonly max: number;
  readonly perMs: number;
}

/** Usage of a network's own limit, and the time at which its oldest use expires. */
export interface OwnLimitUse {
  readonly limit: OwnLimit;
  readonly used: number;
  readonly freesAt: number;
}

/** The scope of a stop for everyone. */
export const EVERYONE = "*";

/** A kill switch or pause in force. `scope` is a handle, or {@link EVERYONE}. */
export interface Stop {
  readonly scope: string;
  readonly since: number;
  readonly reason: string;
}

/** Everything a decision depends on, as rows of one moment. Only the relevant rows are loaded. */
export interface AdmissionView {
  /** The ledger's time, see ledger-clock.ts. */
  readonly now: number;
  readonly request: AdmissionRequest;
  readonly halt?: Stop | undefined;
  readonly pause?: Stop | undefined;
  /** Another intent with the same conflict key that is sent or in doubt. */
  readonly conflict?: { readonly intent: IntentId; readonly since: number; readonly until?: number } | undefined;
  /** The writes that the definition permits. Undefined only for the Guardian's own calls. */
  readonly may: readonly string[] | undefined;
  /** True if the Guardian's approval is needed; `approval` is then its row, if there is one. */
  readonly review: boolean;
  readonly approval?: Approval | undefined;
  readonly quota: QuotaState;
  /** One entry for each of the request's own limits. */
  readonly ownUses?: readonly OwnLimitUse[] | undefined;
  /** Open obligations of the key's specialists together: jobs applied for or assigned and not completed. */
  readonly obligations: number;
  /** Obligations among them that are expected to need their requests within this hour. Default 0. */
  readonly soon?: number | undefined;
  /** Accounts of the chain, specialist first, in the price's currency; needed for priced requests only. */
  readonly accounts?: readonly Account[] | undefined;
  readonly caps?: readonly Cap[] | undefined;
  /** The intent's hold from an earlier attempt: held once per intent, across its attempts. */
  readonly held?: Money | undefined;
}

export type Verdict =
  | {
      readonly kind: "admit";
      readonly charge: { readonly lane: Lane; readonly cost: number };
      /** Undefined if nothing is to be held, or the intent holds enough already. */
      readonly hold: { readonly scopes: readonly Scope[]; readonly money: Money } | undefined;
    }
  | {
      readonly kind: "wait";
      readonly rule: WaitRule;
      readonly message: string;
      readonly lane: Lane;
      readonly window: WindowName | SpendWindow | "park" | "action" | undefined;
      /** Time since which the rule has delayed this request. */
      readonly since: number;
      /** Time of the next try; undefined if only a person or another request's outcome ends the wait. */
      readonly until: number | undefined;
    }
  | { readonly kind: "refuse"; readonly code: AnyCode; readonly message: string; readonly lane: Lane; readonly since: number };

/** The end of an attempt, for quota and money. */
export interface AttemptEnd {
  readonly key: KeyId;
  /** Number of the attempt's row. */
  readonly attempt: number;
  readonly lane: Lane;
  readonly cost: number;
  readonly admittedAt: number;
  readonly deadlineAt: number;
  /** `limited` is a 429; `lost` is every incomplete answer; `never-left` is proof that no byte reached the network. */
  readonly ending: "answered" | "limited" | "lost" | "never-left";
  readonly retryAfterMs?: number | undefined;
  readonly hints?: LimitHints | undefined;
}

/** Money set aside for one intent or one model call. */
export interface HoldRequest {
  readonly id: string;
  readonly specialist: Handle;
  readonly scopes: readonly Scope[];
  readonly money: Money;
  readonly expiresAt: number;
}

export interface Hold {
  readonly id: string;
  readonly specialist: Handle;
  readonly money: Money;
  readonly state: "open" | "posted" | "released" | "expired";
  readonly posted: Micros;
  readonly expiresAt: number;
}
