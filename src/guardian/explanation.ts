/** The answer to `retinue why`: the rules that hold something back, and everything known of an action. */
import type { Lane } from "../contract/operations.ts";
import type { JsonObject } from "../core/json.ts";
import type { ReasonRule } from "../limits/wait-rules.ts";
import type { Money } from "../core/units.ts";

export interface Reason {
  readonly rule: ReasonRule;
  readonly message: string;
  /** The lane of the request, if the rule concerns one. */
  readonly lane?: Lane;
  /** The full window: `hour`, `day`, a spending window, or `park` after a 429. */
  readonly window?: string;
  readonly since?: number;
  /** Absent if no time ends it, but a person or another intent's outcome. */
  readonly until?: number;
  /** The actions that wait for it: "7 jobs.create, 2 posts.reply". */
  readonly held?: string;
  /** For a failed handling: the number of failures, the place in the definition, and the stack. */
  readonly tries?: number;
  readonly file?: string;
  readonly line?: number;
  readonly stack?: string;
}

export interface Explanation {
  readonly id: string;
  readonly about: "intent" | "event" | "specialist" | "operation" | "object" | "watch";
  /** Empty for an operation and an object, which concern everyone. */
  readonly handle: string;
  /** The operation of an intent, the kind of an event or of a watch. */
  readonly what: string;
  readonly target?: string;
  readonly state: string;
  readonly since: number;
  /** The process of a fleet that has the specialist, and since when. */
  readonly process?: { readonly name: string; readonly since: number };
  /** Most important first; empty if nothing blocks it. */
  readonly reasons: readonly Reason[];
  /** The whole payload of an action. */
  readonly input?: JsonObject;
  /** The network's id of the object that a confirmed action created. */
  readonly created?: string;
  /** The event that led to an action, while it is stored. */
  readonly event?: EventShown;
  /** The approval of an action, if it needs one. */
  readonly approval?: ApprovalShown;
  readonly hint?: string;
  /** Everything about an object; the same event at other specialists. */
  readonly found?: readonly Explanation[];
}

/** The approval that an action needs, and the facts it is bound to. */
export interface ApprovalShown {
  /** 64 hex digits, of the payload, the cost and the end of the time to answer. An approval names it. */
  readonly hash: string;
  /** Highest cost; absent if it is free. */
  readonly cost?: Money;
  /** The time of asking. */
  readonly since: number;
  /** The end of the time to answer: the approval's, or the action's own if that is earlier. */
  readonly expiresAt: number;
  /** Present if it can no longer be answered: the reason, and the time. */
  readonly over?: Over;
}

export interface Over {
  readonly how: "approved" | "rejected" | "expired" | "cancelled";
  /** For example "it was rejected: too long". */
  readonly message: string;
  readonly at: number;
}

/** The event that led to an action, with texts of others. */
export interface EventShown {
  readonly id: string;
  readonly kind: string;
  readonly at: number;
  /** The handle of its author, else the id. */
  readonly author?: string;
  /** The network's id of the post, job or account. */
  readonly object?: string;
  readonly title?: string;
  readonly text?: string;
}
