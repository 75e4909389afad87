/** Every rule that makes an action wait, in one table: its scope, its end, and its remedy. */
import type { AnyCode, ErrorCode } from "../core/error-codes.ts";
import type { Severity } from "../contract/reading/pinned-fields.ts";
import { GUARDIAN, ownerOf, type Scope } from "./spending.ts";

/** A waiting action (or specialist), as named in a remedy. */
export interface Held {
  /** Undefined for a stop of everyone. */
  readonly handle: string | undefined;
  readonly id: string;
  /** The operation or specialist for `retinue retry`. */
  readonly name: string;
}

/** The Guardian's orders that end a wait at once. */
export type EndingOrder = "lift" | "resume" | "approve" | "retry" | "retry-key" | "unfreeze";

type Remedy = (held: Held) => string;

type WaitFacts = {
  /** `lane`: nothing else of the lane could leave either. `intent`: the lane continues with other actions. */
  readonly blocks: "intent" | "lane";
  /** The list in which a wait may be one for everyone: then its remedy names no handle. */
  readonly shared?: "halts" | "pauses" | "accounts";
  /** The order that ends it, in addition to `endedBy`. */
  readonly order?: EndingOrder;
  /** Absent if only waiting helps. */
  readonly remedy?: Remedy;
} & (
  | {
      /** `time`: ends at the wait's `until`. `event`: ends by another outcome; `until` is the time of the next try. */
      readonly endedBy: "time" | "event";
    }
  | {
      /** Ended by a person alone, who needs the remedy; `until` is the time of the next try. */
      readonly endedBy: "person";
      readonly remedy: Remedy;
    }
);

const whose = ({ handle }: Held): string => (handle === undefined ? "" : ` ${handle}`);

export const WAIT_RULES = {
  halted: { blocks: "lane", endedBy: "person", order: "lift", shared: "halts", remedy: (held) => `retinue halt${whose(held)} --lift` },
  paused: { blocks: "lane", endedBy: "person", order: "resume", shared: "pauses", remedy: (held) => `retinue resume${whose(held)}` },
  approval_wanted: {
    blocks: "intent",
    endedBy: "person",
    order: "approve",
    remedy: ({ id }) => `retinue approve ${id}, or retinue reject ${id}`,
  },
  /** Another action on the same target is sent or in doubt. */
  conflict: { blocks: "intent", endedBy: "event" },
  /** Its target is created by an action that has not happened yet. */
  depends_on: { blocks: "intent", endedBy: "event" },
  /** An earlier action of the same handling goes first. */
  order: { blocks: "intent", endedBy: "event" },
  key_unusable: {
    blocks: "lane",
    endedBy: "person",
    order: "retry-key",
    remedy: () => "put a working key into the environment or its file: it is read again automatically",
  },
  /** Processes of a fleet would count its key's quota twice. */
  key_shared: { blocks: "lane", endedBy: "person", remedy: () => "give it a key of its own: it is read again automatically" },
  /** The profile puts the account's own id into the request. */
  account_unknown: {
    blocks: "intent",
    endedBy: "event",
    remedy: () => "wait until the network shows the account, or state its id in the definition",
  },
  /** The network issued no token for the key. */
  token_unavailable: { blocks: "lane", endedBy: "event" },
  /** The network answered 429. */
  key_parked: { blocks: "lane", endedBy: "time" },
  quota_window: { blocks: "lane", endedBy: "time" },
  quota_lane: { blocks: "lane", endedBy: "time" },
  obligations_full: { blocks: "intent", endedBy: "event", remedy: () => "wait until a job is delivered or given up" },
  /** A limit that the network has beside the tiers. */
  network_limit: { blocks: "intent", endedBy: "time", remedy: () => "wait, or correct the limit in the profile" },
  spend_cap: { blocks: "intent", endedBy: "time", remedy: () => "wait, or raise the cap under spend" },
  spend_frozen: {
    blocks: "intent",
    endedBy: "person",
    order: "unfreeze",
    shared: "accounts",
    remedy: (held) => `retinue unfreeze${whose(held)} --reason '<what you found>'`,
  },
  /** The network's answers changed their shape, or cannot be read. */
  drift: {
    blocks: "intent",
    endedBy: "person",
    order: "retry",
    remedy: ({ name }) => `retinue doctor --diff shows what changed; once it is fixed: retinue retry ${name}`,
  },
  /** The network lacks the operation, or does not permit it to this specialist now. A probe checks if it does again. */
  capability: {
    blocks: "intent",
    endedBy: "time",
    order: "retry",
    remedy: ({ name }) => `once the network lets it through again: retinue retry ${name}`,
  },
  /** No process uses the store. */
  not_running: { blocks: "lane", endedBy: "person", remedy: () => "retinue run" },
  /** The running process has no definition of the specialist. */
  not_defined: {
    blocks: "lane",
    endedBy: "person",
    remedy: () => "restore its definition under that handle until its work is done, or do it by hand on the network",
  },
} as const satisfies { readonly [Rule in ErrorCode]?: WaitFacts };

export type WaitRule = keyof typeof WAIT_RULES;

const FACTS: { readonly [Rule in WaitRule]: WaitFacts } = WAIT_RULES;

type RuleWith<Facts> = { [Rule in WaitRule]: (typeof WAIT_RULES)[Rule] extends Facts ? Rule : never }[WaitRule];
/** Rules by which the gateway delays operations that the network refuses or answers unreadably. */
export type BreakerRule = RuleWith<{ readonly order: "retry" }>;
/** Rules that end once there is money. */
export type SpendRule = Extract<WaitRule, `spend_${string}`>;

/** Any reason that `retinue why` gives: a rule that makes it wait, its progress, or its end. */
export type ReasonRule = WaitRule | "next" | "sending" | "followed" | "rejected" | `drift_${Severity}` | AnyCode;

export function isWaitRule(text: string): text is WaitRule {
  return Object.hasOwn(WAIT_RULES, text);
}

export function isBreakerRule(text: string): text is BreakerRule {
  return isWaitRule(text) && endedByOrder(text, "retry");
}

/** True if an order of the Guardian ends a wait. */
export function endedByOrder(rule: WaitRule, order: EndingOrder): boolean {
  return FACTS[rule].order === order;
}

/** True for a person's stop, which is listed separately from the work that waits for it. A status may come from another version. */
export function isStop(rule: string): boolean {
  return isWaitRule(rule) && (endedByOrder(rule, "lift") || endedByOrder(rule, "resume"));
}

/** True if no other action of the lane may leave meanwhile. */
export function blocksLane(rule: WaitRule): boolean {
  return FACTS[rule].blocks === "lane";
}

/** True if the wait ends at `until`. Else that is the time of the next try. */
export function endsByTime(rule: WaitRule): boolean {
  return FACTS[rule].endedBy === "time";
}

/** The action that ends such a wait, or ends it sooner; undefined if only time does. */
export function remedyFor(rule: WaitRule, held: Held): string | undefined {
  return FACTS[rule].remedy?.(held);
}

/** The list in which a wait by this rule may be one for everyone; undefined if it never is. */
export function sharedIn(rule: WaitRule): WaitFacts["shared"] {
  return FACTS[rule].shared;
}

/** The Guardian's command that ends a halt or pause. */
export function stopEnd(list: "halts" | "pauses", handle: string | undefined): string {
  return WAIT_RULES[list === "halts" ? "halted" : "paused"].remedy({ handle, id: "", name: "" });
}

/** The Guardian's command to unfreeze an account. */
export function unfreezeCommand(scope: Scope): string {
  return WAIT_RULES.spend_frozen.remedy({ handle: scope === GUARDIAN ? undefined : ownerOf(scope), id: "", name: "" });
}
