/** Waiting actions of a specialist, grouped by operation and rule: seven of a kind are one line. */
import { foreignCode } from "../core/error-codes.ts";
import { endsByTime, isWaitRule, type ReasonRule } from "../limits/wait-rules.ts";
import { defined } from "../core/defined.ts";
import type { HeldIntents } from "../store/overview.ts";
import { APPROVAL_WANTED } from "./proposals.ts";
import type { Reason } from "./explanation.ts";

export interface HeldShown {
  readonly operation: string;
  readonly rule: ReasonRule;
  readonly message: string;
  readonly count: number;
  /** End of the first one's wait; absent if no time ends it. */
  readonly until?: number;
}

interface LaneWait {
  readonly lane: string;
  readonly rule: ReasonRule;
  readonly message: string;
  readonly until: number;
}

export function showHeld(groups: readonly HeldIntents[], waits: readonly LaneWait[], now: number): readonly HeldShown[] {
  return groups.flatMap((group) => heldBy(group, waits, now));
}

function heldBy(
  { operation, lane, state, code, message, count, nextAt }: HeldIntents,
  waits: readonly LaneWait[],
  now: number,
): readonly HeldShown[] {
  if (state === "proposed") return [{ operation, count, rule: APPROVAL_WANTED, message: "the Guardian's approval" }];
  const held = (rule: ReasonRule, why: string, until: number): readonly HeldShown[] => [
    defined({ operation, count, rule, message: why, until: !isWaitRule(rule) || endsByTime(rule) ? until : undefined }),
  ];
  if (code !== undefined && nextAt > now) return held(foreignCode(code), message ?? "", nextAt);
  const wait = waits.find((one) => one.lane === lane);
  return wait === undefined ? [] : held(wait.rule, wait.message, wait.until);
}

/** Adds to each reason the actions it holds back; actions without a listed reason follow. "7 jobs.create wait: …" */
export function withHeld(reasons: readonly Reason[], held: readonly HeldShown[]): readonly Reason[] {
  const tells = (reason: Reason, { rule, message }: HeldShown): boolean => reason.rule === rule || reason.message === message;
  const told = reasons.map((reason) => {
    const mine = held.filter((group) => tells(reason, group)).map(({ count, operation }) => `${count} ${operation}`);
    return mine.length === 0 ? reason : { ...reason, held: mine.join(", ") };
  });
  const untold = held.filter((group) => !reasons.some((reason) => tells(reason, group)));
  return [...told, ...untold.map(reasonOfHeld)];
}

/** A reason is shown with its rule. */
function reasonOfHeld({ rule, message, until, ...group }: HeldShown): Reason {
  return defined({ rule, message: `${waitText(group)}: ${message}`, until });
}

export function heldText({ rule, ...group }: Pick<HeldShown, "operation" | "rule" | "count">): string {
  return `${waitText(group)} for ${rule}`;
}

function waitText({ operation, count }: Pick<HeldShown, "operation" | "count">): string {
  return `${count} ${operation} ${count === 1 ? "waits" : "wait"}`;
}
