/** The context of the Guardian's orders, and the release of work that waited for them. */
import type { Clock } from "../core/clock.ts";
import { endedByOrder, type EndingOrder } from "../limits/wait-rules.ts";
import type { Store } from "../store/store.ts";
import { endWaits, type Member } from "../gateway/member.ts";
import type { Dependencies } from "../runtime/dependencies.ts";

export interface GuardianContext {
  readonly store: Store;
  readonly clock: Clock;
  readonly parts: Dependencies | undefined;
  readonly running: () => readonly Member[];
  readonly memberOf: (handle: string) => Promise<Member | undefined>;
}

export interface OrderResult {
  /** The result, in one sentence. */
  readonly message: string;
}

/** Wakes all work that waited for the Guardian. */
export function wakeAll({ running, parts }: GuardianContext, order?: EndingOrder): void {
  for (const member of running()) wake(parts, member, order);
}

/** Ends the lane waits that the order concerns, and wakes all kinds of work. */
function wake(parts: Dependencies | undefined, member: Member, order: EndingOrder | undefined): void {
  if (parts === undefined) return;
  member.ordersSeen++;
  if (order !== undefined) endWaits(member, ({ rule }) => endedByOrder(rule, order));
  for (const part of ["events", "intents", "doubts", "sources", "watches"] as const) parts.wake(member, part);
}
