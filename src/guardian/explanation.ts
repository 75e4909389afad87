/** An answer to "why": the rules that hold something back, and all that is known of an action. */
import type { Lane } from "../contract/operations.ts";
import type { JsonObject } from "../core/json.ts";
import type { Money } from "../core/units.ts";

export interface Reason {
  readonly rule: string;
  readonly message: string;
  /** What the request is for, where the rule is about one. */
  readonly lane?: Lane;
  /** Which of several windows is full: `hour`, `day`, a spending window, or `park` after a 429. */
  readonly window?: string;
  readonly since?: number;
  /** Absent where no time ends it, but a person or what becomes of something else. */
  readonly until?: number;
}

export interface Explanation {
  readonly id: string;
  readonly about: "intent" | "event" | "specialist" | "operation";
  /** Empty for an operation, which is everyone's. */
  readonly handle: string;
  /** The operation of an intent, the kind of an event. */
  readonly what: string;
  readonly target?: string;
  readonly state: string;
  readonly since: number;
  /** Most important first; empty where nothing stands in the way. */
  readonly reasons: readonly Reason[];
  /** The payload of an action, whole. */
  readonly input?: JsonObject;
  /** The event that an action was decided on, as long as it is kept. */
  readonly event?: EventShown;
  /** The Guardian's word on an action, where it needs one. */
  readonly approval?: ApprovalShown;
  readonly hint?: string;
}

/** The word that an action needs, and what it is bound to. */
export interface ApprovalShown {
  /** 64 hex digits, of the payload, the cost and the end of the time to answer. A yes names it. */
  readonly hash: string;
  /** The most it may cost; absent where it is free. */
  readonly cost?: Money;
  /** The time of asking. */
  readonly since: number;
  /** The end of the time to answer: the approval's, or the action's own where that comes first. */
  readonly expiresAt: number;
  /** Present where it can no longer be answered: how that came, and when. */
  readonly over?: Over;
}

export interface Over {
  readonly how: "approved" | "rejected" | "expired" | "cancelled";
  /** As in "it was rejected: too long". */
  readonly message: string;
  readonly at: number;
}

/** The event that an action was decided on, with what others said in it. */
export interface EventShown {
  readonly id: string;
  readonly kind: string;
  readonly at: number;
  /** The handle of whoever wrote or offered it, else the id. */
  readonly author?: string;
  /** The network's id of the post, job or account. */
  readonly object?: string;
  readonly title?: string;
  readonly text?: string;
}
