/** The Guardian's hand at work: what every order needs, and how what waited for a word goes on. */
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
  /** What has come of it, in one sentence. */
  readonly message: string;
}

/** What waited for the Guardian goes on at once. */
export function wakeAll({ running, parts }: GuardianContext, order?: EndingOrder): void {
  for (const member of running()) wake(parts, member, order);
}

/** The order ends the waits of lanes that it is about, and everything is looked at again. */
function wake(parts: Dependencies | undefined, member: Member, order: EndingOrder | undefined): void {
  if (parts === undefined) return;
  member.ordersSeen++;
  if (order !== undefined) endWaits(member, ({ rule }) => endedByOrder(rule, order));
  for (const part of ["events", "intents", "doubts", "sources", "watches"] as const) parts.wake(member, part);
}
