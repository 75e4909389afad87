/** What limits need from the store, and what an admission is told: the view it decides on and its verdict. */
import type { AnyCode } from "../core/error-codes.ts";
import type { LimitHints } from "../contract/call.ts";
import type { Effect, Lane } from "../contract/operations.ts";
import type { Handle, IntentId, KeyId } from "../core/ids.ts";
import type { Micros, Money } from "../core/units.ts";
import type { Approval } from "./approvals.ts";
import type { Account, Cap, Price, Scope, SpendWindow } from "./spending.ts";
import type { WindowName } from "./window-cells.ts";
import type { QuotaState } from "./quota.ts";

/** One request that wants to leave. */
export interface AdmissionRequest {
  readonly specialist: Handle;
  readonly key: KeyId;
  readonly operation: string;
  readonly effect: Effect;
  readonly lane: Lane;
  /** Requests it makes. Default 1. */
  readonly cost?: number;
  /** Obligations it takes on: 1 for applying for a job. Default 0. */
  readonly promises?: number;
  readonly price: Price;
  /** Limits that the network has beside the tier's, and that count this operation. */
  readonly ownLimits?: readonly OwnLimit[];
  /** For writes: the intent, the hash of what is sent, and since when it has been ready. */
  readonly intent?: IntentId;
  readonly payloadHash?: string;
  readonly readyAt?: number;
}

/** A limit of the network's own: so many of these operations, together, in any span of that length. */
export interface OwnLimit {
  readonly name: string;
  readonly operations: readonly string[];
  readonly max: number;
  readonly perMs: number;
}

/** How much of a network's own limit is used, and when its oldest use leaves. */
export interface OwnLimitUse {
  readonly limit: OwnLimit;
  readonly used: number;
  readonly freesAt: number;
}

/** The scope of a stop that stops everyone. */
export const EVERYONE = "*";

/** A kill switch or pause in force. `scope` is a handle, or {@link EVERYONE}. */
export interface Stop {
  readonly scope: string;
  readonly since: number;
  readonly reason: string;
}

/** Everything a decision depends on, as rows of one moment. Only what applies is loaded. */
export interface AdmissionView {
  /** The ledger's time, see time.ts. */
  readonly now: number;
  readonly request: AdmissionRequest;
  readonly halt?: Stop | undefined;
  readonly pause?: Stop | undefined;
  /** Another attempt on the same conflict key that is sent or in doubt. */
  readonly conflict?: { readonly intent: IntentId; readonly since: number; readonly until?: number } | undefined;
  /** The writes the definition may do. Undefined only for the Guardian's own calls. */
  readonly may: readonly string[] | undefined;
  /** True where the Guardian's approval is needed; then `approval` is what is known of it. */
  readonly review: boolean;
  readonly approval?: Approval | undefined;
  readonly quota: QuotaState;
  /** One for each of the request's own limits. */
  readonly ownUses?: readonly OwnLimitUse[];
  /** Things the key's specialists owe now, all together: jobs applied for or assigned and not settled. */
  readonly obligations: number;
  /** Accounts of the chain, specialist first, in the currency of the price; needed only for priced requests. */
  readonly accounts?: readonly Account[];
  readonly caps?: readonly Cap[];
  /** What the intent already holds from an earlier attempt: held once per intent, kept across its attempts. */
  readonly held?: Money | undefined;
}

/** Rules that make a request wait. */
export type WaitRule =
  | "halted"
  | "paused"
  | "conflict"
  | "approval_wanted"
  | "key_unusable"
  | "key_parked"
  | "quota_window"
  | "quota_lane"
  | "obligations_full"
  | "network_limit"
  | "spend_cap"
  | "spend_frozen"
  /** The network's answers changed their shape, or cannot be read. */
  | "drift"
  /** The network lacks the operation, or does not let this specialist do it now. */
  | "capability";

export type Verdict =
  | {
      readonly kind: "admit";
      readonly charge: { readonly lane: Lane; readonly cost: number };
      /** Undefined where nothing is to be held, or the intent holds enough already. */
      readonly hold: { readonly scopes: readonly Scope[]; readonly money: Money } | undefined;
    }
  | {
      readonly kind: "wait";
      readonly rule: WaitRule;
      readonly message: string;
      readonly lane: Lane;
      readonly window: WindowName | SpendWindow | "park" | "action" | undefined;
      /** Since when the rule has held this request back. */
      readonly since: number;
      /** When it may be tried again; undefined where only a person or another's outcome ends the wait. */
      readonly until: number | undefined;
    }
  | { readonly kind: "refuse"; readonly code: AnyCode; readonly message: string; readonly lane: Lane; readonly since: number };

/** How an attempt ended, for quota and money. */
export interface AttemptEnd {
  readonly key: KeyId;
  /** The number of the attempt's row. */
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
