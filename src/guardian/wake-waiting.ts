/** The Guardian's hand at work: what every order needs, and how what waited for a word goes on. */
import type { Clock } from "../core/clock.ts";
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
export function wakeAll({ running, parts }: GuardianContext, rules: readonly string[] = []): void {
  for (const member of running()) wake(parts, member, rules);
}

/** What holds a lane in memory for one of these rules is forgotten, and everything looked at again. */
function wake(parts: Dependencies | undefined, member: Member, rules: readonly string[]): void {
  if (parts === undefined) return;
  member.ordersSeen++;
  endWaits(member, ({ rule }) => rules.includes(rule));
  for (const part of ["events", "intents", "doubts", "sources", "watches"] as const) parts.wake(member, part);
}
